import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { CLOCK_SKEW_METRIC } from '../../domain/metrics';
import { startFront, type Front } from './front';
import { Night, READY } from './night';
import { ROOT } from './process';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/** A worker on which only the clock is wrong. */
let [stack, front] = [] as unknown as [Stack, Front];
let night: Night;
beforeAll(async () => {
  const [port] = await freePorts(1);
  stack = await Stack.open({ env: { CONVEYOR_METRICS: `127.0.0.1:${port}` } });
  front = await startFront(stack);
  night = new Night(stack, () => front);
  await stack.killWorker();
});
afterAll(() => stack.close());

const BAKE_MS = 4_000;

test.each([
  [120_000, '(2m|1m 5\\ds) ahead of'],
  [-120_000, '(2m|1m 5\\ds) behind'],
])('a worker that is %d ms off bakes for as long as it should, and doctor names it', async (offMs, words) => {
  const shifted = {
    NODE_OPTIONS: `--require ${join(ROOT, 'tests/system/shiftedClock.cjs')}`,
    CLOCK_OFF_MS: `${offMs}`,
  };
  const worker = stack.processes.node('dist/workers/main.js', [], { ...stack.env, ...shifted });
  try {
    await worker.said(/^conveyor worker ready/m);
    const shop = await given(stack, {
      deploy: { phases: [{ name: 'first', scope: '*', amount: 1, bake: `${BAKE_MS}ms` }], completion: { bake: '0s' } },
    });
    await shop.ships(2);
    expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
    const { timeline } = await shop.deploy(1);
    const at = (kind: string): number => Date.parse(timeline.find((entry) => entry.kind === kind)?.at ?? '');
    expect(timeline.map(({ kind }) => kind)).not.toContain('bake-extended');
    expect(at('bake-passed') - at('updates-done')).toBeGreaterThanOrEqual(BAKE_MS);
    // Other files share this server, and their finders may be broken, too.
    const names = async (look: () => ReturnType<Night['doctor']>) => {
      const { code, broken } = await look();
      return code === 1 && broken['clock of a worker'] !== undefined && { code, broken };
    };
    const ways = [() => night.doctor(), () => night.throughServer()];
    const reports = ways.map((look) => eventually('doctor names the clock', () => names(look)));
    for (const { broken } of await Promise.all(reports)) {
      expect(broken['clock of a worker']).toMatchObject({
        found: expect.stringMatching(new RegExp(`^that of ${worker.pid}@.* is ${words} Temporal's$`)) as string,
        how: expect.stringMatching(/by NTP/) as string,
      });
    }
    expect(await night.readyz()).toEqual(READY);
    expect(await night.status(`${shop.name}/1`)).toMatchObject({
      ...{ code: 0, error: '', shown: expect.stringContaining('succeeded') as string },
    });
    const skew = await night.metric(CLOCK_SKEW_METRIC.name, night.workerMetrics());
    expect(Math.round(skew / 10) * 10).toBe(Math.abs(offMs) / 1000);
  } finally {
    worker.kill('SIGKILL');
    await worker.ended;
  }
});
