import { serve } from '@hono/node-server';
import { localOnly } from '../sdk';

/** The address by which only this machine reaches a push type. */
export const OWN_ADDRESS = '127.0.0.1';

/** A push type that is ready to answer. */
export interface ServedPushType {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Works until the signal is aborted. */
  readonly run: () => Promise<void>;
  /** Its fleet, for the line that says that it is ready. */
  readonly words: string;
}

export interface ServedProcess {
  readonly name: string;
  readonly host: string;
  readonly port: string;
  /** The variable with the token that callers have to send. */
  readonly tokenVariable: string;
  readonly open: (means: {
    readonly token: string | undefined;
    readonly log: (line: string) => void;
    readonly signal: AbortSignal;
  }) => ServedPushType | Promise<ServedPushType>;
}

/** Serves a push type until SIGTERM or SIGINT. @throws Error if other machines could deploy without a token */
export async function serveProcess({ name, host, port, tokenVariable, open }: ServedProcess): Promise<void> {
  const token = process.env[tokenVariable] || undefined;
  const isClosed = host === OWN_ADDRESS;
  if (!isClosed && token === undefined)
    throw new Error(`without ${tokenVariable} it listens only on ${OWN_ADDRESS}: every caller could deploy`);
  const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const ending = new AbortController();
  const { fetch, run, words } = await open({ token, log, signal: ending.signal });
  // Without a token, a web page open on this machine could deploy too.
  const guarded = isClosed && token === undefined ? localOnly(fetch) : fetch;
  const server = serve({ fetch: guarded, port: Number(port), hostname: host }, ({ port: at }) => {
    process.stdout.write(`${name} ready on http://${host}:${at} (${words})\n`);
  });
  server.on('error', endProcess);
  const running = run();
  const end = (): void => {
    ending.abort();
    server.close();
    void running.finally(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

/** Ends the process with its mistake. */
export function endProcess(error: unknown): never {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
