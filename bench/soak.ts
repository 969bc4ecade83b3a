import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { addService, onStack, release, residentMb, spoil, type Bench } from './services';
import { each, run } from './stack';

/**
 * `npx jiti bench/soak.ts [pipelines] [days]`: the releases of many days, as fast as they go, through the one worker of an ordinary
 * development stack. Every pipeline releases once a day and one in twenty of them fifteen times; one version in ten is bad and reverted.
 * About six times it prints what must not grow. It fails if open workflows, the state of a pipeline whose lists are full, or the memory
 * of the worker grew in the last third, or if a history is too long at the end.
 */
const PIPELINES = Number(process.argv[2] ?? 200);
const DAYS = Number(process.argv[3] ?? 12);
const NAMES = Array.from({ length: PIPELINES }, (_, index) => `store-${index + 1}`);
const BUSY = NAMES.filter((_, index) => index % 20 === 0);
const CALM = NAMES.filter((name) => !BUSY.includes(name));
/** Those that take longest begin. */
const BUSY_FIRST = [...BUSY, ...CALM];
const RELEASES_OF_BUSY = 15;
const AT_ONCE = 40;
const EVERY_DAYS = Math.max(1, Math.round(DAYS / 6));
/** So that a release takes seconds. */
const IMPATIENT = { ...DEFAULT_SETTINGS, trackIntervalMs: 1_000, progressIntervalMs: 1_000 };
/** Of what is not exact. */
const GROWTH_ALLOWED = 0.1;
const MAX_EVENTS = 10_000;

interface Measured {
  readonly day: number;
  /** How many releases ended in which state, so far. */
  readonly ends: Readonly<Record<string, number>>;
  /** How many workflows run, and the longest of their histories. */
  readonly open: number;
  readonly events: number;
  /** Of the largest pipeline that releases once a day, and of the largest busy one; bytes. */
  readonly state: number;
  readonly busyState: number;
  readonly workerMb: number;
  readonly temporalMb: number;
}

async function main(): Promise<void> {
  await onStack(240, IMPATIENT, async (bench) => {
    await each(NAMES, AT_ONCE, (name) =>
      addService(bench, name, { first: '2s', completion: '1s', healthInterval: '1s' }),
    );
    const grown = growth(await live(bench));
    process.stdout.write(grown.length === 0 ? 'nothing grew\n' : `${grown.join('\n')}\n`);
    if (grown.length > 0) throw new Error('something grew');
  });
}

async function live(bench: Bench): Promise<Measured[]> {
  const rows: Measured[] = [];
  const ends: Record<string, number> = {};
  for (let day = EVERY_DAYS; day <= DAYS; day += EVERY_DAYS) {
    await each(BUSY_FIRST, AT_ONCE, async (name) => {
      for (let nth = 0; nth < EVERY_DAYS * (BUSY.includes(name) ? RELEASES_OF_BUSY : 1); nth += 1) {
        const end = await releaseNext(bench, name);
        ends[end] = (ends[end] ?? 0) + 1;
      }
    });
    const row = await measure(bench, day, { ...ends });
    rows.push(row);
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
  return rows;
}

/** @returns how it ended. */
async function releaseNext(bench: Bench, name: string): Promise<string> {
  const nth = (released.get(name) ?? 0) + 1;
  released.set(name, nth);
  if (nth % 10 === 0) await spoil(bench, `${name}:${nth}`);
  const number = await release(bench, name, nth);
  const { temporal } = bench;
  const handle = temporal.workflow.getHandle<() => Promise<{ readonly state: string }>>(
    workflowIds.release(name, number),
  );
  for (;;)
    try {
      return (await handle.result()).state;
    } catch (error) {
      // Its pipeline has numbered it, and starts it next.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await delay(50);
    }
}

const released = new Map<string, number>();

async function measure({ ready: { pids }, temporal }: Bench, day: number, ends: Measured['ends']): Promise<Measured> {
  const sizeOf = async (name: string): Promise<number> =>
    JSON.stringify(await temporal.workflow.getHandle(workflowIds.pipeline(name)).query('pipeline')).length;
  const lengths: number[] = [];
  for await (const open of temporal.workflow.list({ query: "ExecutionStatus='Running'" }))
    lengths.push((await temporal.workflow.getHandle(open.workflowId).describe()).historyLength);
  return {
    ...{ day, ends, open: lengths.length, events: Math.max(...lengths) },
    state: Math.max(...(await each(CALM, AT_ONCE, sizeOf))),
    busyState: Math.max(...(await each(BUSY, AT_ONCE, sizeOf))),
    workerMb: residentMb(pids['worker']),
    temporalMb: residentMb(pids['temporal']),
  };
}

/** What grew in the last third of the time. Temporal keeps what ended, for its retention. */
function growth(rows: readonly Measured[]): string[] {
  const [before, after] = [rows.at(Math.floor((rows.length * 2) / 3) - 1), rows.at(-1)];
  if (before === undefined || after === undefined) return [];
  const grew = (what: 'open' | 'busyState' | 'workerMb', allowed: number): string[] =>
    after[what] > before[what] * (1 + allowed) ? [`${what} grew from ${before[what]} to ${after[what]}`] : [];
  return [
    ...grew('open', 0),
    ...grew('busyState', GROWTH_ALLOWED),
    ...grew('workerMb', GROWTH_ALLOWED),
    ...(after.events > MAX_EVENTS ? [`a history has ${after.events} events`] : []),
  ];
}

run(main);
