import type { ConveyorClient } from '../client/api';
import type { ServerFetch } from '../client/http/send';
import { conveyorError } from '../domain/errors';
import type { Env } from '../platform/env';

/** Everything that a command may touch; tests give their own, so that whole commands run in-process. */
export interface Io {
  /** Data. */
  readonly stdout: Screen;
  /** Progress, prompts, errors. */
  readonly stderr: Screen;
  readonly env: Env;
  /** The login of the current user; the actor is derived from it when `CONVEYOR_ACTOR` is not set. */
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
  /** To a Conveyor server. */
  readonly askServer: ServerFetch;
  readonly fetch: typeof fetch;
  /** All of the standard input. */
  input(): Promise<string>;
  /** Opens a page in the browser, if there is one; its address is printed too. */
  browse(url: string): void;
  /** Continues as another program, in this very process, which ends when and as that does; never resolves. */
  become(program: Program): Promise<never>;
}

/** A compiled program and how it is called. */
export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Env;
}

export interface Screen {
  /** Commands write plain lines and our own colours; the rest is written out on its way to the terminal (`guardedIo`). */
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

/** The reason that is recorded; asked for on a terminal. */
export async function requireReason(io: Io, verb: string, given: string | undefined): Promise<string> {
  if (given?.trim()) return given.trim();
  if (given === undefined && io.canAsk) {
    const answer = (await io.ask(`Why do you ${verb}? It is recorded: `)).trim();
    if (answer !== '') return answer;
  }
  throw conveyorError('missing-reason', { verb });
}
