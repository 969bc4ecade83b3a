import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Shared by the benchmarks that need a real stack. */

/** The content of the file that `conveyor dev --ready-file` writes. */
export interface Ready {
  readonly temporal: string;
  readonly taskQueue: string;
  readonly simulator: string;
  readonly server: string;
  readonly pids: Readonly<Record<string, number>>;
}

/**
 * A separate development stack, as users start it, whose world runs `speed` times as fast as real time; SIGTERM ends
 * it. With CONVEYOR_BENCH_TEMPORAL it uses the existing Temporal, at the usual ports. That takes a separate variable,
 * so that no benchmark uses a Temporal in use by accident.
 */
export async function startStack(speed: number): Promise<{ stack: ChildProcess; ready: Ready }> {
  const file = join(mkdtempSync(join(tmpdir(), 'conveyor-bench-')), 'ready.json');
  const temporal = process.env['CONVEYOR_BENCH_TEMPORAL'];
  const ports = temporal === undefined ? ['--ports', 'auto'] : [];
  const args = ['dev', ...ports, '--ready-file', file, '--speed', String(speed), '--no-demo-data'];
  const stack = spawn(process.execPath, [join(__dirname, '../bin/conveyor.js'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: temporal === undefined ? process.env : { ...process.env, TEMPORAL_ADDRESS: temporal },
  });
  // A benchmark that is killed leaves no process running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  process.once('exit', () => stack.kill('SIGTERM'));
  const readyOrOver = (): boolean => existsSync(file) || stack.exitCode !== null;
  while (!readyOrOver()) await delay(200);
  return { stack, ready: JSON.parse(readFileSync(file, 'utf8')) as Ready };
}

/** Works on all items, this many at once. */
export async function each<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  const left = items.map((item, index) => ({ item, index }));
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) done[one.index] = await work(one.item);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return done;
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** 0.5 is the median. */
export const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

export const p50p99 = (ms: readonly number[]): string =>
  `${quantile(ms, 0.5).toFixed(0)} ms, ${quantile(ms, 0.99).toFixed(0)} ms`;

export const print = (rows: readonly (readonly [string, string])[]): void => {
  process.stdout.write(`${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}\n`);
};

/** Runs a benchmark as the main function of its process. */
export function run(main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
}
