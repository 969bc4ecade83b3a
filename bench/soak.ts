import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { workflowIds } from '../domain/ids';
import { KEPT_RELEASES } from '../domain/pipeline/recordOutcome';
import { DEFAULT_SETTINGS } from '../domain/settings';
import type { Verb } from '../domain/verbs';
import { addService, onStack, OWNER, release, residentMb, spoil, type Bench } from './services';
import { each, run } from './stack';

/**
 * `npx jiti bench/soak.ts [pipelines] [minutes]`: releases of pipelines at random, forty at once, as fast as they can run, on an ordinary development
 * stack (with CONVEYOR_BENCH_TEMPORAL: on the existing Temporal). One pipeline in twenty releases fifteen times as often as the others; one version
 * in ten is bad and reverted; one release in ten gets a command: it is paused and resumed, cancelled or reverted. Six times, while no release runs,
 * it prints the sizes that must not grow. It fails if open workflows, the state of a pipeline whose lists are full, or the memory of the worker grew
 * in the last third; if a history is too long at the end; if ends and releases do not add up; or if a bad version succeeded. Processes that restart
 * by themselves may be killed during the run.
 */
const PIPELINES = Number(process.argv[2] ?? 200);
const MINUTES = Number(process.argv[3] ?? 30);
const NAMES = Array.from({ length: PIPELINES }, (_, index) => `store-${index + 1}`);
const BUSY = NAMES.filter((_, index) => index % 20 === 0);
const CALM = NAMES.filter((name) => !BUSY.includes(name));
const BUSY_SHARE = (15 * BUSY.length) / (15 * BUSY.length + CALM.length);
const ROWS = 6;
const AT_ONCE = 40;
/** Releases, by the commands that they get. */
const COMMANDS: readonly (readonly [share: number, verbs: readonly Verb[]])[] = [
  [0.04, ['pause', 'resume']],
  [0.03, ['cancel']],
  [0.03, ['revert']],
];
/** Makes a release take seconds. */
const IMPATIENT = { ...DEFAULT_SETTINGS, trackIntervalMs: 1_000, progressIntervalMs: 1_000 };
/** Tolerances of inexact numbers. */
const GROWTH_ALLOWED = 0.1;
const MAX_EVENTS = 10_000;

interface Measured {
  readonly minute: number;
  readonly releases: number;
  /** The number of releases that ended in each state, so far. */
  readonly ends: Readonly<Record<string, number>>;
  /** The number of running workflows, and the longest of their histories. */
  readonly open: number;
  readonly events: number;
  /** For the largest idle pipeline, and for the largest busy one; bytes. */
  readonly state: number;
  readonly busyState: number;
  /** The fewest releases of any busy pipeline. */
  readonly busyReleases: number;
  readonly workerMb: number;
  readonly temporalMb: number;
}

async function main(): Promise<void> {
  await onStack(240, IMPATIENT, async (bench) => {
    await each(NAMES, AT_ONCE, (name) =>
      addService(bench, name, { first: '2s', completion: '1s', healthInterval: '1s' }),
    );
    const grown = growth(await live(bench));
    process.stdout.write(grown.length === 0 ? 'nothing grew, nothing was lost\n' : `${grown.join('\n')}\n`);
    if (grown.length > 0) throw new Error('it did not hold');
  });
}

async function live(bench: Bench): Promise<Measured[]> {
  const rows: Measured[] = [];
  for (let row = 1; row <= ROWS; row += 1) {
    const until = Date.now() + (MINUTES * 60_000) / ROWS;
    await Promise.all(Array.from({ length: AT_ONCE }, () => releaseUntil(bench, until)));
    const measured = await measure(bench, Math.round((row * MINUTES) / ROWS));
    rows.push(measured);
    process.stdout.write(`${JSON.stringify(measured)}\n`);
  }
  return rows;
}

/** The number of releases of each pipeline, and how many of all ended in which state. */
const released = new Map<string, number>();
const underWay = new Set<string>();
const ends: Record<string, number> = {};

async function releaseUntil(bench: Bench, untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    const names = Math.random() < BUSY_SHARE ? BUSY : CALM;
    const name = names[Math.floor(Math.random() * names.length)] ?? '';
    if (underWay.has(name)) continue;
    underWay.add(name);
    const end = await releaseNext(bench, name);
    ends[end] = (ends[end] ?? 0) + 1;
    underWay.delete(name);
  }
}

/** @returns the state in which it ended. */
async function releaseNext(bench: Bench, name: string): Promise<string> {
  const nth = (released.get(name) ?? 0) + 1;
  released.set(name, nth);
  const isBad = nth % 10 === 0;
  if (isBad) await spoil(bench, `${name}:${nth}`);
  const number = await release(bench, name, nth);
  await interfere(bench, `${name}/${number}`);
  const state = await endOf(bench, workflowIds.release(name, number));
  return isBad && state === 'succeeded' ? 'succeeded, and is bad' : state;
}

/** Occasional commands, as a person types them. A command that comes too late is refused, which is right. */
async function interfere({ client }: Bench, id: string): Promise<void> {
  let chance = Math.random();
  const [, verbs = []] = COMMANDS.find(([share]) => (chance -= share) < 0) ?? [];
  for (const verb of verbs) {
    await delay(1_000);
    await client.command(id, verb, { actor: OWNER, reason: 'a soak' }).catch(() => undefined);
  }
}

async function endOf({ temporal }: Bench, workflowId: string): Promise<string> {
  const handle = temporal.workflow.getHandle<() => Promise<{ readonly state: string }>>(workflowId);
  // Its pipeline has numbered it, and will start it next.
  return (await answered(() => handle.result(), Infinity)).state;
}

/** Retries for a minute: a server may have been killed. @throws the last error */
async function answered<T>(ask: () => Promise<T>, patienceMs: number = 60_000): Promise<T> {
  const untilMs = Date.now() + patienceMs;
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (Date.now() >= untilMs) throw error;
      await delay(100);
    }
}

async function measure({ temporal }: Bench, minute: number): Promise<Measured> {
  await atRest(temporal);
  const sizeOf = async (name: string): Promise<number> =>
    JSON.stringify(await answered(() => temporal.workflow.getHandle(workflowIds.pipeline(name)).query('pipeline')))
      .length;
  const lengths = await answered(() => openHistories(temporal));
  const ended = "WorkflowType = 'release' AND ExecutionStatus != 'Running'";
  const closed = await answered(() => temporal.workflow.count(ended));
  return {
    ...{ minute, releases: closed.count, ends: { ...ends }, open: lengths.length, events: Math.max(...lengths) },
    state: Math.max(...(await each(CALM, AT_ONCE, sizeOf))),
    busyState: Math.max(...(await each(BUSY, AT_ONCE, sizeOf))),
    busyReleases: Math.min(...BUSY.map((name) => released.get(name) ?? 0)),
    workerMb: memoryOf('dist/workers/main.js'),
    temporalMb: memoryOf('temporal-[^ ]* (server|.*start)'),
  };
}

async function openHistories(temporal: Client): Promise<number[]> {
  const lengths: number[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query: "ExecutionStatus='Running'" }))
    lengths.push((await temporal.workflow.getHandle(workflowId).describe()).historyLength);
  return lengths;
}

/** Includes the rollbacks that were requested. */
async function atRest(temporal: Client): Promise<void> {
  const running = "WorkflowType IN ('release', 'deploy', 'lock') AND ExecutionStatus = 'Running'";
  while ((await answered(() => temporal.workflow.count(running))).count > 0) await delay(1_000);
}

/** Memory of all processes with such a command line, in MB: a process that was killed has another pid. */
function memoryOf(pattern: string): number {
  const { stdout } = spawnSync('pgrep', ['-f', pattern], { encoding: 'utf8' });
  return stdout.split('\n').reduce((sum, pid) => sum + (pid === '' ? 0 : residentMb(Number(pid))), 0);
}

/** The growth in the last third of the time. Temporal keeps ended workflows for its retention. */
function growth(rows: readonly Measured[]): string[] {
  const [before, after] = [rows.at(Math.floor((rows.length * 2) / 3) - 1), rows.at(-1)];
  if (before === undefined || after === undefined) return [];
  const grew = (what: 'open' | 'busyState' | 'workerMb', allowed: number): string[] =>
    after[what] > before[what] * (1 + allowed) ? [`${what} grew from ${before[what]} to ${after[what]}`] : [];
  return [
    ...grew('open', 0),
    // Before that, its history grows with each release.
    ...(before.busyReleases >= KEPT_RELEASES ? grew('busyState', GROWTH_ALLOWED) : []),
    ...grew('workerMb', GROWTH_ALLOWED),
    ...(after.releases < total(after.ends)
      ? [`${total(after.ends)} releases ended, of which ${after.releases} are there`]
      : []),
    ...('succeeded, and is bad' in after.ends ? ['a bad version succeeded'] : []),
    ...(after.events > MAX_EVENTS ? [`a history has ${after.events} events`] : []),
  ];
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

run(main);
