import { deploying } from './deploys';
import { HOUR, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const prefetches = () =>
  world.simulator.simulation.state.ledger.filter(({ service, method }) => service === 'twine' && method === 'prefetch');

const PHASES = [
  { name: 'first', scope: 'region:x', amount: 3, bake: '10m' },
  { name: 'region', scope: 'region:x', amount: '100%', bake: '10m' },
];

test('while a phase bakes the fleet is asked once to fetch what the next one brings, and not for the last', async () => {
  const deploy = await deploying(world, {}, { phases: PHASES });
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(prefetches().map(({ key }) => key)).toEqual([
    'deploy/kvstore/2/deploy/1/1/prefetch',
    'deploy/kvstore/2/deploy/1/2/prefetch',
  ]);
  const { phases } = await deploy.status();
  prefetches().forEach(({ at }, index) => {
    expect(at).toBeGreaterThanOrEqual(Date.parse(phases[index]?.updatedAt ?? ''));
    expect(at).toBeLessThan(Date.parse(phases[index]?.bakedAt ?? ''));
  });
});

test('a prefetch that does not work holds nothing up and fails nothing, and is on record', async () => {
  await world.control('POST', '/control/faults', { kind: 'http', service: 'twine', method: 'prefetch', mode: 'error' });
  const deploy = await deploying(world, {}, { phases: PHASES });
  expect(await deploy.ended({ withinMs: HOUR })).toMatchObject({ outcome: 'succeeded' });
  const { timeline, spans } = await deploy.status();
  expect(spans).toMatchObject({ pausedMs: 0, dependencyWaitMs: 0 });
  expect(timeline.filter(({ kind }) => kind === 'trouble').map(({ text }) => text)).toEqual([
    expect.stringMatching(/^region was not prefetched: /),
    expect.stringMatching(/^completion was not prefetched: /),
  ]);
});
