import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { localOnly } from '../../sdk';
import { openGitCommitService } from './service';

/**
 * The push type for deploys by commits as a process: `main.js --settings FILE [--port 4670] [--host ADDRESS] [--home FOLDER] [--prometheus URL]`. It may
 * be killed at any time: its desired state is in its home, and the rest in Git.
 */

const LOCAL_ADDRESS = '127.0.0.1';

function startGitCommit(): void {
  const { values } = parseArgs({
    options: {
      settings: { type: 'string' },
      port: { type: 'string', default: '4670' },
      host: { type: 'string', default: LOCAL_ADDRESS },
      home: { type: 'string', default: '.conveyor/git-commit' },
      prometheus: { type: 'string' },
    },
  });
  if (values.settings === undefined)
    throw new Error('--settings FILE is missing: it names the repositories (docs/reference/git-commit.md)');
  const token = process.env['CONVEYOR_GIT_COMMIT_TOKEN'] || undefined;
  const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const service = openGitCommitService({
    ...{ settings: resolve(values.settings), home: resolve(values.home), prometheus: values.prometheus },
    ...{ token, env: process.env, log },
  });
  const isClosed = values.host === LOCAL_ADDRESS;
  if (!isClosed && token === undefined)
    throw new Error('without CONVEYOR_GIT_COMMIT_TOKEN it listens only on 127.0.0.1: every caller could deploy');
  // Without a token, a web page open on this machine could deploy too.
  const fetch = isClosed && token === undefined ? localOnly(service.app.fetch) : service.app.fetch;
  const ending = new AbortController();
  const server = serve({ fetch, port: Number(values.port), hostname: values.host }, ({ port }) => {
    const { repositories, environments } = service.settings;
    process.stdout.write(
      `git-commit ready on http://${values.host}:${port} (${Object.keys(repositories).join(', ')}; ${Object.keys(environments).length} environments)\n`,
    );
  });
  server.on('error', endWithTrouble);
  const running = service.run(ending.signal);
  const end = (): void => {
    ending.abort();
    server.close();
    void running.finally(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

function endWithTrouble(error: unknown): never {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

try {
  startGitCommit();
} catch (error) {
  endWithTrouble(error);
}
