import { serve, type ServerType } from '@hono/node-server';
import { parseArgs } from 'node:util';
import { ConveyorError, conveyorError } from '../domain/errors';

type Serve = Parameters<typeof serve>[0];

/** The port of `--port`, else of an address. @throws ConveyorError `usage` */
export function portOf(args: readonly string[], url: string, usual: string): number {
  const text =
    parseArgs({ args: [...args], options: { port: { type: 'string' } } }).values.port ?? (new URL(url).port || '80');
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  const hint = `a number up to 65535; ${new URL(usual).port} is the default, and 0 takes any that is free`;
  throw conveyorError('usage', { text: `--port ${text} is no port`, hint });
}

/** @throws ConveyorError `port-in-use`, naming the process that wanted it */
export function listen(options: Pick<Serve, 'fetch' | 'serverOptions'>, port: number, process: string) {
  return new Promise<ServerType>((resolve, reject) => {
    const server = serve({ ...options, port } as Serve, () => resolve(server));
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? conveyorError('port-in-use', { port, process }) : error),
    );
  });
}

/** Says why a process cannot go on, and ends it. */
export function giveUp(error: unknown): never {
  const known =
    error instanceof ConveyorError
      ? error
      : conveyorError('internal', { detail: error instanceof Error ? error.message : String(error) });
  process.stderr.write(`error: ${known.code}: ${known.message}\nhint: ${known.hint}\n`);
  process.exit(known.exit);
}
