import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Io, Program, Screen } from './io';
import { serverFetch } from './serverFetch';

/** The real terminal, clock and signals of this process. */
export function processIo(): Io {
  return {
    stdout: screen(process.stdout),
    stderr: screen(process.stderr),
    env: process.env,
    login: osUserName(),
    now: () => Date.now(),
    sleep: async (ms, signal) => {
      await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
    },
    interrupted: interruptSignal(),
    ask: promptUser,
    canAsk: Boolean(process.stdin.isTTY && process.stderr.isTTY),
    connect: async (options) => {
      const [{ createClient }, { loadRegistry }] = [await import('../client'), await import('../settings/registry')];
      const [{ guardClient }, { configChecker }] = [
        await import('../client/guard'),
        await import('../settings/configCheck'),
      ];
      const { isInRange } = await import('../sdk/versions');
      const registry = loadRegistry(undefined, process.env);
      const client = await createClient({
        ...options,
        platform: registry,
        checkConfigs: configChecker(registry),
        isInRange,
      });
      return guardClient(client, () => registry, 'command-line');
    },
    pathsOfPipelines: async ({ address, namespace }, repository) => {
      const [{ pathsKnownToTemporal }, { loadRegistry }] = [
        await import('../client/configOwners'),
        await import('../settings/registry'),
      ];
      const { seal } = loadRegistry(undefined, process.env);
      return pathsKnownToTemporal({ address, namespace, seal }, repository);
    },
    askServer: serverFetch,
    fetch,
    input,
    browse,
    become,
  };
}

/** 128 + SIGPIPE: the code that shells report for programs ended by it. */
const CLOSED_PIPE = 141;

/**
 * A reader of our output may close it early (`conveyor list | head`), which ends the process quietly. The exit code is not zero, because with
 * `--wait` the outcome of the release is still unknown.
 */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(CLOSED_PIPE);
    throw error;
  });
}

function screen(stream: NodeJS.WriteStream): Screen {
  return {
    write: (text) => void stream.write(text),
    isTTY: Boolean(stream.isTTY),
    get columns() {
      return stream.columns || 100;
    },
    get rows() {
      return stream.rows || 40;
    },
  };
}

function osUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? 'unknown';
  }
}

function interruptSignal(): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (controller) return controller.signal;
    const created = new AbortController();
    controller = created;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(name, () => (created.signal.aborted ? process.exit(130) : created.abort(name)));
    return created.signal;
  };
}

/**
 * Node has no exec, so the program is loaded into this process, which keeps the process id that callers signal and
 * watch. Closing the terminal drains it, as SIGTERM does.
 */
async function become({ path, args, env }: Program): Promise<never> {
  Object.assign(process.env, env);
  process.argv = [process.execPath, path, ...args];
  process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  await import(path);
  return new Promise(() => undefined);
}

/** Uses the opener program of the desktop; without one nothing happens. */
function browse(url: string): void {
  const isMac = process.platform === 'darwin';
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (!isMac && !DISPLAY && !WAYLAND_DISPLAY) return;
  spawn(isMac ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

/** The longest answer accepted. */
const MAX_INPUT = 65_536;

async function input(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string;
    if (text.length > MAX_INPUT) break;
  }
  return text;
}

function promptUser(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
    lines.on('close', () => resolve(''));
  });
}
