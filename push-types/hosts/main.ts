import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { localOnly } from '../../sdk';
import { openHostsService } from './service';

/**
 * The push type for hosts as a process: `main.js --inventory FILE [--port 4640] [--host ADDRESS] [--home FOLDER] [--prometheus URL]`. It may be killed at
 * any time: its desired state is in its home, and the rest on the hosts.
 */

const OWN_ADDRESS = '127.0.0.1';

async function startHosts(): Promise<void> {
  const { values } = parseArgs({
    options: {
      inventory: { type: 'string' },
      port: { type: 'string', default: '4640' },
      host: { type: 'string', default: OWN_ADDRESS },
      home: { type: 'string', default: '.conveyor/hosts' },
      prometheus: { type: 'string' },
    },
  });
  if (values.inventory === undefined)
    throw new Error('--inventory FILE is missing: it names the hosts (docs/reference/hosts.md)');
  const token = process.env['CONVEYOR_HOSTS_TOKEN'] || undefined;
  const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const service = await openHostsService({
    ...{ inventory: resolve(values.inventory), home: resolve(values.home), prometheus: values.prometheus },
    ...{ token, env: process.env, log },
  });
  const isClosed = values.host === OWN_ADDRESS;
  if (!isClosed && token === undefined)
    throw new Error('without CONVEYOR_HOSTS_TOKEN it listens only on 127.0.0.1: every caller could deploy');
  // Without a token, a web page open on this machine could deploy too.
  const fetch = isClosed && token === undefined ? localOnly(service.app.fetch) : service.app.fetch;
  const ending = new AbortController();
  const server = serve({ fetch, port: Number(values.port), hostname: values.host }, ({ port }) => {
    process.stdout.write(
      `hosts ready on http://${values.host}:${port} (${service.hosts} hosts in ${service.units.join(', ')})\n`,
    );
  });
  server.on('error', endWithError);
  const running = service.run(ending.signal);
  const end = (): void => {
    ending.abort();
    server.close();
    void running.finally(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

function endWithError(error: Error): never {
  process.stderr.write(`error: ${error.message}\n`);
  process.exit(1);
}

startHosts().catch(endWithError);
