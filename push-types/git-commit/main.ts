import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endProcess, OWN_ADDRESS, serveProcess } from '../serveProcess';
import { openGitCommitService } from './service';

/**
 * The push type for deploys by commits as a process: `main.js --settings FILE [--port 4670] [--host ADDRESS] [--home FOLDER] [--prometheus URL]`. It may
 * be killed at any time: its desired state is in its home, and the rest in Git.
 */

async function startGitCommit(): Promise<void> {
  const { values } = parseArgs({
    options: {
      settings: { type: 'string' },
      port: { type: 'string', default: '4670' },
      host: { type: 'string', default: OWN_ADDRESS },
      home: { type: 'string', default: '.conveyor/git-commit' },
      prometheus: { type: 'string' },
    },
  });
  const { settings, host, port, home, prometheus } = values;
  if (settings === undefined)
    throw new Error('--settings FILE is missing: it names the repositories (docs/reference/git-commit.md)');
  await serveProcess({
    ...{ name: 'git-commit', host, port, tokenVariable: 'CONVEYOR_GIT_COMMIT_TOKEN' },
    open: ({ token, log, signal }) => {
      const service = openGitCommitService({
        ...{ settings: resolve(settings), home: resolve(home), prometheus },
        ...{ token, env: process.env, log },
      });
      const { repositories, environments } = service.settings;
      const words = `${Object.keys(repositories).join(', ')}; ${Object.keys(environments).length} environments`;
      return { fetch: service.app.fetch, run: () => service.run(signal), words };
    },
  });
}

startGitCommit().catch(endProcess);
