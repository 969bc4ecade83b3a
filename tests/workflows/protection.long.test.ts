import type { PlatformPolicy } from '../../domain/access/platform';
import { actionOf, deployAction, endsOf, flow, untilAction, CALM, type Actions } from './flows';
import { kvstore } from './pipelines';
import { executable, HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const SERVICE = { pushType: 'twine', units: ['*'], owners: ['user:alice', 'user:bob'] };
const SRE = ['user:sam', 'user:sue', 'user:kim'];
/** The setting that a rule with two approvals demands of the pipeline itself. */
const SAFE = { emergency: { approvals: 2 } };
const prod = (deploy: Parameters<typeof kvstore>[0] = {}, more: Parameters<typeof kvstore>[1] = {}) =>
  kvstore(deploy, { ...SAFE, ...more });

/** Two people of sre must approve every release of kvstore, unless `more` changes that. */
function rule(more: Partial<PlatformPolicy['protection'][number]> | null = {}, sre = SRE): void {
  const requires = { checks: [], soak: 0, windows: false };
  const protect = {
    pipelines: ['kvstore'],
    services: [],
    approvals: { count: 2, by: ['group:sre'] },
    emergency: null,
    requires,
    signed: null,
  };
  const none = { pipelines: [], uses: [], scripts: [], bugs: [] };
  const protection = more === null ? [] : [{ ...protect, ...more }];
  world.rules.facts = { policy: { admins: ['user:root'], services: [SERVICE], ...none, protection }, groups: { sre } };
}

/** Approves as a server or the command line lets a person do it. */
const approve = (release: number, actor: string, more: object = {}) =>
  world.pick('kvstore', release, {
    action: 'deploy',
    actor,
    reason: 'seen it',
    permitted: 'platform.protection.0',
    ...more,
  });
const isHeld = (release: number, action = 'deploy') =>
  untilAction(world, release, action, ({ approval }) => Boolean(approval), { stepMs: 1_000 });
const deployOf = async (release: number) => actionOf(await world.releaseStatus('kvstore', release), 'deploy');
const why = (error: Error) => String((error as { cause?: Error }).cause?.message);
const versions = async () => (await world.jobs()).map((job) => job.versions);
const BEFORE = [{ 'kv:1': 6 }, { 'kv:1': 6 }];
const AFTER = [{ 'kv:2': 6 }, { 'kv:2': 6 }];

test('a release of a protected pipeline deploys once two people of the rule have approved it, and says who is missing', async () => {
  rule();
  await world.apply(prod(), CALM);
  await world.release('kvstore', 'kv:2', 'user:alice');
  await isHeld(1);
  expect(await deployOf(1)).toMatchObject({
    ...{ state: 'blocked', pickBy: ['group:sre'], until: null },
    blockedBy:
      'waiting for 2 approvals by group:sre (user:sam, user:sue, user:kim) for platform.protection.0, not by user:alice',
  });
  expect(await approve(1, 'user:alice').catch(why)).toBe('user:alice asked for it: others have to approve');
  await approve(1, 'user:sam');
  expect(await approve(1, 'user:sam').catch(why)).toBe('user:sam has already approved it');
  await world.sleep(HOUR);
  expect(await deployOf(1)).toMatchObject({
    blockedBy:
      'waiting for 1 approval by group:sre (user:sue, user:kim) for platform.protection.0, not by user:alice; approved by user:sam',
  });
  expect(await versions()).toEqual(BEFORE);
  await approve(1, 'user:sue');
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  expect(await versions()).toEqual(AFTER);
  const { timeline } = await world.releaseStatus('kvstore', 1);
  expect(timeline.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['approved by user:sam: seen it', 'approved by user:sue: seen it']),
  );
});

test('a release that a finder began waits as well, and a night of that takes no room in the history', async () => {
  rule({ approvals: { count: 1, by: ['group:sre'] } });
  await world.apply(prod(), CALM);
  await world.submit('kvstore', [executable('kv:2')]);
  await isHeld(1);
  // A query shows the hold before the task that records it is in the history.
  await world.sleep(HOUR);
  const length = async () => (await world.client.workflow.getHandle('release/kvstore/1').fetchHistory()).events?.length;
  const before = await length();
  await world.sleep(12 * HOUR);
  expect(await length()).toBe(before);
  await approve(1, 'user:kim');
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual(AFTER);
});

test('who has left the group since they approved counts no more: before it continues, and while it waits for its turn', async () => {
  await world.apply(prod({}, { releases: { supersede: 'never' } }), CALM);
  rule(null);
  await world.release('kvstore', 'kv:3');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  rule();
  await world.release('kvstore', 'kv:2');
  await isHeld(2);
  await approve(2, 'user:sam');
  rule({}, ['user:sue', 'user:kim']);
  await approve(2, 'user:sue');
  const isLeft = ({ approval }: { approval?: { uncounted?: readonly string[] } | null }) =>
    approval?.uncounted?.includes('user:sam') === true;
  await untilAction(world, 2, 'deploy', isLeft, { stepMs: MINUTE });
  await approve(2, 'user:kim');
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy === 'release 1 deploys', { stepMs: 1_000 });
  rule({}, ['user:sue', 'user:lee']);
  await world.ended('kvstore', 1);
  await untilAction(world, 2, 'deploy', ({ approval }) => approval?.uncounted?.length === 2, { stepMs: MINUTE });
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }]);
  await approve(2, 'user:lee');
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual(AFTER);
});

test('a rule that ends lets go of what waits, and one that comes holds what was picked by one person', async () => {
  rule();
  await world.apply(prod({}, { schedule: { mode: 'manual' } }), CALM);
  await world.release('kvstore', 'kv:2');
  await isHeld(1);
  await approve(1, 'user:sam');
  rule(null);
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual(AFTER);
  await world.release('kvstore', 'kv:3');
  await untilAction(world, 2, 'deploy', ({ pickBy }) => pickBy !== null, { stepMs: 1_000 });
  rule();
  await approve(2, 'user:sam');
  await isHeld(2);
  await approve(2, 'user:sue');
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
});

test('one rejection ends it, and the newer of two that wait cancels the older, whose approvals then come too late', async () => {
  rule({ approvals: { count: 1, by: ['group:sre'] } });
  await world.apply(prod(), CALM);
  await world.release('kvstore', 'kv:4');
  await isHeld(1);
  await approve(1, 'user:sam', { approve: false, reason: 'too risky' });
  await world.ended('kvstore', 1);
  expect(await deployOf(1)).toMatchObject({ state: 'failed', message: 'rejected by user:sam: too risky' });
  for (const n of [3, 2]) await world.release('kvstore', `kv:${n}`);
  await isHeld(2);
  await isHeld(3);
  await approve(3, 'user:sam');
  await world.ended('kvstore', 2, { withinMs: HOUR });
  await expect(approve(2, 'user:sue')).rejects.toThrow(/not found|already completed/);
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [2, 3])).toEqual(['cancelled (superseded)', 'succeeded']);
  expect(await versions()).toEqual(AFTER);
});

test('a deploy that goes back waits for no protection', async () => {
  await world.apply(prod({}, { releases: { onRevert: 'continue' } }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  rule();
  await world.rollBack('kvstore', 1, { actor: 'user:alice', reason: 'too slow' });
  expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'succeeded' });
  expect(await versions()).toEqual(BEFORE);
});

test('a pick takes as many people, who have then approved the deploy that needs it, and a canary is held as a deploy is', async () => {
  rule();
  const config = { jobs: ['kvstore-x', 'kvstore-y'] };
  const canary: Actions[string] = {
    ...{ type: 'canary', inputs: ['executable'], with: { pushType: 'twine', config, amount: 1, bake: '10m' } },
  };
  await world.apply(
    flow(
      { try: canary, go: { type: 'manual-pick', needs: ['try'] }, deploy: deployAction('5m', { needs: ['go'] }) },
      SAFE,
    ),
    CALM,
  );
  await world.release('kvstore', 'kv:2');
  await isHeld(1, 'try');
  expect(await versions()).toEqual(BEFORE);
  for (const actor of ['user:sam', 'user:sue']) await approve(1, actor, { action: 'try' });
  await isHeld(1, 'go');
  await approve(1, 'user:sam', { action: 'go' });
  await world.sleep(HOUR);
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'go')?.state).toBe('blocked');
  await approve(1, 'user:kim', { action: 'go' });
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  expect(await versions()).toEqual(AFTER);
});

test('a pipeline that lacks what a rule demands deploys nothing that a finder brings, and says what it lacks', async () => {
  await world.apply(prod(), CALM);
  rule({ approvals: null, requires: { checks: ['latency'], soak: 0, windows: false } });
  await world.submit('kvstore', [executable('kv:2')]);
  await world.ended('kvstore', 1, { withinMs: HOUR });
  expect(await deployOf(1)).toMatchObject({
    ...{ state: 'failed' },
    message: 'platform.protection.0 protects kvstore: deploy has no check latency; apply that, and release again',
  });
  expect(await versions()).toEqual(BEFORE);
});

test('an emergency counts by the same rules, besides what its pipeline demands', async () => {
  rule({ emergency: { approvals: 1 } });
  await world.apply(prod({}, { owners: ['user:alice', 'user:bob'], emergency: { approvals: 1, timeout: '2h' } }), CALM);
  await world.push('kvstore', 'kv:2', { skipBake: true });
  await isHeld(1);
  await approve(1, 'user:stranger');
  await untilAction(world, 1, 'deploy', ({ approval }) => approval?.uncounted?.length === 1, { stepMs: 1_000 });
  expect(await versions()).toEqual(BEFORE);
  await approve(1, 'user:sam');
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual(AFTER);
});
