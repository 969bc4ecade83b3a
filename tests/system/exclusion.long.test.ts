import { workflowIds } from '../../domain/ids';
import { given, PATIENT, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
beforeAll(async () => {
  // How often a granter checks whether the holder still runs.
  stack = await Stack.open({ settings: { reconcileInterval: '1s' } });
});
afterAll(() => stack.close());

test('two pipelines that deploy the same service take turns', async () => {
  const first = await given(stack, PATIENT);
  const second = await given(stack, { jobsOf: first, deploy: { phases: [], completion: { bake: '0s' } } });
  await first.ships(2);
  await first.isIn(1, 'baking');
  await second.ships(3);
  await second.isIn(1, 'waiting-lock');
  expect((await second.deploy(1)).summary).toBe(`waiting for its turn to deploy ${first.name}`);
  expect(await second.effects()).toEqual([]);
  expect(await stack.conveyor(['skip-bake', `${first.name}/1/deploy`, '--reason', 'go'])).toMatchObject({ code: 0 });
  await first.reaches(1, 'bakes its last phase', ({ phases }) => Boolean(phases[1]?.bakeUntil));
  expect(await second.deploy(1)).toMatchObject({ state: 'waiting-lock' });
  expect(await stack.conveyor(['skip-bake', `${first.name}/1/deploy`, '--reason', 'go'])).toMatchObject({ code: 0 });
  expect(await first.ended(1)).toMatchObject({ state: 'succeeded' });
  expect(await second.ended(1)).toMatchObject({ state: 'succeeded' });
  expect((await first.fleet()).map(({ versions }) => versions)).toEqual([
    { [second.version(3)]: 6 },
    { [second.version(3)]: 6 },
  ]);
  const { lockWaitMs } = (await second.deploy(1)).spans;
  expect(lockWaitMs).toBeGreaterThan(0);
});

test('a hotfix survives a revert of what another pipeline had brought before', async () => {
  const web = await given(stack, AT_ONCE);
  const hotfix = await given(stack, { ...AT_ONCE, jobsOf: web });
  await web.ships(2);
  expect(await web.ended(1)).toMatchObject({ state: 'succeeded' });
  expect(await push(hotfix, 9)).toMatchObject({ code: 0 });
  expect(await hotfix.ended(1)).toMatchObject({ state: 'succeeded' });
  const { code, stderr } = await revert(web);
  expect(code).toBe(1);
  expect(stderr).toContain(`${hotfix.name}/1 is what runs now (${hotfix.version(9)})`);
  expect(await web.runs()).toEqual({ 9: 12 });
  expect((await stack.conveyor(['status', web.name])).stdout).toContain(hotfix.version(9));
  expect(await revert(hotfix)).toMatchObject({ code: 0 });
  await hotfix.ended(2);
  expect(await web.runs()).toEqual({ 2: 12 });
});

const AT_ONCE = { deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] } };

const revert = ({ name }: Service) => stack.conveyor(['revert', `${name}/1`, '--reason', 'it is bad']);

const push = (service: Service, n: number) => {
  const artifact = `executable=${service.version(n)}`;
  return stack.conveyor(['push', service.name, 'deploy', '--emergency', '--reason', 'outage', '-a', artifact]);
};

test.each([
  ['release', (name: string) => workflowIds.release(name, 1)],
  ['deploy', (name: string) => workflowIds.deploy(name, 1, 'deploy', 1)],
])('a %s that is terminated through Temporal leaves nothing locked', async (_, victim) => {
  const first = await given(stack, PATIENT);
  const second = await given(stack, { jobsOf: first, deploy: { phases: [], completion: { bake: '0s' } } });
  await first.ships(2);
  await first.isIn(1, 'baking');
  await second.ships(3);
  await second.isIn(1, 'waiting-lock');
  await stack.temporalCli(['workflow', 'terminate', '--workflow-id', victim(first.name), '--reason', 'a test']);
  // The service is free for the other pipeline …
  expect(await second.ended(1)).toMatchObject({ state: 'succeeded' });
  // … and the pipeline for its own next release.
  await eventually('the pipeline has closed the records of the release', async () => {
    const [row] = await stack.client.history(first.name);
    return row?.state === 'failed';
  });
  await first.ships(4);
  await first.isIn(2, 'baking');
});

test('releases of one pipeline deploy one after the other, and a newer one replaces one that waits', async () => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await shop.ships(3);
  await eventually('the second waits for the first', async () => {
    const [deploy] = (await shop.release(2)).actions;
    return deploy?.state === 'blocked' && deploy.blockedBy?.includes('release 1 deploys');
  });
  await shop.ships(4);
  expect(await shop.ended(2)).toMatchObject({ state: 'cancelled', cause: 'superseded' });
  expect(await stack.conveyor(['cancel', `${shop.name}/1`, '--reason', 'make room'])).toMatchObject({ code: 0 });
  expect(await shop.ended(1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
  await shop.isIn(3, 'baking');
});

test('a release that waits behind a paused one names the actor and the command to type', async () => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await shop.ships(3);
  const pausing = await stack.conveyor(['pause', `${shop.name}/1/deploy`, '--reason', 'look at a graph']);
  expect(pausing).toMatchObject({ code: 0 });
  const why = await eventually('the second says that the first is paused', async () => {
    const { stdout } = await stack.conveyor(['status', `${shop.name}/2`, '-o', 'json']);
    const [deploy] = (JSON.parse(stdout) as { actions: { blockedBy: string | null }[] }).actions;
    return deploy?.blockedBy?.includes('paused by') ? deploy.blockedBy : undefined;
  });
  expect(why).toMatch(/^release 1 deploys, paused by user:\w+: look at a graph: /);
  expect(why).toContain(`conveyor resume ${shop.name}/1/deploy --reason "…" lets it continue`);
});
