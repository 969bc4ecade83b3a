import { setImmediate as turn } from 'node:timers/promises';
import type { ConveyorClient } from '../../client/api';
import type { Io } from '../../cli/io';
import { runCli } from '../../cli/run';
import type { OwnedPaths } from '../../configerator/domain/ownership';
import { NOW } from './cliSamples';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Options of each connection that was made. */
  readonly connections: readonly object[];
}

export interface World {
  readonly client?: Partial<ConveyorClient>;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTTY?: boolean;
  /** The width of the terminal; 110 by default. */
  readonly columns?: number;
  /** The input on stdin. */
  readonly input?: string;
  /** The paths that pipelines release, as Temporal knows them. */
  readonly pipelines?: readonly OwnedPaths[];
  /** Answers HTTP requests; without it there is no terminal. */
  readonly fetch?: typeof fetch;
  /** A person's answer to a prompt; without it there is no person. */
  readonly answer?: string;
  /** When Ctrl-C is pressed, in ms since the start. */
  readonly interruptAtMs?: number;
}

/** Runs one command line in-process: with a clock that sleeping advances, and a client that answers as the test sets it. */
export async function run(argv: readonly string[], world: World = {}): Promise<Ran> {
  let now = NOW;
  const written = { out: '', err: '' };
  const connections: object[] = [];
  const interrupt = new AbortController();
  const press = (): void => {
    if (world.interruptAtMs !== undefined && now - NOW >= world.interruptAtMs) interrupt.abort('SIGINT');
  };
  const screen = (key: 'out' | 'err'): Io['stdout'] => ({
    write: (text) => void (written[key] += text),
    isTTY: world.isTTY ?? false,
    columns: world.columns ?? 110,
    rows: 60,
  });
  const unreachable = () => Promise.reject(new TypeError('fetch failed'));
  const code = await runCli(argv, {
    stdout: screen('out'),
    stderr: screen('err'),
    env: { TZ: 'UTC', NO_COLOR: '1', ...world.env },
    login: 'alice',
    now: () => now,
    sleep: async (ms) => {
      await turn();
      now += ms;
      press();
    },
    interrupted: () => {
      press();
      return interrupt.signal;
    },
    ask: () => Promise.resolve(world.answer ?? ''),
    canAsk: world.answer !== undefined,
    connect: (options) => {
      connections.push(options);
      return Promise.resolve({ close: () => Promise.resolve(), ...world.client } as ConveyorClient);
    },
    pathsOfPipelines: () => Promise.resolve(world.pipelines ?? []),
    askServer: world.fetch ?? unreachable,
    fetch: world.fetch ?? unreachable,
    input: () => Promise.resolve(world.input ?? ''),
    browse: () => undefined,
    become: ({ path }) => Promise.reject(new Error(`nothing is started in tests: ${path}`)),
  });
  return { code, ...written, connections };
}
