import { shardController } from '../../examples/controllers/shardAware';
import { viaApp } from '../../sdk';
import { createSimulator, type Simulator } from '../../simulator/app';
import { splitIntoDomains, placeShards } from '../../simulator/controllers/placement';
import { RUNNING, UPDATING } from '../../simulator/twine/job';
import { largestConceivable } from './bound';
import { ShardBooks, type Standing, type TaskLook } from './shardBooks';

/** Seconds since the update began, and the state at that time. */
export interface Moment extends Standing {
  readonly at: number;
}

/** Tasks that were away together. */
export interface Wave {
  readonly at: number;
  readonly size: number;
  /** No batch of the tasks available while it grew is larger. */
  readonly bound: number;
}

export interface Figure14 {
  readonly moments: readonly Moment[];
  readonly waves: readonly Wave[];
  readonly violations: readonly unknown[];
}

export const SHARDS = 15_000;
const JOB = 'kv-x';
/** On twenty main switch boards: 50 on each. */
const TASKS = 1000;
const MSBS = 20;
const SLOTS = Array.from({ length: TASKS }, (_, slot) => slot);
/** Seconds. */
export const FAILURE = { from: 120, until: 415 };
/** Three minutes and twenty seconds in all, give or take a fifth. */
const TIMINGS = { fetchMs: 150_000, stopMs: 30_000, startMs: 20_000 };
const STEP_S = 5;
const LONGEST_S = 3600;

/**
 * The experiment of Twine §5.1 in the simulated world: a store of 15,000 shards with three replicas each, one in each
 * of three domains, on 1,000 tasks of one region. At T0 an update of all tasks begins; between T120 and T415 a main
 * switch board with 50 tasks is down. The region's scheduler calls the store's own controller over its protocol.
 */
export async function runFigure14(msb: string, seed = 1): Promise<Figure14> {
  const domains = splitIntoDomains(SLOTS, MSBS, 3).map((slots) => slots.map((slot) => `${JOB}/${slot}`));
  const placement = placeShards(domains, SHARDS, seed);
  let nowMs = Date.UTC(2026, 0, 5, 12);
  const fetch = viaApp(shardController(() => placement));
  const simulator = createSimulator({ seed, speed: 1, now: () => nowMs, fetch });
  await beginUpdate(simulator);
  const books = new ShardBooks(placement);
  const moments: Moment[] = [];
  for (let at = 0; at <= LONGEST_S; at += STEP_S) {
    if (at === FAILURE.from) {
      const downMs = (FAILURE.until - FAILURE.from) * 1000;
      await call(simulator, '/control/faults', { kind: 'msb', id: msb, downMs });
    }
    await simulator.advance();
    const standing = books.see(looks(simulator));
    moments.push({ at, ...standing });
    if (at > FAILURE.until && standing.oneDown === 0 && standing.pending === 0) break;
    nowMs += STEP_S * 1000;
  }
  const waves = wavesOf(moments, (tasks) => largestConceivable(placement, tasks));
  return { moments, waves, violations: simulator.simulation.state.violations };
}

async function beginUpdate(simulator: Simulator): Promise<void> {
  await call(simulator, '/control/reset', { regions: { x: { msbs: MSBS } } });
  const controller = { kind: 'external', url: 'http://shards', everyMs: 5000, deadlineMs: 60_000 };
  const free = { nSmall: '100%', budget: '60%', timings: TIMINGS, controller };
  await call(simulator, '/control/jobs', { name: JOB, region: 'x', tasks: TASKS, version: 'kv:1', ...free });
  await call(simulator, '/push-types/twine/executeUpdates', {
    updateId: 'deploy/kv/2/deploy/1/0/1',
    targets: [{ unit: JOB, version: 'kv:2', artifacts: [], amount: { all: true } }],
    ...{ wholeUnit: true, urgency: 'normal' },
    context: { pipeline: 'kv', release: 2, deployId: 'deploy/kv/2/deploy/1', actor: 'user:alice', config: {} },
  });
}

async function call({ app }: Simulator, path: string, body: object): Promise<void> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'idempotency-key': path } };
  const response = await app.request(path, init);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}

function looks({ simulation }: Simulator): TaskLook[] {
  const outdated = simulation.fleet.indices.get('kv:1') ?? 0;
  const tasks = simulation.fleet.jobs.get(JOB)?.tasks;
  return SLOTS.map((slot) => {
    const code = tasks?.state[slot];
    const state = code === RUNNING ? 'running' : code === UPDATING ? 'updating' : 'down';
    return { name: `${JOB}/${slot}`, state, isOutdated: tasks?.version[slot] === outdated } as const;
  });
}

/** A wave begins when more tasks are away than a moment before, and ends when fewer are; its size is its peak. */
function wavesOf(moments: readonly Moment[], boundOf: (tasks: readonly string[]) => number): Wave[] {
  const waves: Wave[] = [];
  let isOver = true;
  for (const [index, { at, updating, able }] of moments.entries()) {
    const before = moments[index - 1] ?? { updating: [], able };
    const last = waves.at(-1);
    if (updating.length < before.updating.length) isOver = true;
    else if (updating.length > before.updating.length && (isOver || last === undefined)) {
      waves.push({ at, size: updating.length, bound: boundOf(before.able) });
      isOver = false;
    } else if (last !== undefined && updating.length > last.size)
      waves[waves.length - 1] = { ...last, size: updating.length, bound: Math.max(last.bound, boundOf(before.able)) };
  }
  return waves;
}
