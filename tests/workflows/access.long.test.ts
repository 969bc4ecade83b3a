import type { PlatformPolicy } from '../../domain/access/platform';
import { workflowIds } from '../../domain/ids';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ChildrenView } from '../../domain/views';
import { answering } from './answering';
import { actionOf, CALM, deployAction, flow, slowAction, untilAction } from './flows';
import { kvstore } from './pipelines';
import { executable, HOUR, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => (await world.jobs()).map((job) => job.versions);
const BEFORE = [{ 'kv:1': 6 }, { 'kv:1': 6 }];
const AFTER = [{ 'kv:2': 6 }, { 'kv:2': 6 }];

/** From now on only root may do anything, unless `more` permits it. */
function rule(more: Partial<PlatformPolicy> = {}): void {
  const none = { pipelines: [], services: [], uses: [], scripts: [], bugs: [], protection: [] };
  world.rules.facts = { policy: { admins: ['user:root'], ...none, ...more }, groups: { storage: ['user:sam'] } };
}

const SERVICE = { pushType: 'twine', units: ['kvstore-*'], owners: ['group:storage'] };

test('a pipeline that was applied before the rules deploys nothing that its owners may not, and holds no lock of who may', async () => {
  await world.apply(kvstore(), CALM);
  rule({ services: [SERVICE] });
  await world.release('kvstore', 'kv:2');
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy.timeline.map(({ text }) => text).join()).toMatch(
    /may not deploy to twine\/kvstore-x, twine\/kvstore-y: platform\.services\.0 is for pipelines of group:storage \(user:sam\)/,
  );
  expect(await versions()).toEqual(BEFORE);
  await expect(world.client.workflow.getHandle('lock/twine/kvstore').describe()).rejects.toThrow(/not found/i);
});

test('who owns all units of a deploy deploys them', async () => {
  await world.apply(kvstore(), CALM);
  rule({ services: [{ ...SERVICE, owners: [...kvstore().owners, 'group:storage'] }] });
  await world.release('kvstore', 'kv:2');
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
  expect(await versions()).toEqual(AFTER);
});

test('a check that asks a data source of others deploys nothing, also where the rule came after the pipeline', async () => {
  const check = { name: 'errors', metric: 'm', source: 'metrics', threshold: { above: 1 } };
  await world.apply(kvstore({ healthChecks: [check] }), CALM);
  rule({ services: [{ ...SERVICE, owners: [...kvstore().owners, 'group:storage'] }] });
  await world.release('kvstore', 'kv:2');
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
  expect(JSON.stringify((await world.deployStatus('kvstore', 1)).timeline)).toMatch(
    /may not use the data-source metrics/,
  );
  expect(await versions()).toEqual(BEFORE);
});

test('a unit of others that joins a deploy under way pauses it, in words, and is not touched', async () => {
  await world.apply(kvstore({ config: { service: 'kvstore' } }), CALM);
  rule({ services: [{ ...SERVICE, owners: kvstore().owners }] });
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.job('theirs-z', 'z', 2);
  await world.reaches('kvstore', 1, ({ summary }) => summary.includes('theirs-z'));
  expect(JSON.stringify(await world.deployStatus('kvstore', 1))).toMatch(
    /may not deploy to twine\/theirs-z: no rule of platform\.services is about them/,
  );
  await world.command('deploy/kvstore/1/deploy/1', 'revert');
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual([...BEFORE, { 'kv:1': 2 }]);
});

test('a deploy is reverted although its owners may deploy it no more: under way, and after it has ended', async () => {
  await world.apply(kvstore({}, { releases: { onRevert: 'continue' } }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  rule();
  await world.command('deploy/kvstore/1/deploy/1', 'revert');
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual(BEFORE);

  world.rules.facts = { policy: null, groups: {} };
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }]);
  rule();
  const sent = await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'too slow' });
  expect(sent).toMatchObject({ number: 3, isHeld: false });
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'succeeded' });
  expect(await versions()).toEqual(BEFORE);
});

test('a rollback goes to no unit of others, also where its pipeline has been changed to name it since', async () => {
  const own = ['kvstore-x', 'kvstore-y'];
  await world.job('theirs-z', 'z', 2);
  const mine = { ...SERVICE, owners: kvstore().owners };
  rule({ services: [mine, { ...SERVICE, units: ['theirs-*'] }] });
  await world.apply(kvstore({ config: { jobs: own } }, { releases: { onRevert: 'continue' } }), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    expect(await world.ended('kvstore', n - 1)).toMatchObject({ state: 'succeeded' });
  }
  await world.apply(kvstore({ config: { jobs: [...own, 'theirs-z'] } }), CALM);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'wrong' });
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'failed' });
  expect(JSON.stringify((await world.deployStatus('kvstore', 3)).timeline)).toMatch(
    /may not deploy to twine\/theirs-z: platform\.services\.1 is for .*; nor is it known to have had theirs-z in the release that it restores/,
  );
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }, { 'kv:1': 2 }]);
});

/** Alice may deploy anywhere, but sam must approve deploys to `prod-*`. */
function ruleOfProd(): void {
  const requires = { checks: [], soak: 0, windows: false };
  const prod = { pipelines: [], services: [{ pushType: 'twine', units: ['prod-*'] }], emergency: null, requires };
  const approvals = { count: 1, by: ['user:sam'] };
  const services = [{ ...SERVICE, units: ['*'], owners: kvstore().owners }];
  rule({ services, protection: [{ ...prod, approvals, signed: null }] });
}

/** Releases `kv:2` and `kv:3`, which both succeed. */
async function releaseTwo(): Promise<void> {
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    expect(await world.ended('kvstore', n - 1)).toMatchObject({ state: 'succeeded' });
  }
}

const isRefusedProd =
  /platform\.protection\.0 protects twine\/prod-z, and nothing that kvstore is known to have brought this version to: release it there/;

test('a rollback brings nothing to units that a rule protects by name, where none that had it was protected by that rule', async () => {
  await world.job('prod-z', 'z', 2);
  const own = ['kvstore-x', 'kvstore-y'];
  await world.apply(kvstore({ config: { jobs: own } }, { releases: { onRevert: 'continue' } }), CALM);
  ruleOfProd();
  await releaseTwo();
  await world.apply(kvstore({ config: { jobs: [...own, 'prod-z'] } }), CALM);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'wrong' });
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'failed' });
  expect(JSON.stringify((await world.deployStatus('kvstore', 3)).timeline)).toMatch(isRefusedProd);
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }, { 'kv:1': 2 }]);
});

test('a protected unit that is listed while an approved release waits for its lock is not touched', async () => {
  await world.apply(kvstore({ config: { service: 'kvstore' } }, { emergency: { approvals: 1 } }), CALM);
  await world.apply({ ...kvstore(), pipeline: 'kvstore-hotfix' }, CALM);
  ruleOfProd();
  await world.release('kvstore-hotfix', 'kv:3');
  await world.reaches('kvstore-hotfix', 1, ({ state }) => state === 'baking');
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'waiting-lock');
  await world.job('prod-z', 'z', 2);
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
  expect(JSON.stringify((await world.deployStatus('kvstore', 1)).timeline)).toMatch(
    /platform\.protection\.0 wants 1 approval of what goes to twine\/prod-z, and this release has 0: release it again/,
  );
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }, { 'kv:1': 2 }]);
});

test('a rollback to a version that its pipeline has brought to no unit reaches none that a rule protects', async () => {
  const empty = { config: { service: 'prod' }, allowEmpty: true, healthChecks: [], phases: [] };
  await world.apply(kvstore(empty, { releases: { onRevert: 'continue' } }), CALM);
  ruleOfProd();
  await world.job('prod-z', 'z', 2, { service: 'prod' });
  const lists = answering(world, async ({ method }, real) =>
    method === 'fetchDeployUnits' ? { ...(await real()), units: [] } : undefined,
  );
  await releaseTwo();
  lists();
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'wrong' });
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'failed' });
  expect(JSON.stringify((await world.deployStatus('kvstore', 3)).timeline)).toMatch(isRefusedProd);
  expect(await versions()).toEqual([...BEFORE, { 'kv:1': 2 }]);
});

test('a rollback returns to protected units whose names are too long for the pipeline to remember them all', async () => {
  const names = Array.from({ length: 60 }, (_, n) => `prod-${String(n).padStart(3, '0')}-${'n'.repeat(70)}`);
  for (const name of names) await world.job(name, 'z', 1, { service: 'prod' });
  const many = { config: { service: 'prod' }, healthChecks: [], phases: [] };
  await world.apply(kvstore(many, { releases: { onRevert: 'continue' } }), CALM);
  await releaseTwo();
  ruleOfProd();
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'wrong' });
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'succeeded' });
  expect(await versions()).toEqual([...BEFORE, ...names.map(() => ({ 'kv:2': 1 }))]);
});

test.each([
  ['a script', { type: 'custom-script', with: { command: ['true'] } }, /may not run scripts/],
  ['an action service', { type: 'build', with: {} }, /may not use the action-service build/],
  [
    'a global mutex',
    { type: 'custom-script', with: { command: ['true'] }, mutex: ['prod'] },
    /may not use the mutex prod/,
  ],
] as const)('%s is refused to pipelines of others, in words, and its action fails', async (_what, action, words) => {
  await world.apply({
    ...{ pipeline: 'kvstore', owners: ['user:alice'], artifacts: { executable: { finder: 'manual' } } },
    mutex: { prod: { scope: 'global' } },
    actions: { it: { inputs: [], ...action, ...('mutex' in action ? { mutex: [...action.mutex] } : {}) } as never },
  });
  rule({ scripts: action.type === 'custom-script' && 'mutex' in action ? ['user:alice'] : [] });
  await world.release('kvstore', 'kv:2');
  const { actions } = await world.ended('kvstore', 1).then(() => world.releaseStatus('kvstore', 1));
  expect(actions).toMatchObject([{ name: 'it', state: 'failed', message: expect.stringMatching(words) }]);
});

/** A pipeline of alice, who may use action services, deploy, and hold only these groups across pipelines. */
const ruleOfGroups = (names: string[]) =>
  rule({
    services: [{ ...SERVICE, owners: ['user:alice', 'user:bob'] }],
    uses: [
      { kind: 'action-service', names: ['*'], by: ['user:alice', 'user:bob'] },
      ...(names.length > 0 ? [{ kind: 'mutex' as const, names, by: ['user:alice', 'user:bob'] }] : []),
    ],
  });

test('a rollback does not wait for a release whose deploy was refused its group, though that runs on', async () => {
  const test = slowAction(0, { inputs: ['executable'] });
  const mutex = { prod: { scope: 'global' } } as const;
  await world.apply(flow({ deploy: deployAction('5m', { mutex: ['prod'] }), test }, { mutex }), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    await world.ended('kvstore', n - 1);
  }
  ruleOfGroups([]);
  await world.start('kvstore', { artifacts: [{ ...executable('kv:4'), metadata: { test: String(12 * HOUR) } }] });
  await untilAction(world, 3, 'deploy', ({ state }) => state === 'failed');
  const { actions } = await world.releaseStatus('kvstore', 3);
  expect(actions).toMatchObject([
    { message: expect.stringMatching(/may not use the mutex prod/) },
    { state: 'running' },
  ]);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'too slow' });
  await world.ended('kvstore', 4, { withinMs: HOUR });
  expect(await versions()).toEqual(AFTER);
  await world.command('release/kvstore/3', 'cancel');
  await world.ended('kvstore', 3);
});

test('an action that is refused a group leaves those that it had to others, though its release runs on', async () => {
  const first = slowAction(5, { mutex: ['own', 'lab', 'prod'] });
  const mutex = { own: {}, lab: { scope: 'global' }, prod: { scope: 'global' } } as const;
  await world.apply(flow({ first, test: slowAction(12 * 60) }, { mutex }), CALM);
  ruleOfGroups(['lab']);
  for (const n of [2, 3]) await world.release('kvstore', `kv:${n}`);
  for (const n of [1, 2]) {
    await untilAction(world, n, 'first', ({ state }) => state === 'failed', { withinMs: HOUR });
    const { message } = actionOf(await world.releaseStatus('kvstore', n), 'first') ?? {};
    expect(message).toMatch(/may not use the mutex prod/);
  }
  expect((await world.client.workflow.getHandle('lock/lab').describe()).status.name).toBe('COMPLETED');
  for (const n of [1, 2]) await world.command(`release/kvstore/${n}`, 'cancel');
});

test('a child is started by a parent that it names, if the rules or the starter of the parent may; others are refused', async () => {
  const pipeline = (name: string, owner: string, parent?: string): PipelineSource => ({
    ...{
      pipeline: name,
      owners: [owner],
      artifacts: { executable: { finder: 'manual' } },
      actions: { it: { type: 'integr-test', inputs: ['executable'] } },
    },
    labels: parent === undefined ? {} : { parent },
  });
  await world.apply(pipeline('listed', 'user:bob', 'train'), {}, 'user:bob');
  await world.apply(pipeline('own', 'user:alice', 'train'));
  // This one has an owner in common, which did not mean her consent.
  await world.apply(pipeline('common', 'user:alice'));
  await world.apply(pipeline('theirs', 'user:bob', 'train'), {}, 'user:bob');
  const children = { pipelines: ['listed', 'own', 'common', 'theirs'], artifacts: ['executable'] };
  await world.apply({ ...pipeline('train', 'user:alice'), children });
  const use = { kind: 'action-service', names: ['*'], by: ['user:alice', 'user:bob'] } as const;
  rule({ pipelines: [{ names: ['listed'], creators: [], parents: ['train'] }], uses: [use] });
  await world.release('train', 'kv:2');
  const status = () => world.client.workflow.getHandle(workflowIds.children('train', 1)).query<ChildrenView>('status');
  const isOver = async () => (await status()).state === 'failed';
  await world.until('the children ended', isOver, { stepMs: 2_000 });
  const started = await Promise.all(
    children.pipelines.map(async (name) => (await world.pipelineStatus(name)).releases.map(({ number }) => number)),
  );
  expect(started).toEqual([[1], [1], [], []]);
  expect(JSON.stringify(await status())).toMatch(/common does not name train as its parent/);
  expect((await world.releaseStatus('own', 1)).trigger).toMatchObject({
    ...{ actor: 'service:conveyor', parent: 'train/1', startedBy: 'user:alice' },
  });
});
