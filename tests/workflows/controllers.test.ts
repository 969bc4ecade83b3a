import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DEPLOY = {
  config: { jobs: ['kvstore-x'] },
  phases: [{ name: 'all', scope: '*', amount: '100%', bake: '10m', updateTimeout: '30m' }],
  healthChecks: [],
};

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 5, { nSmall: '100%', budget: '100%', controller: { kind: 'leader-last' } });
});
// Also looks for violations: of the budget, and of operations without the controller's approval.
afterEach(() => world.close());

test('a deploy goes through a job whose controller decides the order', async () => {
  const deploy = await deploying(world, {}, DEPLOY);
  expect(await deploy.ended({ withinMs: 4 * HOUR })).toMatchObject({ outcome: 'succeeded' });
  expect((await world.jobs())[0]).toMatchObject({ running: 5, versions: { 'kv:2': 5 } });
});

test('a controller that is dead longer than the update timeout pauses the deploy and is named; alive again, it continues', async () => {
  const fault = { kind: 'http', service: 'leader-last', mode: 'error' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  const deploy = await deploying(world, {}, DEPLOY);
  const paused = await deploy.reaches(({ paused: why }) => why?.by === 'timeout', { stepMs: 5 * MINUTE });
  expect(JSON.stringify(paused)).toContain('no answer from the task controller');
  expect((await world.jobs())[0]).toMatchObject({ running: 5, versions: { 'kv:1': 5 } });
  await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('resume');
  expect(await deploy.ended({ withinMs: 4 * HOUR })).toMatchObject({ outcome: 'succeeded' });
  expect((await world.jobs())[0]).toMatchObject({ running: 5, versions: { 'kv:2': 5 } });
});
