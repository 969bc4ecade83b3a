import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Lander } from '../configerator/repository/land';
import { createDraftFromValues, propose } from '../configerator/repository/propose';
import { ConfigRepository } from '../configerator/repository/repository';
import { EtcdStore } from '../configerator/store/etcd';
import { tail } from '../configerator/tailer/tail';
import { Tailer } from '../configerator/tailer/tailer';
import { PATH, R, type Reached, type HostsToStart } from './config/hosts';
import { startEtcd } from './etcd';
import { print, run } from './stack';

/**
 * `npx jiti bench/config.ts [hosts] [processes] [commits]`: the time from the moment that a change begins to land until the application of the last
 * host has its value. Everything is real except the network: a git repository, the tailer, etcd, and hosts in several processes of this machine, each
 * with a proxy, its connections, its cache on disk, its HTTP door, and an application. All of them read the one path that changes.
 */
const HOSTS = Number(process.argv[2] ?? 1000);
const PROCESSES = Number(process.argv[3] ?? 8);
const COMMITS = Number(process.argv[4] ?? 30);

/** Between two changes, so that hosts have acknowledged the one before. */
const REST_MS = 5000;

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'conveyor-bench-config-'));
  const etcd = await startEtcd();
  const ending = new AbortController();
  const children: ChildProcess[] = [];
  try {
    const world = await open(home, etcd.url, ending.signal);
    const reached = new Map<string, number[]>();
    await world.lands(1);
    for (const names of shares()) children.push(startHosts({ etcd: etcd.url, home, names }, reached));
    await last(reached, 'application', 1);
    const spans: number[][] = [[], [], [], [], []];
    for (let n = 2; n <= COMMITS + 1; n += 1) {
      await delay(REST_MS);
      const { began, landed, stored } = await world.lands(n);
      const [proxy, application] = [await last(reached, 'proxy', n), await last(reached, 'application', n)];
      const found = [landed - began, stored - landed, proxy - stored, application - proxy, application - began];
      found.forEach((ms, span) => spans[span]?.push(ms));
    }
    const [commit = [], tailer = [], proxies = [], applications = [], all = []] = spans;
    print([
      ['hosts, processes, commits', `${HOSTS}, ${PROCESSES}, ${COMMITS}`],
      ['commit: until the branch has it', quantiles(commit)],
      ['tailer: until etcd has it', quantiles(tailer)],
      ['until the last proxy has it', quantiles(proxies)],
      ['until the last application has it', quantiles(applications)],
      ['all of it', quantiles(all)],
    ]);
  } finally {
    ending.abort();
    for (const child of children) child.kill('SIGKILL');
    etcd.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A repository with a landing strip and a tailer, each with its own copy, as in worker and service. */
async function open(home: string, etcd: string, signal: AbortSignal) {
  const git = join(home, 'flags.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', git]);
  const copy = (name: string) => ConfigRepository.open({ name: R, git, branch: 'main' }, join(home, name));
  const [repository, tailed, store] = [await copy('strip'), await copy('tailer'), new EtcdStore({ url: etcd })];
  let heard = (_at: number): void => undefined;
  const tailer = new Tailer(R, {
    step: async () => {
      const answer = await tail(tailed, store, 100);
      if (answer.applied > 0) heard(Date.now());
      return answer;
    },
    now: () => Date.now(),
    sleep: (ms, aborted) => delay(ms, undefined, { signal: aborted }).catch(() => undefined),
    log: (line) => process.stderr.write(`${line}\n`),
  });
  void tailer.run(signal);
  const lander = new Lander(repository);
  const lands = async (n: number) => {
    const draft = await createDraftFromValues(repository, await repository.head(), {
      [PATH]: { n, text: 'x'.repeat(1000) },
    });
    const { change } = await propose(repository, draft, { author: 'user:bench', message: `${n}`, nowMs: Date.now() });
    const stored = new Promise<number>((resolve) => (heard = resolve));
    const began = Date.now();
    await lander.land([change], began);
    const landed = Date.now();
    tailer.wake();
    return { began, landed, stored: await stored };
  };
  return { lands };
}

const shares = (): string[][] =>
  Array.from({ length: PROCESSES }, (_, process) =>
    Array.from({ length: HOSTS }, (_, at) => `h${at}`).filter((_, at) => at % PROCESSES === process),
  );

function startHosts(start: HostsToStart, reached: Map<string, number[]>): ChildProcess {
  const child = fork(join(__dirname, 'config/hosts.ts'), [], { execArgv: ['--import', 'jiti/register'] });
  child.on('message', (message) => {
    const { where, n, at } = message as Reached;
    reached.set(`${where} ${n}`, [...(reached.get(`${where} ${n}`) ?? []), at]);
  });
  child.on('exit', (code) => code && process.stderr.write(`hosts ended with ${code}\n`));
  child.send(start);
  return child;
}

/** When the last host of all processes had it. */
async function last(reached: ReadonlyMap<string, number[]>, where: Reached['where'], n: number): Promise<number> {
  for (;;) {
    const found = reached.get(`${where} ${n}`) ?? [];
    if (found.length === PROCESSES) return Math.max(...found);
    await delay(2);
  }
}

function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

run(main);
