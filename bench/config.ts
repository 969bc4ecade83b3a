import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../cli/stack/ports';
import { EtcdStore } from '../config/store/etcd';
import { print } from './stack';

/**
 * `npx jiti bench/config.ts [watchers] [processes] [commits]`: from the moment that a commit is applied to a real etcd until the last of so
 * many watchers has its value, each with connections of its own, in so many processes of this machine. All of them watch the one path that
 * changes, which is the worst case. Two spans: until etcd has the commit, and from then until the last watcher has it.
 */
const WATCHERS = Number(process.argv[2] ?? 200);
const PROCESSES = Number(process.argv[3] ?? 4);
const COMMITS = Number(process.argv[4] ?? 50);

const R = 'bench';
const PATH = 'shop/limits';

interface Heard {
  readonly sequence: number;
  /** In milliseconds since 1970, when it reached the last watcher of the process. */
  readonly at: number;
}

async function main(): Promise<void> {
  const etcd = await startEtcd();
  const children: ChildProcess[] = [];
  try {
    const store = new EtcdStore({ url: etcd.url });
    await store.apply(R, commitOf(1));
    const heard = new Map<number, Heard[]>();
    for (let at = 0; at < PROCESSES; at += 1) children.push(startWatchers(etcd.url, heard));
    await all(heard, 1);
    const [applied, spread, whole]: number[][] = [[], [], []];
    for (let sequence = 2; sequence <= COMMITS + 1; sequence += 1) {
      const began = Date.now();
      await store.apply(R, commitOf(sequence));
      const stored = Date.now();
      const last = Math.max(...(await all(heard, sequence)).map(({ at }) => at));
      applied?.push(stored - began);
      spread?.push(last - stored);
      whole?.push(last - began);
      await delay(50);
    }
    print([
      ['watchers, processes, commits', `${WATCHERS}, ${PROCESSES}, ${COMMITS}`],
      ['until etcd has the commit: p50, p99', quantiles(applied ?? [])],
      ['from then until the last watcher has it: p50, p99', quantiles(spread ?? [])],
      ['both: p50, p99', quantiles(whole ?? [])],
    ]);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    etcd.stop();
  }
}

const commitOf = (sequence: number) => ({
  ...{ commit: `c${sequence}`, sequence },
  values: [
    { path: PATH, value: JSON.stringify({ perUser: sequence, text: 'x'.repeat(1000) }), version: `v${sequence}` },
  ],
});

/** Resolves once every process says that all of its watchers have a commit. */
async function all(heard: ReadonlyMap<number, Heard[]>, sequence: number): Promise<Heard[]> {
  for (;;) {
    const found = heard.get(sequence) ?? [];
    if (found.length === PROCESSES) return found;
    await delay(2);
  }
}

function startWatchers(url: string, heard: Map<number, Heard[]>): ChildProcess {
  const share = String(Math.ceil(WATCHERS / PROCESSES));
  const child = fork(__filename, ['watchers', url, share], { execArgv: ['-r', require.resolve('jiti/register')] });
  child.on('message', (message) => {
    const one = message as Heard;
    heard.set(one.sequence, [...(heard.get(one.sequence) ?? []), one]);
  });
  return child;
}

/** In a process of its own. */
function watch(url: string, count: number): void {
  const counts = new Map<number, number>();
  const { signal } = new AbortController();
  const on = ({ sequence }: { readonly sequence: number }): void => {
    const sum = (counts.get(sequence) ?? 0) + 1;
    counts.set(sequence, sum);
    if (sum === count) process.send?.({ sequence, at: Date.now() });
  };
  for (let at = 0; at < count; at += 1)
    void new EtcdStore({ url }).watch(
      R,
      [PATH],
      undefined,
      (event) => event.kind === 'value' && on(event.value),
      signal,
    );
}

async function startEtcd(): Promise<{ readonly url: string; stop(): void }> {
  const program = spawnSync('bash', [join(__dirname, '../scripts/etcd.sh')], { encoding: 'utf8' }).stdout.trim();
  const data = mkdtempSync(join(tmpdir(), 'conveyor-bench-etcd-'));
  const [port = 0, peerPort = 0] = await freePorts(2);
  const [url, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const child = spawn(
    program,
    [
      ...['--data-dir', data, '--log-level', 'error', '--logger', 'zap'],
      ...['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peer],
      ...['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ],
    { stdio: 'ignore' },
  );
  for (let left = 100; left > 0; left -= 1) {
    if (
      await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    await delay(100);
  }
  const stop = (): void => {
    child.kill('SIGKILL');
    child.once('exit', () => rmSync(data, { recursive: true, force: true }));
  };
  return { url, stop };
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `${at(0.5)} ms, ${at(0.99)} ms`;
}

const [, , role, url = '', count] = process.argv;
if (role === 'watchers') watch(url, Number(count));
else void main();
