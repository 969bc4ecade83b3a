import type { ConveyorClient } from '../client/api';
import type { ServerFetch } from '../client/http/send';
import type { OwnedPaths } from '../configerator/domain/ownership';
import { conveyorError } from '../domain/errors';
import type { Env } from '../settings/env';

/** All effects that a command may have; tests replace them, so that whole commands run in-process. */
export interface Io {
  /** Data. */
  readonly stdout: Screen;
  /** Progress, prompts, errors. */
  readonly stderr: Screen;
  readonly env: Env;
  /** The login of the current user, from which the actor is derived if `CONVEYOR_ACTOR` is not set. */
  readonly login: string;
  now(): number;
  /** Resolves after `ms`, or at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Aborted by the first Ctrl-C (or SIGTERM, SIGHUP) after this call; a second one ends the process. */
  interrupted(): AbortSignal;
  /** Asks the user for one line. Only called if `canAsk`. */
  ask(question: string): Promise<string>;
  readonly canAsk: boolean;
  /** Connects to Temporal itself. */
  connect(options: ConnectOptions): Promise<ConveyorClient>;
  /**
   * The paths of a repository of configuration that pipelines release, as Temporal knows them; none if Temporal does
   * not answer.
   */
  pathsOfPipelines(options: ConnectOptions, repository: string): Promise<readonly OwnedPaths[]>;
  /** Sends requests to a Conveyor server. */
  readonly askServer: ServerFetch;
  readonly fetch: typeof fetch;
  /** All of the standard input. */
  input(): Promise<string>;
  /** Opens a page in the browser, if there is one; its address is also printed. */
  browse(url: string): void;
  /** Continues as another program in this process, with that program's end and exit code; never resolves. */
  become(program: Program): Promise<never>;
}

/** A compiled program with its arguments. */
export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Env;
}

export interface Screen {
  /**
   * Commands write plain lines and our own colours; everything else is escaped before it reaches the terminal
   * (`guardIo`).
   */
  write(text: string): void;
  /** Writes without escaping: for `liveRegion`, which moves the cursor and whose pictures contain only safe text. */
  draw?(picture: string): void;
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
}

export interface ConnectOptions {
  /** The server through which commands go. */
  readonly server?: string;
  /** Why a command bypasses the server. */
  readonly breakGlass?: string;
  /** Allow sending a token unencrypted. */
  readonly insecure?: boolean;
  /** Connect to a local stack, even if a server is configured. */
  readonly direct?: boolean;
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  readonly webUi?: string;
}

/** The recorded reason; a terminal prompts for it. */
export async function requireReason(io: Io, verb: string, given: string | undefined): Promise<string> {
  if (given?.trim()) return given.trim();
  if (given === undefined && io.canAsk) {
    const answer = (await io.ask(`Why do you ${verb}? It is recorded: `)).trim();
    if (answer !== '') return answer;
  }
  throw conveyorError('missing-reason', { verb });
}
