import type { PlatformPolicy } from '../../domain/access/platform';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { CALM, untilAction } from './flows';
import { kvstore } from './pipelines';
import { executable, MINUTE, VirtualWorld } from './world';

/** Workers check the same rights for every deploy, however it began: the table is tests/domain/access/cells.test.ts. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => (await world.jobs()).map((job) => job.versions);
const BEFORE = [{ 'kv:1': 6 }, { 'kv:1': 6 }];

type Protection = PlatformPolicy['protection'][number];

/** Pipelines of alice may deploy these units, and sam must approve deploys to the protected ones. */
function rule(units: string[], protectedUnits: string[] = []): void {
  const wanted: Protection = {
    ...{ pipelines: [], services: [{ pushType: 'twine', units: protectedUnits }], emergency: null, signed: null },
    ...{ approvals: { count: 1, by: ['user:sam', 'user:sue'] }, requires: { checks: [], soak: 0, windows: false } },
  };
  world.rules.facts = {
    policy: {
      ...{ admins: ['user:root'], scripts: [], bugs: [] },
      uses: [{ kind: 'action-service', names: ['*'], by: ['user:sam'] }],
      pipelines: [{ names: ['kvstore'], creators: [], parents: ['train'] }],
      services: [{ pushType: 'twine', units, owners: kvstore().owners }],
      protection: protectedUnits.length > 0 ? [wanted] : [],
    },
    groups: {},
  };
}

/** Ways to begin release 1 of kvstore. */
const BEGINS: Readonly<Record<string, () => Promise<unknown>>> = {
  'a webhook': () => world.submit('kvstore', [executable('kv:2')], null, 'webhook'),
  'a finder': () => world.submit('kvstore', [executable('kv:2')]),
  'a parent': async () => {
    const train: PipelineSource = {
      ...{ pipeline: 'train', owners: ['user:sam'], artifacts: { executable: { finder: 'manual' } } },
      actions: { it: { type: 'integr-test', inputs: ['executable'] } },
      children: { pipelines: ['kvstore'], artifacts: ['executable'] },
    };
    await world.apply(train, CALM, 'user:sam');
    await world.release('train', 'kv:2', 'user:sam');
  },
};

const apply = () => world.apply(kvstore({}, { labels: { parent: 'train' }, emergency: { approvals: 1 } }), CALM);

test.each(Object.keys(BEGINS))('a release that %s began reaches no unit without the right to it', async (by) => {
  await apply();
  rule(['kvstore-x']);
  await BEGINS[by]?.();
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
  expect(JSON.stringify((await world.deployStatus('kvstore', 1)).timeline)).toMatch(
    /may not deploy to twine\/kvstore-y: no rule of platform\.services is about them/,
  );
  expect(await versions()).toEqual(BEFORE);
});

test.each(Object.keys(BEGINS))('a release that %s began waits for approval of a protected unit', async (by) => {
  await apply();
  rule(['*'], ['kvstore-y']);
  await BEGINS[by]?.();
  await untilAction(world, 1, 'deploy', ({ approval }) => Boolean(approval), { stepMs: MINUTE });
  const { actions, trigger } = await world.releaseStatus('kvstore', 1);
  const asked = trigger.startedBy ?? trigger.actor;
  expect(actions[0]?.blockedBy).toContain(`for platform.protection.0, not by ${asked}`);
  expect(await versions()).toEqual(BEFORE);
  await world.pick('kvstore', 1, {
    action: 'deploy',
    actor: 'user:sue',
    reason: 'r',
    permitted: 'platform.protection.0',
  });
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
});

/** A release that left out kvstore-y, and the region that is away. */
async function leaveOut(): Promise<{ readonly id: string }> {
  const fault = await world.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: 'y' });
  await world.apply(kvstore({ onUnitUnavailable: 'skip' }), { ...CALM, waitIntervalMs: 10 * MINUTE });
  rule(['*']);
  await world.release('kvstore', 'kv:2');
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy?.includes('is available again') === true);
  return fault;
}

const comeBack = ({ id }: { readonly id: string }) => world.control('DELETE', `/control/faults/${id}`);

test('a follow-on reaches no unit whose right its pipeline has lost', async () => {
  const fault = await leaveOut();
  rule(['kvstore-x']);
  await comeBack(fault);
  expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'failed', trigger: { kind: 'follow-on' } });
  expect(await versions()).toEqual([{ 'kv:2': 6 }, { 'kv:1': 6 }]);
});

test('a follow-on waits for no approval, since it belongs to a release that was let go', async () => {
  const fault = await leaveOut();
  rule(['*'], ['kvstore-y']);
  await comeBack(fault);
  expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'succeeded', trigger: { kind: 'follow-on' } });
  expect(await versions()).toEqual([{ 'kv:2': 6 }, { 'kv:2': 6 }]);
});
