import { join } from 'node:path';
import type { DoctorCheck } from '../../cli/doctor/check';
import { ROOT } from './process';
import { given } from './service';
import { Stack } from './stack';

/** A worker of which the clock alone is wrong. */
let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open();
  await stack.killWorker();
});
afterAll(() => stack.close());

const BAKE_MS = 4_000;

test.each([
  [120_000, '2m ahead of'],
  [-120_000, '2m behind'],
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
    const { code, stdout } = await stack.conveyor(['doctor', '-o', 'json']);
    const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
    expect(code).toBe(1);
    expect(checks.filter(({ name }) => name === 'clock of a worker')).toEqual([
      {
        ...{ name: 'clock of a worker', state: 'missing' },
        found: expect.stringMatching(new RegExp(`^that of ${worker.pid}@.* is ${words} Temporal's$`)) as string,
        how: expect.stringMatching(/by NTP/) as string,
      },
    ]);
  } finally {
    worker.kill('SIGKILL');
    await worker.ended;
  }
});
