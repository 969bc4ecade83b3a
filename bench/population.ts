import { setTimeout as delay } from 'node:timers/promises';
import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema, type PipelineSource } from '../domain/spec/pipeline';
import { serveActionService } from '../sdk';
import { draw, openStream } from '../simulator/kernel/random';
import { chainOf, configWith, listenAnywhere } from './actions';
import { control, cpuMs, onStack, OWNER, residentMb, type Bench } from './services';
import { each, p50p99, print, run, seconds } from './stack';

/**
 * `npx jiti bench/population.ts [pipelines] [minutes] [held]`: the pipelines of a whole company on an ordinary
 * development stack. Each has four actions and a schedule from Conveyor's Table 1, except those whose releases must
 * wait for a person. It measures the time to apply them, their cost while nothing happens, the time of lists and of a
 * status, releases at the paper's rate for the given minutes, and a bug that all waiting releases contain.
 */
const PIPELINES = Number(process.argv[2] ?? 30_000);
const MINUTES = Number(process.argv[3] ?? 10);
const HELD = Number(process.argv[4] ?? 5_000);
const NAMES = Array.from({ length: PIPELINES }, (_, index) => `p-${index + 1}`);
const CATEGORIES = ['regular', 'large', 'ml', 'other'] as const;
const AT_ONCE = 40;
const IDLE_MS = 120_000;
const READS = 200;
/** Temporal answers 50 lists a second per namespace; beyond that callers wait. */
const BETWEEN_READS_MS = 50;
/** In the paper 30,000 pipelines have about 48,000 releases a day. */
const RELEASES_A_SECOND = 0.55;
const TARGETS = 100_000;
/** About 12,000 of 100,000 targets depend on it. */
const LIBRARY = '//lib/1952:lib';

type PrintRow = readonly [string, string];

async function main(): Promise<void> {
  const service = serveActionService('chain', {
    startRun: ({ runId }) => ({ runId }),
    getRunProgress: () => ({ state: 'succeeded' }),
    cancelRun: () => ({}),
  });
  process.env['CONVEYOR_CONFIG'] = configWith(await listenAnywhere(service));
  await onStack(1, DEFAULT_SETTINGS, async (bench) => {
    const parts = [applyAll, idleCost, reads, day, reads, ...(HELD > 0 ? [bug] : [])];
    for (const part of parts) print(await part(bench));
  });
}

const stream = openStream(1, 'population');

/** Draws schedules over all pipelines, by the shares of the categories. */
function scheduleOf(): NonNullable<PipelineSource['schedule']> {
  const dice = draw(stream);
  if (dice < 0.1) return { mode: 'calendar', calendar: '0 9 * * 1-5', timezone: 'UTC' };
  if (dice < 0.18) return { mode: 'calendar', calendar: '0 9 * * 2', timezone: 'UTC' };
  return dice < 0.2 ? { mode: 'manual' } : { mode: 'continuous' };
}

async function applyAll({ client, ready: { pids } }: Bench): Promise<PrintRow[]> {
  const from = Date.now();
  const tookMs = await each(NAMES, AT_ONCE, async (pipeline) => {
    const nth = Number(pipeline.slice(2));
    const labels = { category: CATEGORIES[nth % CATEGORIES.length] ?? 'other', team: `team-${nth % 500}` };
    const schedule = nth % 3 === 0 && nth / 3 <= HELD ? undefined : scheduleOf();
    const more = schedule === undefined ? WAITS : { schedule };
    const beganMs = Date.now();
    await client.apply(pipelineSchema.parse({ ...chainOf(pipeline, 4), labels, ...more }), OWNER);
    if (nth % 1_000 === 0) process.stderr.write(`${nth} applied, ${memory(pids)}\n`);
    return Date.now() - beganMs;
  });
  const takenMs = Date.now() - from;
  return [
    ['pipelines', String(PIPELINES)],
    ['applied in, a second', `${seconds(takenMs)}, ${((PIPELINES * 1000) / takenMs).toFixed(0)}`],
    ['apply: p50, p99', p50p99(tookMs)],
  ];
}

/** Pipelines whose releases wait for a person; those with the bug have to end. */
const WAITS: Partial<PipelineSource> = {
  artifacts: { executable: { finder: 'manual' } },
  actions: { ship: { type: 'manual-pick', inputs: ['executable'] } },
};

/** By process, over two idle minutes. */
async function idleCost({ ready: { pids } }: Bench): Promise<PrintRow[]> {
  await delay(30_000);
  const parts = ['worker', 'temporal', 'server'];
  const before = parts.map((part) => cpuMs(pids[part]));
  await delay(IDLE_MS);
  const shares = parts.map((part, nth) => {
    const share = (cpuMs(pids[part]) - (before[nth] ?? 0)) / IDLE_MS;
    return `${part} ${share.toFixed(3)}`;
  });
  return [
    ['memory when idle', memory(pids)],
    ['share of a core when idle', shares.join(', ')],
  ];
}

/** Through the client that every program uses, as `conveyor list` and `conveyor status` do. */
async function reads({ client }: Bench): Promise<PrintRow[]> {
  const some = (n: number) => NAMES[(n * 7919) % NAMES.length] ?? '';
  const kinds: Readonly<Record<string, (n: number) => Promise<unknown>>> = {
    'list pipelines': () => client.listPipelines({ limit: 50 }),
    'list pipelines --state held': () => client.listPipelines({ limit: 50, state: 'held' }),
    'list pipelines -p': (n) => client.listPipelines({ limit: 50, pipeline: some(n) }),
    'list releases': () => client.listReleases({ limit: 50 }),
    'list releases --state failed': () => client.listReleases({ limit: 50, state: 'failed' }),
    'list releases -p': (n) => client.listReleases({ limit: 50, pipeline: some(n) }),
    'list deploys --state baking': () => client.listDeploys({ limit: 50, state: 'baking' }),
    'status of a pipeline': (n) => client.status(some(n)),
  };
  const rows: PrintRow[] = [];
  for (const [name, read] of Object.entries(kinds)) {
    const times = Array.from({ length: READS }, (_, n) => n);
    const tookMs = await each(times, 1, async (n) => {
      await delay(BETWEEN_READS_MS);
      const from = performance.now();
      await read(n);
      return performance.now() - from;
    });
    rows.push([`${name}: p50, p99`, p50p99(tookMs)]);
  }
  return rows;
}

/** Releases arrive one by one, at the average rate of a day. */
async function day({ client, temporal, ready: { pids } }: Bench): Promise<PrintRow[]> {
  const count = Math.round(MINUTES * 60 * RELEASES_A_SECOND);
  const chains = NAMES.filter((_, index) => (index + 1) % 3 !== 0);
  const [taken, started, ended]: [number[], number[], number[]] = [[], [], []];
  const [from, workerCpu, temporalCpu] = [Date.now(), cpuMs(pids['worker']), cpuMs(pids['temporal'])];
  const one = async (name: string): Promise<void> => {
    const askedMs = Date.now();
    const { number } = await client.release(name, [], { kind: 'manual', actor: OWNER, key: null });
    taken.push(Date.now() - askedMs);
    const handle = temporal.workflow.getHandle(workflowIds.release(name, number));
    for (;;) {
      const info = await handle.describe().catch(() => undefined);
      if (info?.closeTime) {
        started.push(info.startTime.getTime() - askedMs);
        return void ended.push(info.closeTime.getTime() - askedMs);
      }
      await delay(500);
    }
  };
  const under: Promise<void>[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await delay(Math.max(0, from + (nth * 1000) / RELEASES_A_SECOND - Date.now()));
    under.push(one(chains[(nth * 7919) % chains.length] ?? ''));
  }
  await Promise.all(under);
  const wallMs = Date.now() - from;
  const share = (ms: number): string => (ms / wallMs).toFixed(3);
  return [
    [`releases at ${RELEASES_A_SECOND} a second`, String(count)],
    ['asked until taken: p50, p99', p50p99(taken)],
    ['asked until started: p50, p99', p50p99(started)],
    ['asked until ended, after four actions: p50, p99', p50p99(ended)],
    [
      'share of a core meanwhile',
      `worker ${share(cpuMs(pids['worker']) - workerCpu)}, temporal ${share(cpuMs(pids['temporal']) - temporalCpu)}`,
    ],
    ['memory after them', memory(pids)],
  ];
}

/** A bug in a library of a drawn monorepo: releases that contain it end, and no others do. */
async function bug({ client, temporal, ready }: Bench): Promise<PrintRow[]> {
  await control(ready, '/control/monorepo', { targets: TARGETS });
  const held = NAMES.filter((_, index) => (index + 1) % 3 === 0).slice(0, HELD);
  const builtFrom = (n: number) => ({
    ...{ repository: 'mono', revision: '12', target: `//app/${n % 40_000}:main` },
  });
  const began = Date.now();
  await each(held, AT_ONCE, (name) => {
    const nth = Number(name.slice(2));
    const executable = { name: 'executable', kind: 'executable', version: `${name}:1`, metadata: {} };
    const artifact = { ...executable, builtFrom: builtFrom(nth) };
    return client.release(name, [artifact], { kind: 'manual', actor: OWNER, key: null });
  });
  // Each has run its first workflow task, so it waits for the person.
  await each(held, AT_ONCE, (name) =>
    until(async () => {
      const info = await temporal.workflow
        .getHandle(workflowIds.release(name, 1))
        .describe()
        .catch(() => undefined);
      return info !== undefined && info.historyLength > 4;
    }),
  );
  process.stderr.write(`${held.length} releases wait, after ${seconds(Date.now() - began)}\n`);
  const reportedMs = Date.now();
  const { id } = await client.reportBug({ target: LIBRARY, from: '3', to: null, reason: 'a benchmark' }, OWNER);
  const takenMs = Date.now() - reportedMs;
  const searched = await until(async () => {
    const known = (await client.listBugs()).find((one) => one.id === id);
    return known?.search ?? undefined;
  });
  const foundMs = Date.now() - reportedMs;
  await until(async () => (await count('cancelled')) >= searched.affected);
  const endedMs = Date.now() - reportedMs;
  await delay(10_000);
  return [
    ['releases that waited, that contain the bug', `${held.length}, ${searched.affected}`],
    ['report until it was taken', `${takenMs} ms`],
    ['… until all releases with it had been sent a notice', seconds(foundMs)],
    ['… until all of them had ended', seconds(endedMs)],
    ['ended, still running', `${await count('cancelled')}, ${await count('running')}`],
  ];

  async function count(state: string): Promise<number> {
    const open = state === 'running' ? `ExecutionStatus = 'Running'` : `ExecutionStatus != 'Running'`;
    const query = `WorkflowType = 'release' AND ConveyorState = '${state}' AND ${open}`;
    return (await temporal.workflow.count(query)).count;
  }
}

async function until<T>(found: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const it = await found();
    if (it !== undefined && it !== false) return it;
    await delay(500);
  }
}

const memory = (pids: Readonly<Record<string, number>>): string =>
  ['worker', 'temporal', 'server'].map((part) => `${part} ${residentMb(pids[part])} MB`).join(', ');

run(main);
