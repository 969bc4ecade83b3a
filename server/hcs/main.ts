import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { loadRegistry } from '../../sdk/registry';
import { createHealthService } from './app';

/** The Health Check Service as a process: `--port 4600`. One line when it is ready. */

const DEFAULT_URL = 'http://localhost:4600';
const DRAIN_MS = 10_000;

async function main(): Promise<void> {
  const port = portOf(process.argv.slice(2), process.env.CONVEYOR_HCS_URL || DEFAULT_URL);
  const registry = loadRegistry(undefined, process.env);
  const sources = registry.extensions.filter(({ kind }) => kind === 'data-source');
  const token = process.env.CONVEYOR_HCS_TOKEN;
  const app = createHealthService({ sources, now: () => performance.now(), ...(token ? { token } : {}) });
  const server = await listen(app.fetch, port);
  const names = sources.map(({ name }) => name).join(', ') || 'none';
  const at = `http://localhost:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`Health Check Service ready at ${at} (data sources: ${names})\n`);
  const end = (): void => {
    server.close(() => process.exit(0));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    setTimeout(() => process.exit(0), DRAIN_MS).unref();
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

function portOf(args: readonly string[], url: string): number {
  const text =
    parseArgs({ args: [...args], options: { port: { type: 'string' } } }).values.port ?? (new URL(url).port || '80');
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  throw conveyorError('usage', {
    text: `--port ${text} is no port`,
    hint: 'a number up to 65535; 4600 is the default, and 0 takes any that is free',
  });
}

function listen(fetch: Parameters<typeof serve>[0]['fetch'], port: number): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, port }, () => resolve(server));
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? conveyorError('port-in-use', { port, process: 'the Health Check Service' })
          : error,
      ),
    );
  });
}

main().catch((error: unknown) => {
  const known =
    error instanceof ConveyorError
      ? error
      : conveyorError('internal', { detail: error instanceof Error ? error.message : String(error) });
  process.stderr.write(`error: ${known.code}: ${known.message}\nhint: ${known.hint}\n`);
  process.exit(known.exit);
});
