import { allEnded, Arrivals, commit, seedsFrom, stateOf } from './arrivals';
import { deployAction, deploySpan, flow, overlaps, type Span } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

type Supersede = 'waiting' | 'never' | 'running';
const RELEASES = 10;
const POLL = 2 * MINUTE;

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 4);
  await world.job('kvstore-y', 'y', 4);
});
afterEach(() => world.close());

const pipeline = (supersede: Supersede) =>
  flow(
    {
      build: { type: 'custom', inputs: ['source'], outputs: ['executable'], with: { service: 'slow' } },
      'load-test': { type: 'custom', inputs: ['executable'], mutex: ['prod'], with: { service: 'slow' } },
      deploy: deployAction('30m', { needs: ['load-test'], mutex: ['prod'] }, '10m'),
    },
    {
      artifacts: { source: { finder: 'manual' } },
      mutex: { prod: {} },
      releases: { supersede, maxActive: 4 },
    },
  );

/** Commits arrive three times as fast as they can be deployed. */
async function arrive(arrivals: Arrivals): Promise<void> {
  for (let n = 2; n < RELEASES + 2; n += 1) {
    const takes = { build: arrivals.between(2, 60) * MINUTE, 'load-test': arrivals.between(2, 30) * MINUTE };
    const fails = arrivals.chance(0.2) ? [arrivals.chance(0.5) ? 'build' : 'load-test'] : [];
    await world.submit('kvstore', [commit(n, takes, fails)]);
    await world.sleep(arrivals.waitMs(15 * MINUTE));
  }
}

describe.each(seedsFrom(11, 12))('seed %d', (seed) => {
  test.each<Supersede>(['waiting', 'never', 'running'])(
    'supersede: %s. One release holds the group and one deploys, in order, none is forgotten, and the newest gets through',
    async (supersede) => {
      await world.apply(pipeline(supersede), { progressIntervalMs: POLL, trackIntervalMs: MINUTE });
      await arrive(new Arrivals(seed));
      const rows = await allEnded(world, 100 * HOUR);

      expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: RELEASES }, (_, n) => n + 1));
      const deploys = rows.filter((row) => row.deploys.length > 0);
      const spans = await Promise.all(deploys.map(({ number }) => deploySpan(world, number)));
      const tests: Span[] = world.slow.runs
        .filter(({ action }) => action === 'load-test')
        .map((run) => ({ ...run, release: `kvstore/${run.release}` }));
      expect(overlaps([...spans, ...tests])).toEqual([]);
      const begun = [...spans].sort((a, b) => a.fromMs - b.fromMs);
      expect(begun.map(({ release }) => release)).toEqual(spans.map(({ release }) => release));

      const failing = new Set(world.slow.runs.filter(({ fails }) => fails).map(({ release }) => release));
      const good = rows.filter(({ number }) => !failing.has(number));
      expect(rows.filter(({ state }) => state === 'failed').map(({ number }) => number)).toEqual(
        [...failing].sort((a, b) => a - b),
      );
      if (supersede === 'never') expect(good.map(({ state }) => state)).toEqual(good.map(() => 'succeeded'));
      else {
        expect(good.at(-1)?.state).toBe('succeeded');
        for (const { state, cause } of good)
          expect([state, cause]).toEqual(state === 'succeeded' ? ['succeeded', null] : ['cancelled', 'superseded']);
        for (const span of spans) expect(newerThatWaited(span, tests, spans)).toEqual([]);
      }
      const { ready, deploys: exclusion, mutexes } = await stateOf(world);
      expect([ready, exclusion.holder, mutexes['prod']?.holder]).toEqual([[], null, null]);
    },
  );
});

/** Newer releases that were ready well before a deploy began, and had not begun their own. */
function newerThatWaited(deploy: Span, tests: readonly Span[], deploys: readonly Span[]): string[] {
  const numberOf = ({ release }: Span): number => Number(release.split('/')[1]);
  const begunBefore = deploys.filter(({ fromMs }) => fromMs < deploy.fromMs).map(({ release }) => release);
  return tests
    .filter((test) => numberOf(test) > numberOf(deploy) && test.toMs < deploy.fromMs - 2 * POLL)
    .filter((test) => !world.slow.runs.some((run) => run.fails && run.release === numberOf(test)))
    .map(({ release }) => release)
    .filter((release) => !begunBefore.includes(release));
}
