import { actionOf, CALM, deployAction, endsOf, flow, slowAction, untilAction, type Actions } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const name of ['kvstore-x', 'kvstore-y']) await world.job(name, 'x', 6);
  await world.job('staging-x', 'x', 2, { service: 'staging' });
});
afterEach(() => world.close());

type Deploy = ReturnType<typeof deployAction>;
const to = (job: string, more: object = {}): Deploy => {
  const action = deployAction('5m', more);
  return { ...action, with: { ...action.with, config: { jobs: [job] } } } as Deploy;
};
const DAY = { action: 'staging', for: '24h' };
const actions = (soak: object = DAY): Actions => ({
  staging: to('staging-x'),
  deploy: { ...deployAction('5m', { needs: ['staging'] }), soak } as Deploy,
});
const SETTINGS = { ...CALM, waitIntervalMs: 10 * MINUTE };
const deployOf = async (number: number) => actionOf(await world.releaseStatus('kvstore', number), 'deploy');
const soaking = (number: number) => untilAction(world, number, 'deploy', ({ until }) => until !== null);

test('a deploy waits until its version has run elsewhere for its time, and says since when and until when', async () => {
  await world.apply(flow(actions()), SETTINGS);
  await world.release('kvstore', 'kv:2');
  await soaking(1);
  const since = actionOf(await world.releaseStatus('kvstore', 1), 'staging')?.endedAt ?? '';
  const waits = await deployOf(1);
  expect(waits?.blockedBy).toMatch(/^soaking: staging runs executable@kv:2 since .*, of 1d$/);
  const startsMs = Date.parse(waits?.until ?? '');
  expect(startsMs - Date.parse(since)).toBeGreaterThanOrEqual(24 * HOUR);
  await world.ended('kvstore', 1, { withinMs: 48 * HOUR, stepMs: HOUR });
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  const begun = Date.parse((await world.deployStatus('kvstore', 1)).startedAt);
  expect(begun).toBeGreaterThanOrEqual(startsMs);
  expect(begun - startsMs).toBeLessThan(5 * MINUTE);
});

test('a newer version that takes its place before its time supersedes it; one that is reverted there starts it anew', async () => {
  await world.apply(flow(actions()), SETTINGS);
  await world.release('kvstore', 'kv:2');
  await soaking(1);
  const before = (await deployOf(1))?.until ?? '';
  await world.describeVersion('kv:3', { errorRatio: 0.5 });
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  await world.sleep(20 * MINUTE);
  await soaking(1);
  const after = (await deployOf(1))?.until ?? '';
  expect(Date.parse(after)).toBeGreaterThan(Date.parse(before));
  await world.release('kvstore', 'kv:4');
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['cancelled (superseded)']);
  expect(await world.releaseStatus('kvstore', 1)).toMatchObject({ causedBy: 3 });
  await soaking(3);
  expect((await deployOf(3))?.blockedBy).toContain('kv:4');
});

test('skip-window goes past a soak, on record; an emergency and a rollback know none', async () => {
  await world.apply(flow(actions()), SETTINGS);
  await world.release('kvstore', 'kv:2');
  await soaking(1);
  await world.command('release/kvstore/1', 'skip-window', { action: 'deploy', reason: 'customers wait' });
  await world.ended('kvstore', 1, { withinMs: 2 * HOUR });
  await world.push('kvstore', 'kv:3');
  await world.ended('kvstore', 2, { withinMs: 2 * HOUR });
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 3, { withinMs: 2 * HOUR });
  expect(await endsOf(world, [1, 2, 3])).toEqual(['succeeded', 'succeeded', 'succeeded']);
  const { commands } = await world.releaseStatus('kvstore', 1);
  expect(commands).toEqual([
    expect.objectContaining({ verb: 'skip-window', reason: 'customers wait', accepted: true }),
  ]);
});

test('cancel ends a soak at once, and a deploy whose place was skipped does not wait for ever', async () => {
  const skipped = { ...to('staging-x'), when: [{ artifact: 'executable', field: 'version', in: ['none'] }] } as Deploy;
  await world.apply(
    flow({ ...actions(), staging: skipped, deploy: { ...actions()['deploy'], runIf: 'always' } as Deploy }),
    SETTINGS,
  );
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  expect((await deployOf(1))?.message).toBe('nothing soaks: staging is skipped');
  await world.apply(flow(actions()), SETTINGS);
  await world.release('kvstore', 'kv:3');
  await soaking(2);
  await world.command('release/kvstore/2', 'cancel');
  await world.ended('kvstore', 2, { withinMs: 10 * MINUTE });
  expect(await endsOf(world, [2])).toEqual(['cancelled (operator)']);
});

test('a canary soaks too, and across pipelines the other one is asked', async () => {
  const soak = { pipeline: 'staging', artifact: 'executable', for: '6h' };
  const canary = {
    type: 'canary',
    inputs: ['executable'],
    soak,
    with: { pushType: 'twine', config: { jobs: ['kvstore-x'] }, amount: 1, bake: '5m' },
  };
  await world.apply(flow({ canary: canary as Actions[string], test: slowAction(5, { needs: ['canary'] }) }), SETTINGS);
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'canary', ({ blockedBy }) => blockedBy === 'soaking: there is no pipeline staging yet');
  await world.apply({ ...kvstore({}, { pipeline: 'staging' }), actions: { deploy: to('staging-x') } }, SETTINGS);
  await world.release('staging', 'kv:2');
  await world.ended('staging', 1);
  await untilAction(world, 1, 'canary', ({ until }) => until !== null);
  await world.ended('kvstore', 1, { withinMs: 12 * HOUR, stepMs: 10 * MINUTE });
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});
