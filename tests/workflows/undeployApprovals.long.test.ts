import type { PlatformPolicy } from '../../domain/access/platform';
import { actionOf, CALM, deployAction, endsOf, flow, untilAction } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** An undeploy waits for the people whom the rules of the platform name, as every release of the same pipeline does. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const service of ['net', 'dns', 'app']) await world.job(`${service}-x`, 'x', 2, { service });
});
afterEach(() => world.close());

type Deploy = ReturnType<typeof deployAction>;
const to = (job: string, more: object = {}, bake = '5m'): Deploy => {
  const action = deployAction(bake, more);
  return { ...action, with: { ...action.with, config: { jobs: [job] } } } as Deploy;
};
const net = (more: object = {}) =>
  flow({ network: to('net-x'), dns: to('dns-x', { needs: ['network'] }) }, { pipeline: 'net', ...more });

const SETTINGS = { ...CALM, waitIntervalMs: 2 * MINUTE };
const SRE = ['user:sam', 'user:sue', 'user:kim'];

/** Two people of sre approve what reaches these pipelines or units. */
function rule(more: Partial<PlatformPolicy['protection'][number]>, sre = SRE): void {
  const protect = {
    ...{ pipelines: [], services: [], emergency: null, signed: null, approvals: { count: 2, by: ['group:sre'] } },
    requires: { checks: ['latency'], soak: HOUR, windows: false },
    ...more,
  };
  const none = { pipelines: [], uses: [], scripts: [], bugs: [] };
  const services = [{ pushType: 'twine', units: ['*'], owners: ['user:alice'] }];
  world.rules.facts = {
    policy: { admins: ['user:root'], services, ...none, protection: [protect] },
    groups: { sre },
  };
}

const runs = async (job: string) => (await world.jobs()).find(({ name }) => name === job)?.versions;
const undeploy = (pipeline: string) => world.command(`pipeline/${pipeline}`, 'undeploy', { reason: 'not needed' });
const deployed = async (pipeline: string, version: string): Promise<void> => {
  const { number } = await world.release(pipeline, version);
  await world.ended(pipeline, number, { withinMs: HOUR });
  expect(await endsOf(world, [number], pipeline)).toEqual(['succeeded']);
};
const waits = (pipeline: string, release: number, action: string) =>
  untilAction(world, release, action, ({ approval }) => Boolean(approval), { pipeline, stepMs: 1_000 });
const approve = (pipeline: string, release: number, action: string, actor: string) =>
  world.pick(pipeline, release, { action, actor, reason: 'seen it', permitted: 'platform.protection.0' });
const why = (error: Error) => String((error as { cause?: Error }).cause?.message);

test('an undeploy removes nothing until two other people have approved it, and then all of its deploys', async () => {
  await world.apply(net(), SETTINGS);
  await deployed('net', 'kv:2');
  rule({ pipelines: ['net'] });
  await undeploy('net');
  await waits('net', 2, 'dns');
  await world.sleep(HOUR);
  expect(actionOf(await world.releaseStatus('net', 2), 'dns')).toMatchObject({
    ...{ state: 'blocked', pickBy: ['group:sre'], until: null, approval: { needed: 2, by: [], notBy: 'user:alice' } },
    blockedBy:
      'waiting for 2 approvals by group:sre (user:sam, user:sue, user:kim) for platform.protection.0, not by user:alice',
  });
  expect(await approve('net', 2, 'dns', 'user:alice').catch(why)).toBe(
    'user:alice asked for it: others have to approve',
  );
  await approve('net', 2, 'dns', 'user:sam');
  await world.sleep(HOUR);
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{ 'kv:2': 2 }, { 'kv:2': 2 }]);
  await approve('net', 2, 'dns', 'user:sue');
  await world.ended('net', 2, { withinMs: HOUR });
  expect(await endsOf(world, [2], 'net')).toEqual(['succeeded']);
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{}, {}]);
});

test('an undeploy waits for its approvals also where a rule is about units, whatever its file names by now', async () => {
  await world.apply(flow({ deploy: to('net-x') }, { pipeline: 'side' }), SETTINGS);
  await deployed('side', 'kv:2');
  await world.apply(flow({ deploy: to('dns-x') }, { pipeline: 'side' }), SETTINGS);
  rule({ services: [{ pushType: 'twine', units: ['net-*'] }] });
  await undeploy('side');
  await waits('side', 2, 'deploy');
  await world.sleep(HOUR);
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{ 'kv:2': 2 }, { 'kv:1': 2 }]);
  for (const actor of ['user:sam', 'user:kim']) await approve('side', 2, 'deploy', actor);
  await world.ended('side', 2, { withinMs: HOUR });
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{}, { 'kv:1': 2 }]);
});

test('a pipeline that is undeployed by itself waits for its approvals, and the other one for it', async () => {
  const offers = [{ name: 'place', after: 'network', value: { job: 'app-x' } }];
  const wishes = [{ from: 'net', offer: 'place', onWithdraw: 'undeploy' as const }];
  await world.apply(net({ offers }), SETTINGS);
  await world.apply(flow({ deploy: to('${wishes.net.place.job}') }, { pipeline: 'app', wishes }), SETTINGS);
  await deployed('net', 'kv:2');
  await deployed('app', 'kv:2');
  rule({ pipelines: ['app'] });
  await undeploy('net');
  await world.until('app is being undeployed', async () => (await world.pipelineStatus('app')).held !== null);
  await waits('app', 2, 'deploy');
  await world.sleep(HOUR);
  expect([await runs('app-x'), await runs('net-x')]).toEqual([{ 'kv:2': 2 }, { 'kv:2': 2 }]);
  for (const actor of ['user:sam', 'user:sue']) await approve('app', 2, 'deploy', actor);
  await world.ended('app', 2, { withinMs: HOUR });
  await world.ended('net', 2, { withinMs: HOUR });
  expect([await runs('app-x'), await runs('net-x')]).toEqual([{}, {}]);
});

test('a worker refuses a removal whose release has too few approvals once it holds the lock', async () => {
  await world.job('net-y', 'y', 2, { service: 'net' });
  await world.apply(flow({ deploy: to('net-x') }, { pipeline: 'one' }), SETTINGS);
  await world.apply(flow({ deploy: to('net-y', {}, '2h') }, { pipeline: 'other' }), SETTINGS);
  await deployed('one', 'kv:2');
  await world.release('other', 'kv:3');
  await world.reaches('other', 1, ({ state }) => state === 'baking');
  rule({ pipelines: ['one'] });
  await undeploy('one');
  await waits('one', 2, 'deploy');
  for (const actor of ['user:sam', 'user:sue']) await approve('one', 2, 'deploy', actor);
  await world.reaches('one', 2, ({ state }) => state === 'waiting-lock');
  rule({ pipelines: ['one'] }, ['user:sam', 'user:kim']);
  await world.ended('other', 1);
  await world.ended('one', 2, { withinMs: HOUR });
  const { message } = actionOf(await world.releaseStatus('one', 2), 'deploy') ?? {};
  expect(message).toContain(
    'platform.protection.0 wants 2 approvals of the removal of one, and this release has 1: undeploy again',
  );
  expect(await runs('net-x')).toEqual({ 'kv:2': 2 });
});
