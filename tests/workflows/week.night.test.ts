import type { HistoryRow } from '../../domain/views';
import { allEnded, Arrivals, commit, seedsFrom, stateOf } from './arrivals';
import { deployAction, flow } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

const WEEK = 7 * 24 * HOUR;

const PIPELINE = flow(
  {
    build: { type: 'custom', inputs: ['source'], outputs: ['executable'], with: { service: 'slow' } },
    test: { type: 'custom', inputs: ['executable'], with: { service: 'slow' } },
    deploy: deployAction('8h', { needs: ['test'] }, '30m'),
  },
  { artifacts: { source: { finder: 'manual' } }, releases: { onRevert: 'continue', maxActive: 20 } },
);

/**
 * A week of a service that gets a commit every three hours and whose deploys take eight: some commits do not build,
 * some fail their tests, a few are unhealthy in production, and occasionally an owner changes their mind.
 */
async function week(world: VirtualWorld, seed: number): Promise<readonly HistoryRow[]> {
  const arrivals = new Arrivals(seed);
  // A long heartbeat timeout lets half an hour pass in one sleep.
  const patience = { heartbeatTimeoutMs: 3 * HOUR, progressIntervalMs: 30 * MINUTE, trackIntervalMs: 10 * MINUTE };
  await world.apply(PIPELINE, patience);
  const until = (await world.now()) + WEEK;
  for (let n = 2; (await world.now()) < until; n += 1) {
    const takes = { build: arrivals.between(10, 40) * MINUTE, test: arrivals.between(10, 90) * MINUTE };
    const fails = [...(arrivals.chance(0.08) ? ['build'] : []), ...(arrivals.chance(0.08) ? ['test'] : [])];
    if (arrivals.chance(0.15)) await world.describeVersion(`kv:${n}`, { errorRatio: 0.2 });
    const { number } = await world.submit('kvstore', [commit(n, takes, fails)]);
    const regretted = arrivals.chance(0.03);
    await world.sleep(arrivals.waitMs(3 * HOUR));
    await tend(world);
    if (regretted) await world.command(`release/kvstore/${number}`, 'cancel').catch(() => undefined);
  }
  return allEnded(world, 48 * HOUR, () => tend(world));
}

/** An owner resumes a deploy that found the fleet still unhealthy from the version that was just reverted. */
async function tend(world: VirtualWorld): Promise<void> {
  const number = Number((await stateOf(world)).deploys.holder?.owner ?? 0);
  const status = number === 0 ? null : await world.deployStatus('kvstore', number).catch(() => null);
  if (status?.paused && status.endedAt === null) await world.command(`deploy/kvstore/${number}/deploy/1`, 'resume');
}

type Counts = ReadonlyMap<string, number>;

/** Counts releases by outcome, such as `cancelled (superseded)`. */
function counted(rows: readonly HistoryRow[]): Counts {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(endOf(row), (counts.get(endOf(row)) ?? 0) + 1);
  return counts;
}

function endOf({ state, cause, deploys }: HistoryRow): string {
  if (state === 'failed')
    return deploys.some(({ outcome }) => outcome === 'reverted') ? 'failed (reverted)' : 'failed (tests)';
  return cause === null ? state : `${state} (${cause})`;
}

const countOf = (counts: Counts, state: string): number =>
  [...counts].reduce((sum, [end, count]) => (end.startsWith(state) ? sum + count : sum), 0);

/** As in Conveyor Table 2: the share of releases by end state, and of each by cause. */
function table(counts: Counts): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const row = (end: string, count: number): string =>
    `${end.padEnd(28)}${String(count).padStart(5)}${((100 * count) / total).toFixed(1).padStart(8)}%`;
  const states = ['succeeded', 'failed', 'cancelled'].flatMap((state) => [
    row(state, countOf(counts, state)),
    ...[...counts]
      .filter(([end]) => end.startsWith(`${state} (`))
      .map(([end, count]) => row(`  ${end.slice(state.length + 1)}`, count)),
  ]);
  return [...states, row('releases', total)].join('\n');
}

test.each(seedsFrom(20))(
  'seed %d: in a week in which commits arrive faster than they can be deployed, most releases end superseded',
  async (seed) => {
    const world = await VirtualWorld.open();
    await world.job('kvstore-x', 'x', 4);
    await world.job('kvstore-y', 'y', 4);
    const rows = await week(world, seed);
    await world.close();

    const counts = counted(rows);
    process.stdout.write(`one week, seed ${seed}\n${table(counts)}\n`);
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
    expect(countOf(counts, 'cancelled')).toBeGreaterThan(
      Math.max(countOf(counts, 'succeeded'), countOf(counts, 'failed')),
    );
    expect(counts.get('cancelled (superseded)') ?? 0).toBeGreaterThan(countOf(counts, 'cancelled') / 2);
    expect(countOf(counts, 'succeeded')).toBeGreaterThan(0);
    expect(countOf(counts, 'failed')).toBeGreaterThan(0);
  },
  120_000,
);
