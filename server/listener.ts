import { serve, type ServerType } from '@hono/node-server';
import { parseArgs } from 'node:util';
import { ConveyorError, conveyorError } from '../domain/errors';
import { isLoopback, LOOPBACK_ADDRESS } from '../domain/loopback';

type Serve = Parameters<typeof serve>[0];

/** The address at which a process listens. */
export interface Place {
  readonly port: number;
  /** An address of this machine; 0.0.0.0 or :: for all of them. */
  readonly host: string;
}

/** How long requests in progress at SIGTERM may take. */
export const DRAIN_TIMEOUT_MS = 10_000;

/**
 * The port of `--port`, else of the usual address; the host of `--host`, else of CONVEYOR_HOST, else only this machine.
 * @throws ConveyorError `usage`
 */
export function readPlace(args: readonly string[], env: NodeJS.ProcessEnv, url: string, usual: string): Place {
  const options = { port: { type: 'string' }, host: { type: 'string' }, 'dev-login': { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const text = values.port ?? (new URL(url).port || '80');
  const port = Number(text);
  // Other machines can connect only with an explicit host.
  const host = values.host ?? (env['CONVEYOR_HOST'] || LOOPBACK_ADDRESS);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return { port, host };
  const hint = `a number up to 65535; ${new URL(usual).port} is the default, and 0 takes any free one`;
  throw conveyorError('usage', { text: `--port ${text} is not a port`, hint });
}

/** Whether only this machine can connect. */
export const isClosed = ({ host }: Place): boolean => isLoopback(host);

/** Whether callers may name themselves without proof, which only a closed server allows. @throws ConveyorError `usage` */
export function isDevLogin(args: readonly string[], place: Place): boolean {
  if (!args.includes('--dev-login')) return false;
  if (isClosed(place)) return true;
  throw conveyorError('usage', {
    text: `--dev-login trusts every caller, and ${place.host} is open to other machines`,
    hint: 'leave out --host and CONVEYOR_HOST, or configure signIn: docs/guides/secure.md',
  });
}

/** @throws ConveyorError `port-in-use`, naming the process that wanted it */
export function listen(options: Pick<Serve, 'fetch' | 'serverOptions'>, { port, host }: Place, process: string) {
  return new Promise<ServerType>((resolve, reject) => {
    const server = serve({ ...options, port, hostname: host } as Serve, () => resolve(server));
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? conveyorError('port-in-use', { port, process }) : error),
    );
  });
}

/** Prints why a process cannot continue, and ends it. */
export function exitWithError(error: unknown): never {
  const known =
    error instanceof ConveyorError
      ? error
      : conveyorError('internal', { detail: error instanceof Error ? error.message : String(error) });
  process.stderr.write(`error: ${known.code}: ${known.message}\nhint: ${known.hint}\n`);
  process.exit(known.exit);
}
