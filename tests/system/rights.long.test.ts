import { workflowIds } from '../../domain/ids';
import type { PipelineDocument } from '../../domain/pipeline/document';
import { signed } from '../builders/signing';
import { Attacked, CI, evil } from './attacked';
import { Service, type Given } from './service';
import { eventually } from './waiting';

/** The caller's own rights to services apply on every path, and a rollback trusts only the observations of workers. */

let world: Attacked;
/** A service that only alice may deploy. */
let shop: Service;
beforeAll(async () => {
  world = await Attacked.open();
  shop = await world.shop();
});
afterAll(() => world.close());

const QUICK: Given = { deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] } };
const refusal = (status: number, message: RegExp) => ({
  ...{ status, body: { error: { message: expect.stringMatching(message) as string } } },
});

/** A service of mallory, applied and deployed at a version. */
async function serviceOfMallory(name: string, versions: readonly number[]): Promise<Service> {
  const own = new Service(world.stack, name, { ...QUICK, pipeline: { owners: ['user:mallory'] } });
  for (const region of ['x', 'y'])
    await world.stack.control('POST', '/control/jobs', {
      ...{ name: `${name}-${region}`, service: name, region, tasks: 2, version: own.version(1) },
      ...{ nSmall: 2, budget: 2, timings: { fetchMs: 10, stopMs: 10, startMs: 10 } },
    });
  expect((await world.applies('mallory', own.source)).status).toBe(200);
  for (const [at, version] of versions.entries()) {
    expect((await world.releases('mallory', name, own.version(version))).status).toBe(202);
    expect(await world.ended(`${name}/${at + 1}`)).toMatchObject({ state: 'succeeded' });
  }
  return own;
}

test('a rollback brings nothing to a service of others, also where the pipeline names it by then', async () => {
  const own = await serviceOfMallory('evil-kv', [7, 8]);
  const thief = new Service(world.stack, own.name, { ...QUICK, jobsOf: shop, pipeline: { owners: ['user:mallory'] } });
  expect((await world.applies('mallory', thief.source)).status).toBe(200);
  expect((await world.command('mallory', 'revert', `${own.name}/2`)).status).toBeLessThan(300);
  expect(await world.ended(`${own.name}/3`)).toMatchObject({ state: 'failed' });
  expect((await thief.deploy(3)).timeline.map(({ text }) => text).join()).toMatch(
    /may not deploy to twine\/shop-.*: platform\.services\.0 is for pipelines of user:alice; nor is it known to have had shop-.* in the release that it restores/,
  );
  expect(await shop.runs()).toEqual({ 1: 12 });
});

test('an owner gains no rights by giving a pipeline to those who have them', async () => {
  const own = evil('gift');
  expect((await world.applies('mallory', own)).status).toBe(200);
  const given = { ...shop.source, pipeline: own.pipeline, owners: ['user:alice'] };
  const words =
    /user:mallory would be none of the new owners of evil-gift: user:alice; a pipeline may do what its owners may/;
  expect(await world.applies('mallory', given)).toMatchObject(refusal(403, words));
  await world.onRecord('user:mallory', { operation: 'apply', target: own.pipeline, result: 'not-permitted' });
  const { body } = await world.as<PipelineDocument>('mallory', 'GET', `/v1/pipelines/${own.pipeline}/export`);
  const document = { ...body, spec: { ...body.spec, owners: ['user:alice'] } };
  expect(await world.as('mallory', 'POST', `/v1/pipelines/${own.pipeline}/import`, document)).toMatchObject(
    refusal(403, words),
  );
});

test('an import is no second way past what protects a pipeline, and is attributed to no person', async () => {
  const name = 'shop-signed-new';
  const { body } = await world.as<PipelineDocument>('alice', 'GET', `/v1/pipelines/${shop.name}/export`);
  const artifacts = (version: string) => [{ name: 'executable', kind: 'executable', version, metadata: {} }];
  const good = [
    { release: 2, version: shop.version(9), artifacts: artifacts(shop.version(9)), held: { ids: shop.jobs } },
  ];
  const command = {
    at: '2026-01-05T12:00:00.000Z',
    verb: 'pick',
    actor: 'user:bob',
    reason: 'approved',
    accepted: true,
  };
  const forged = {
    ...{ ...body, pipeline: name, spec: { ...body.spec, pipeline: name }, nextNumber: 3 },
    ...{ good: { deploy: good }, commands: [command] },
  };
  const path = `/v1/pipelines/${name}/import`;
  expect(await world.as('alice', 'POST', path, forged)).toMatchObject(
    refusal(403, /platform\.protection\.\d protects shop-signed-new, and records say what ran: import is for admins/),
  );
  await world.onRecord('user:alice', { operation: 'import', target: name, result: 'not-permitted' });
  expect((await world.as('carol', 'POST', path, forged)).status).toBeLessThan(300);
  expect((await world.pipeline(name)).commands).toMatchObject([
    { verb: 'pick', actor: 'service:import', reason: 'imported: approved' },
  ]);
  const approve = async (id: string): Promise<void> => {
    await world.release(id, 'waits for an approval', ({ actions }) => actions.some((it) => it.approval));
    const yes = await world.command('bob', 'pick', `${id}/deploy`, { approve: true, reason: 'seen it' });
    expect(yes.status).toBe(200);
  };
  const { kind: _kind, ...ours } = signed(shop.version(1), CI);
  expect((await world.as('alice', 'POST', `/v1/pipelines/${name}/releases`, { artifacts: [ours] })).status).toBe(202);
  await approve(`${name}/3`);
  expect(await world.ended(`${name}/3`)).toMatchObject({ state: 'succeeded' });
  expect((await world.command('alice', 'revert', `${name}/3`)).status).toBeLessThan(300);
  await approve(`${name}/4`);
  const { state, actions } = await world.ended(`${name}/4`);
  expect([state, actions.map(({ message }) => message).join()]).toEqual([
    ...['failed', expect.stringMatching(/executable@shop-.*:9 is not signed/)],
  ]);
  expect(await shop.runs()).toEqual({ 1: 12 });
});

test('a canary of another pipeline brings nothing unsigned to units that a rule names', async () => {
  const canary = { pushType: 'twine', config: { jobs: ['evil-guarded-x'] }, amount: 1, bake: '1s', healthChecks: [] };
  await world.stack.control('POST', '/control/jobs', {
    ...{ name: 'evil-guarded-x', service: 'evil-guarded', region: 'x', tasks: 2, version: 'g:1', nSmall: 2, budget: 2 },
    timings: { fetchMs: 10, stopMs: 10, startMs: 10 },
  });
  const side = evil('side', { actions: { canary: { type: 'canary', inputs: ['executable'], with: canary } as never } });
  expect((await world.applies('mallory', side)).status).toBe(200);
  expect((await world.releases('mallory', side.pipeline, 'g:2')).status).toBe(202);
  const { state, actions } = await world.ended(`${side.pipeline}/1`);
  expect([state, actions.map(({ message }) => message).join()]).toEqual([
    ...['failed', expect.stringMatching(/platform\.protection\.\d protects evil-side: executable@g:2 is not signed/)],
  ]);
  expect((await world.stack.ledger()).filter(({ effect, key }) => effect && key.includes(side.pipeline))).toEqual([]);
});

test('a workflow that a stranger starts under the id of a retired pipeline keeps its owner from nothing', async () => {
  const { temporal: stranger, taskQueue } = world.stack;
  const own = await serviceOfMallory('evil-retired', [2]);
  const workflowId = workflowIds.pipeline(own.name);
  const handle = stranger.workflow.getHandle(workflowId);
  const has = (status: string) =>
    eventually(`the newest run is ${status}`, async () => (await handle.describe()).status.name === status);
  const { events } = await handle.fetchHistory();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input;
  const forged = { workflowId, args: [{ nextNumber: 90, active: [], history: [] }] };
  expect((await world.command('mallory', 'retire', own.name)).status).toBe(200);
  await has('COMPLETED');
  await stranger.workflow.start('pipeline', { ...forged, taskQueue });
  await has('FAILED');
  expect(await world.applies('mallory', own.source)).toMatchObject({
    ...{ status: 200, body: { continued: { after: 1, books: true } } },
  });
  expect((await world.command('mallory', 'retire', own.name)).status).toBe(200);
  await has('COMPLETED');

  // The sealed input of its first run, copied: it says that there are no records yet.
  await stranger.workflowService.startWorkflowExecution({
    ...{ namespace: 'default', workflowId, workflowType: { name: 'pipeline' }, taskQueue: { name: taskQueue } },
    ...{ input, requestId: 'copied', identity: 'mallory' },
  });
  expect(await world.applies('mallory', own.source)).toMatchObject(
    refusal(
      409,
      /Conveyor did not start the workflow that runs under its id, which has none of its records; end it and try again: temporal workflow terminate --namespace default --workflow-id pipeline\/evil-retired/,
    ),
  );
  await handle.terminate();
  expect(await world.applies('mallory', own.source)).toMatchObject({
    ...{ status: 200, body: { continued: { after: 1, books: true } } },
  });
  expect((await world.releases('mallory', own.name, own.version(3))).status).toBe(202);
  expect(await world.ended(`${own.name}/2`)).toMatchObject({ state: 'succeeded' });
});

test('a stranger at Temporal brings nothing to a fleet by starting releases and deploys', async () => {
  const { workflow } = world.stack.temporal;
  const { taskQueue } = world.stack;
  const { body } = await world.as<PipelineDocument>('alice', 'GET', `/v1/pipelines/${shop.name}/export`);
  const artifacts = [{ name: 'executable', kind: 'executable', version: shop.version(9), metadata: {} }];
  const input = {
    ...{
      number: 99,
      spec: body.spec,
      artifacts,
      previous: {},
      lastGood: {},
      settings: {},
      action: 'deploy',
      attempt: 1,
    },
    ...{
      trigger: { kind: 'rollback', actor: 'user:carol', key: null },
      policy: { owners: ['user:carol'], groups: {} },
    },
  };
  const ids = [workflowIds.release(shop.name, 99), workflowIds.deploy(shop.name, 99, 'deploy', 1)] as const;
  for (const workflowId of ids)
    await workflow.start(workflowId.split('/')[0] ?? '', { workflowId, taskQueue, args: [input] });
  await eventually('workers have looked at both', async () => {
    const histories = await Promise.all(ids.map((id) => workflow.getHandle(id).fetchHistory()));
    return histories.every(({ events }) => (events ?? []).length > 3);
  });
  for (const id of ids)
    await workflow
      .getHandle(id)
      .terminate()
      .catch(() => undefined);
  expect(await shop.effects()).toEqual([]);
  expect(await shop.runs()).toEqual({ 1: 12 });
});
