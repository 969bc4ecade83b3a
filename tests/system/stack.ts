import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { parse, stringify } from 'yaml';
import { createClient, type ConveyorClient } from '../../client';
import { loadRegistry } from '../../settings/registry';
import type { LedgerEntry } from '../../simulator/ledger';
import { cleanEnv, Processes, ROOT, type Ended, type Env, type Running } from './process';

export const OWNER = 'user:alice';

export interface StackOptions {
  /** Default: the server that all system tests share. */
  readonly temporal?: string;
  /** `settings` of the stack's conveyor.config.yaml, in addition to the tests' own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Sections of the stack's conveyor.config.yaml, in place of those of the checkout. */
  readonly config?: object;
  /** Replaces the addresses of extensions in the configuration, by name. */
  readonly urls?: Readonly<Record<string, string>>;
  /** Variables of its processes, in addition to those with which they find each other. */
  readonly env?: Env;
}

/** The world runs 240 times as fast: a point of metrics every quarter of a second, a task restarts in 42 ms. */
export const SPEED = 240;
const SETTINGS = {
  heartbeatTimeout: '2s',
  trackInterval: '200ms',
  progressInterval: '200ms',
  dependencyGrace: '10s',
  revertRetry: '2s',
};

/**
 * Conveyor as users run it, on a real Temporal server: simulator and worker as separate processes, and the command line
 * as a process for every command; the client only sets up the initial state. One stack per test file, with its own task
 * queue.
 */
export class Stack {
  private worker: Running | undefined;

  private constructor(
    readonly taskQueue: string,
    readonly temporalAddress: string,
    readonly home: string,
    readonly temporal: Client,
    readonly client: ConveyorClient,
    readonly simulatorUrl: string,
    readonly processes: Processes,
    readonly simulator: Running,
    private readonly ownEnv: Env,
  ) {}

  static async open({ temporal, env = {}, ...configured }: StackOptions = {}): Promise<Stack> {
    const address = temporal ?? process.env['CONVEYOR_TEST_TEMPORAL'] ?? '';
    const home = mkdtempSync(join(tmpdir(), 'conveyor-system-'));
    // Scripts of a root worker run as the user `nobody`.
    chmodSync(home, 0o755);
    mkdirSync(join(home, SHARED));
    chmodSync(join(home, SHARED), 0o777);
    writeConfig(home, configured);
    const connection = await Connection.connect({ address });
    const processes = new Processes();
    const simulator = processes.node(
      'dist/simulator/main.js',
      ['--port', '0', '--speed', String(SPEED)],
      cleanEnv(home),
    );
    const [url] = await simulator.said(/http:\S+/);
    const taskQueue = `system-${randomUUID()}`;
    const platform = loadRegistry(configIn(home), env);
    const client = await createClient({ address, taskQueue, platform });
    const stack = new Stack(
      taskQueue,
      address,
      home,
      new Client({ connection }),
      client,
      url,
      processes,
      simulator,
      env,
    );
    await stack.startWorker();
    return stack;
  }

  /** Stops everything that was started, and fails if the world broke an invariant of ARCHITECTURE.md#invariants. */
  async close(): Promise<void> {
    const violations = this.control<unknown[]>('GET', '/control/violations');
    await Promise.allSettled([violations]);
    await this.processes.reap();
    await this.client.close();
    await this.temporal.connection.close();
    rmSync(this.home, { recursive: true, force: true });
    if ((await violations).length > 0) throw new Error(`violations: ${JSON.stringify(await violations)}`);
  }

  get env(): Env {
    return {
      ...cleanEnv(this.home),
      TEMPORAL_ADDRESS: this.temporalAddress,
      CONVEYOR_TASK_QUEUE: this.taskQueue,
      CONVEYOR_SIMULATOR_URL: this.simulatorUrl,
      CONVEYOR_CONFIG: configIn(this.home),
      CONVEYOR_ACTOR: OWNER,
      CONVEYOR_LOG_LEVEL: 'warn',
      ...this.ownEnv,
    };
  }

  async startWorker(): Promise<void> {
    this.worker = this.processes.node('dist/workers/main.js', [], this.env);
    await this.worker.said(/^conveyor worker ready/m);
  }

  /** kill −9, which leaves no time to report or save anything; then another worker takes over. */
  async crashWorker(): Promise<void> {
    await this.killWorker();
    await this.startWorker();
  }

  /** kill −9; no other worker takes over. */
  async killWorker(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) throw new Error('no worker runs');
    worker.kill('SIGKILL');
    await worker.ended;
    this.worker = undefined;
  }

  /** Freezes it with SIGSTOP, or lets it continue with SIGCONT; returns its process id. */
  signalWorker(signal: 'SIGSTOP' | 'SIGCONT'): number {
    const { worker } = this;
    if (worker === undefined) throw new Error('no worker runs');
    worker.kill(signal);
    return worker.pid;
  }

  /** Runs one command of the command line to its end. */
  conveyor(args: readonly string[], env: Env = {}): Promise<Ended> {
    return this.start(args, env).ended;
  }

  /** As `conveyor`, but returns the running process. */
  start(args: readonly string[], env: Env = {}): Running {
    return this.processes.node('bin/conveyor.js', args, { ...this.env, ...env });
  }

  /** A command that must succeed; returns its output with `-o json`. */
  async json<T>(args: readonly string[], env: Env = {}): Promise<T> {
    const { code, stdout, stderr } = await this.conveyor([...args, '-o', 'json'], env);
    if (code !== 0) throw new Error(`conveyor ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Temporal's own command line, which people use next to ours. */
  async temporalCli(args: readonly string[]): Promise<string> {
    const all = [...args, '--address', this.temporalAddress, '--disable-config-file', '--disable-config-env'];
    const cli = process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '';
    const { code, stdout, stderr } = await this.processes.start(cli, all, cleanEnv(this.home)).ended;
    if (code !== 0) throw new Error(`temporal ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  async control<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${this.simulatorUrl}${path}`, { method, ...(body === undefined ? {} : json) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  ledger(): Promise<LedgerEntry[]> {
    return this.control('GET', '/control/ledger');
  }

  file(name: string, content: unknown): string {
    const path = join(this.home, name);
    writeFileSync(path, typeof content === 'string' ? content : stringify(content));
    return path;
  }
}

/** Files that scripts write there stay. */
export const SHARED = 'shared';

const configIn = (home: string): string => join(home, 'conveyor.config.yaml');

/** The platform's settings of this checkout, with shorter intervals. */
function writeConfig(home: string, { settings, config, urls = {} }: StackOptions): void {
  const usual = parse(readFileSync(join(ROOT, 'conveyor.config.yaml'), 'utf8')) as {
    extensions: { name: string }[];
    scripts: object;
  };
  const extensions = usual.extensions.map((it) => (urls[it.name] === undefined ? it : { ...it, url: urls[it.name] }));
  const scripts = { ...usual.scripts, writable: [SHARED] };
  const changed = { ...usual, extensions, scripts, settings: { ...SETTINGS, ...settings }, ...config };
  writeFileSync(configIn(home), stringify(changed));
}
