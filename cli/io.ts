import type { ConveyorClient } from '../client/api';
import { conveyorError } from '../domain/errors';
import { PRINCIPAL } from '../domain/principals';
import type { Env } from '../sdk/env';
import { doorOf, enter } from './door';

/** Everything that a command may touch; tests give their own, so that whole commands run in-process. */
export interface Io {
  /** Data. */
  readonly stdout: Screen;
  /** Progress, prompts, errors. */
  readonly stderr: Screen;
  readonly env: Env;
  /** The login of whoever types; an actor when `CONVEYOR_ACTOR` is not set. */
  readonly login: string;
  now(): number;
  /** Resolves after `ms`, or at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Aborted by the first Ctrl-C (or SIGTERM, SIGHUP) after this call; a second one ends the process. */
  interrupted(): AbortSignal;
  /** Asks one line of a person. Only called when `canAsk`. */
  ask(question: string): Promise<string>;
  readonly canAsk: boolean;
  /** To Temporal itself. */
  connect(options: ConnectOptions): Promise<ConveyorClient>;
  readonly fetch: typeof fetch;
  /** All of the standard input. */
  input(): Promise<string>;
  /** Shows somebody a page, where there is a browser; they can open it themselves. */
  browse(url: string): void;
  /** Goes on as another program, in this very process, which ends when and as that does; never resolves. */
  become(program: Program): Promise<never>;
}

/** A compiled program and how it is called. */
export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Env;
}

export interface Screen {
  /** Commands write plain lines and our own colours; the rest is written out on its way to the terminal (`guarded`). */
  write(text: string): void;
  /** As it is: for `liveRegion`, whose pictures hold nothing else, and which moves the cursor. */
  draw?(picture: string): void;
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
}

export interface ConnectOptions {
  /** The server to go through. */
  readonly server?: string;
  /** Why a command goes past the server. */
  readonly breakGlass?: string;
  /** A token may travel in the open. */
  readonly insecure?: boolean;
  /** To a stack of one's own, whatever server there is. */
  readonly direct?: boolean;
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  readonly webUi?: string;
}

/** Who commands: `CONVEYOR_ACTOR`, else `user:<login>` (DESIGN §9). A server knows better, so that nothing is wrong with either there. */
export function actorOf(io: Pick<Io, 'env' | 'login'>, connect: ConnectOptions = {}): string {
  const given = io.env.CONVEYOR_ACTOR;
  const login = `user:${io.login.replace(/[^A-Za-z0-9._@-]/g, '-') || 'unknown'}`;
  if (given === undefined || given === '') return login;
  if (PRINCIPAL.test(given)) return given;
  if (doorOf(io.env, connect).kind === 'server') return login;
  throw conveyorError('usage', {
    text: `CONVEYOR_ACTOR is ${given}, which is not a principal`,
    hint: 'set it to something like user:alice or service:ci',
  });
}

/** The reason that goes on record; asked for on a terminal. */
export async function reasonOf(io: Io, verb: string, given: string | undefined): Promise<string> {
  if (given?.trim()) return given.trim();
  if (given === undefined && io.canAsk) {
    const answer = (await io.ask(`Why do you ${verb}? It goes on record: `)).trim();
    if (answer !== '') return answer;
  }
  throw conveyorError('missing-reason', { verb });
}

/** Runs with a client, through the door that is meant (door.ts), and closes it whatever happens. */
export async function withClient<T>(
  io: Io,
  options: ConnectOptions,
  run: (client: ConveyorClient) => Promise<T>,
): Promise<T> {
  const client = await enter(io, options);
  try {
    return await run(client);
  } finally {
    await client.close().catch(() => undefined);
  }
}
