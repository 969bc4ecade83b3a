import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, openSync, closeSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A process of the service: the identifier of its task, as `web-a/0@3` for the third start in slot 0, and its version. */
export interface Copy {
  readonly task: string;
  readonly version: string;
}

export interface CopiesOptions {
  /** Where running copies are recorded: in `run/` and `log/` below it. */
  readonly home: string;
  /** The compiled service. */
  readonly program: string;
  /** Holds `<version>.env` of every version. */
  readonly versions: string;
}

const VERSION = /^[\w:+-][\w.:+-]*$/;
const START_MS = 10_000;
const DRAIN_MS = 5_000;
const ANSWER_MS = 2_000;
const LOOK_EVERY_MS = 20;

/**
 * Starts, stops and finds the processes of the service on this machine. They do not end with their parent: all
 * information about them is in files which they write themselves, so a successor finds them after a crash.
 */
export class Copies {
  private readonly started = new Map<string, ChildProcess>();

  constructor(private readonly options: CopiesOptions) {
    for (const folder of ['run', 'log']) mkdirSync(join(options.home, folder), { recursive: true });
  }

  /** A version is enough to start a copy: a revert brings nothing else. */
  hasVersion(version: string): boolean {
    return VERSION.test(version) && existsSync(this.settingsOf(version));
  }

  /** The tasks with a file here, running or not. */
  known(): string[] {
    const files = readdirSync(join(this.options.home, 'run')).filter((file) => file.endsWith('.json'));
    return files.map((file) => file.slice(0, -'.json'.length).replace('.', '/'));
  }

  /** `127.0.0.1:41234`; undefined before it listens. */
  address(task: string): string | undefined {
    const port = this.read(task)?.port;
    return port === undefined ? undefined : `127.0.0.1:${port}`;
  }

  /** Whether it answers as this task. */
  async isLive(task: string): Promise<boolean> {
    const address = this.address(task);
    if (address === undefined) return false;
    try {
      const response = await fetch(`http://${address}/livez`, { signal: AbortSignal.timeout(ANSWER_MS) });
      return response.ok && (await response.text()) === task;
    } catch {
      return false;
    }
  }

  /** Starts a copy, unless it runs already, and waits until it is live. Returns the fault, or undefined. */
  async bringUp({ task, version }: Copy): Promise<string | undefined> {
    if (!this.runs(task)) this.start({ task, version });
    const deadline = Date.now() + START_MS;
    while (Date.now() < deadline) {
      if (await this.isLive(task)) return undefined;
      if (!this.runs(task)) return `${task} ended on ${version}: ${this.lastWords(task)}`;
      await delay(LOOK_EVERY_MS);
    }
    return `${task} was not live on ${version} after ${START_MS / 1000} s`;
  }

  /** Asks it to finish its work and end; kills it if that takes too long. */
  async stop(task: string): Promise<void> {
    const deadline = Date.now() + DRAIN_MS;
    this.signal(task, 'SIGTERM');
    while (this.runs(task)) {
      if (Date.now() > deadline) this.signal(task, 'SIGKILL');
      await delay(LOOK_EVERY_MS);
    }
    this.started.delete(task);
    for (const file of [this.runFile(task), this.logFile(task)]) rmSync(file, { force: true });
  }

  /** Ends all of them for good. */
  async stopAll(): Promise<void> {
    await Promise.all(this.known().map((task) => this.stop(task)));
  }

  private start({ task, version }: Copy): void {
    const { home, program, versions } = this.options;
    const env = { PATH: process.env['PATH'], VERSION: version, RUN_FILE: this.runFile(task) };
    const log = openSync(this.logFile(task), 'a');
    // A separate process group: Ctrl-C in the terminal of the push type must not reach the service.
    const child = spawn(process.execPath, [`--env-file=${join(versions, version)}.env`, program, task], {
      ...{ cwd: home, env, detached: true, stdio: ['ignore', log, log] },
    });
    closeSync(log);
    child.on('error', () => undefined); // it does not run, which the liveness check detects
    child.unref();
    this.started.set(task, child);
  }

  private runs(task: string): boolean {
    return this.pids(task).length > 0;
  }

  private signal(task: string, signal: NodeJS.Signals): void {
    for (const pid of this.pids(task)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has already ended.
      }
    }
  }

  /** The running processes of a task; the pid of one that ended long ago may now belong to another process. */
  private pids(task: string): number[] {
    const pids = new Set([this.read(task)?.pid, this.started.get(task)?.pid]);
    return [...pids].filter((pid) => pid !== undefined).filter((pid) => wordsOf(pid).includes(task));
  }

  private read(task: string): { readonly pid: number; readonly port?: number } | undefined {
    try {
      return JSON.parse(readFileSync(this.runFile(task), 'utf8')) as { pid: number; port?: number };
    } catch {
      return undefined;
    }
  }

  private lastWords(task: string): string {
    if (!existsSync(this.logFile(task))) return 'without a word';
    const lines = readFileSync(this.logFile(task), 'utf8').split('\n');
    return lines.find((line) => line.includes('Error: ')) ?? lines.findLast((line) => line !== '') ?? 'without a word';
  }

  private readonly settingsOf = (version: string): string => join(this.options.versions, `${version}.env`);
  private readonly runFile = (task: string): string => join(this.options.home, 'run', `${task.replace('/', '.')}.json`);
  private readonly logFile = (task: string): string => join(this.options.home, 'log', `${task.replace('/', '.')}.log`);
}

/** The command line of a process; empty if there is no such pid, or only a zombie. */
function wordsOf(pid: number): string[] {
  if (!existsSync('/proc/self/cmdline'))
    return spawnSync('ps', ['-o', 'args=', '-p', String(pid)])
      .stdout.toString()
      .split(/\s+/);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
