import { gzipSync } from 'node:zlib';
import { workflowIds } from '../../domain/ids';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { TERMINAL_ATTACK } from '../builders/attackTexts';
import { Attacked, evil } from './attacked';
import { ask, publish, push, releasesOf, revision, subscribed } from './front';
import { Service } from './service';
import { eventually } from './waiting';

type Action = PipelineSource['actions'][string];

let world: Attacked;
/** Owned by alice. */
let shop: Service;
beforeAll(async () => {
  world = await Attacked.open();
  shop = await world.shop({ pipeline: { labels: { parent: 'evil-train' } } });
});
afterAll(() => world.close());

/** The expected state after any attack. */
async function nothingHappened(): Promise<void> {
  expect(await shop.runs()).toEqual({ 1: 12 });
  expect(await world.pipeline(shop.name)).toMatchObject({ frozen: null, held: null, releases: [] });
}

const refusedWith = (status: number, code: string) => ({ status, body: { error: { code } } });

test('a pipeline cannot deploy a service of another owner', async () => {
  const notify = [{ on: ['failed' as const], url: `${world.inside}/hook` }];
  const pipeline = { owners: ['user:mallory'], notify };
  const thief = new Service(world.stack, 'evil-mirror', { jobsOf: shop, pipeline });
  expect(await world.types('mallory', ['apply', thief.file])).toMatchObject({ code: 0 });
  const release = ['release', thief.name, '--artifact', `executable=${shop.version(2)}`, '--wait'];
  expect((await world.types('mallory', release)).code).toBe(3);
  const why = (await thief.deploy(1)).timeline.map(({ text }) => text).join();
  expect(why).toMatch(/may not deploy to twine\/shop-.*: platform\.services\.0 is for pipelines of user:alice/);
  expect(await thief.effects()).toEqual([]);
  await world.onRecord('user:mallory', { operation: 'release', target: thief.name, outcome: 'accepted' });
  await nothingHappened();
  // No request reached the worker's machine either.
  const { timeline } = await world.ended(`${thief.name}/1`);
  expect(timeline.map(({ text }) => text).join()).toContain('notifications.internal');
  expect(world.heard).toEqual([]);
});

describe('no one has a pipeline that', () => {
  const script: Action = { type: 'custom-script', with: { command: ['printenv'] } };
  const deploy: Action = { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine', config: {} } };
  const locked: Action = { type: 'integr-test', mutex: ['prod'] };
  const metadata = [{ on: ['failed' as const], url: 'http://169.254.169.254/latest/meta-data' }];
  test.each<[what: string, source: PipelineSource, status: number]>([
    ['has the name of others', { ...evil('x'), pipeline: 'shop-mine' }, 403],
    [
      'borrows the permissions of an owner that it names',
      evil('both', { owners: ['user:mallory', 'user:alice'], actions: { deploy } }),
      403,
    ],
    ['runs a script on the workers', evil('script', { actions: { script } }), 403],
    [
      'holds a mutex of the platform',
      evil('mutex', { mutex: { prod: { scope: 'global' } }, actions: { locked } }),
      403,
    ],
    ['has notifications sent to the metadata of a cloud', evil('notify', { notify: metadata }), 400],
  ])('%s', async (_what, source, status) => {
    const code = status === 403 ? 'not-permitted' : 'invalid-request';
    expect(await world.applies('mallory', source)).toMatchObject(refusedWith(status, code));
    if (status === 403) await world.onRecord('user:mallory', { target: source.pipeline, result: code });
    expect((await world.as('carol', 'GET', `/v1/pipelines/${source.pipeline}`)).status).toBe(404);
    expect((await world.as('carol', 'GET', '/v1/pipelines')).status).toBe(200);
    expect((await fetch(`${world.front.url}/readyz`)).status).toBe(200);
  });
});

test('only owners command, release or submit to a pipeline', async () => {
  const path = `/v1/pipelines/${shop.name}`;
  const artifacts = [{ name: 'executable', version: shop.version(2) }];
  const asked = {
    freeze: await world.command('mallory', 'freeze', shop.name),
    release: await world.releases('mallory', shop.name, shop.version(2)),
    submit: await world.as('mallory', 'POST', `${path}/submissions`, { artifacts }),
  } as const;
  for (const operation of ['freeze', 'release', 'submit'] as const) {
    expect(asked[operation]).toMatchObject(refusedWith(403, 'not-permitted'));
    await world.onRecord('user:mallory', { operation, target: shop.name, result: 'not-permitted' });
  }
  expect((await ask(world.front, 'POST', `${path}/releases`, { artifacts }, 'guessed')).status).toBe(401);
  const target = `POST ${path}/releases`;
  await world.onRecord(null, { operation: 'come-in', target, result: 'unauthorized' });
  await nothingHappened();
});

test('a file on their own machine gives a caller no other identity', async () => {
  const own = { groups: { sre: ['user:mallory'] }, platform: { admins: ['user:mallory'] } };
  const laptop = { CONVEYOR_CONFIG: world.stack.file('own.yaml', own), CONVEYOR_ACTOR: 'user:alice' };
  const freeze = ['freeze', shop.name, '--reason', 'from my laptop'];
  const through = await world.types('mallory', freeze, laptop);
  expect([through.code, through.stderr]).toEqual([4, expect.stringContaining('user:mallory is not an owner')]);
  await world.onRecord('user:mallory', { operation: 'freeze', reason: 'from my laptop', result: 'not-permitted' });
  const temporal = { TEMPORAL_ADDRESS: world.stack.temporalAddress, CONVEYOR_SEAL_KEYS: '' };
  const past = await world.types('mallory', freeze, {
    ...{ ...laptop, ...temporal, CONVEYOR_SERVER: '', CONVEYOR_TOKEN: '' },
  });
  expect([past.code, past.stderr]).toEqual([4, expect.stringContaining('not-permitted')]);
  await nothingHappened();
});

test('a requester cannot approve their own emergency, take the approvals away, or come as a group', async () => {
  const { emergency: _approvals, ...without } = shop.source;
  expect(await world.applies('alice', without)).toMatchObject(refusedWith(403, 'not-permitted'));
  await world.onRecord('user:alice', { operation: 'apply', target: shop.name });
  const artifacts = [{ name: 'executable', version: shop.version(2) }];
  const emergency = { action: 'deploy', artifacts, reason: 'outage' };
  const pushed = await world.as('alice', 'POST', `/v1/pipelines/${shop.name}/pushes`, emergency);
  expect(pushed.status).toBe(202);
  const id = `${shop.name}/1`;
  await world.release(id, 'waits for an approval', ({ actions }) => actions.some(({ pickBy }) => pickBy !== null));
  const pick = { approve: true, reason: 'fine' };
  for (const name of ['alice', 'mallory'] as const) {
    expect(await world.command(name, 'pick', `${id}/deploy`, pick)).toMatchObject(refusedWith(403, 'not-permitted'));
    await world.onRecord(`user:${name}`, { operation: 'pick', target: `${id}/deploy`, result: 'not-permitted' });
  }
  const group = { ...pick, actor: 'group:sre' };
  expect((await world.command('alice', 'pick', `${id}/deploy`, group)).status).toBe(400);
  const delivered = { artifacts, trigger: 'webhook' };
  expect((await world.as('alice', 'POST', `/v1/pipelines/${shop.name}/releases`, delivered)).status).toBe(400);
  expect((await world.command('alice', 'cancel', id)).status).toBe(200);
  expect(await world.ended(id)).toMatchObject({ state: 'cancelled' });
  expect(await shop.runs()).toEqual({ 1: 12 });
});

test('a child is released only if it agreed, whatever its label, its owner, or its age', async () => {
  const train = evil('train', { children: { pipelines: [shop.name], artifacts: ['executable'] } });
  expect((await world.applies('mallory', train)).status).toBe(200);
  const before = await releasesOf(world.stack, shop.name);
  expect((await world.releases('mallory', train.pipeline, shop.version(2))).status).toBe(202);
  const hasFailed = 'has children that failed';
  const { children } = await world.release('evil-train/1', hasFailed, (it) => it.children?.state === 'failed');
  expect(JSON.stringify(children)).toMatch(/evil-train may not start shop-/);
  expect(await releasesOf(world.stack, shop.name)).toEqual(before);
  await world.onRecord('user:mallory', { operation: 'release', target: train.pipeline, outcome: 'accepted' });
});

describe('a secret of a webhook alone never', () => {
  const record = { door: 'webhook', operation: 'submit', result: 'not-in-scope' } as const;

  test.each([
    ['releases what people release by hand', { finder: 'manual', with: {} }],
    ['submits artifacts of other pipelines', { finder: 'pipeline-output' }],
    ['submits in the name of another source', { finder: 'commits' }],
  ])('%s', async (_what, said) => {
    const before = await releasesOf(world.stack, shop.name);
    const artifact = { kind: 'executable', version: shop.version(2) };
    const answer = await publish(world.front, { ...said, artifact });
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'not-in-scope' } }]);
    await world.onRecord('service:webhook', { ...record, target: `who subscribes to ${said.finder}` });
    expect(await releasesOf(world.stack, shop.name)).toEqual(before);
  });

  test('releases an old commit by a body that was recorded, also of a server that has started anew', async () => {
    const subscription = { finder: 'commits', with: { repository: 'acme/app', branch: 'main' } };
    const app = await world.shop({ pipeline: { artifacts: { executable: subscription } } });
    await subscribed(world.stack, 'commits', app.name);
    await world.command('alice', 'hold', app.name, { reason: 'only what comes in counts here' });
    const delivered = async (n: number, more: object = {}): Promise<number> =>
      (await push(world.front, 'app', revision(n), undefined, more)).status;
    expect([await delivered(1), await delivered(2)]).toEqual([202, 202]);
    await world.restartServer();
    expect(await delivered(1)).toBe(202);
    expect(await delivered(3, { pushed_at: Math.floor(Date.now() / 1000) - 7 * 86_400 })).toBe(401);
    await world.onRecord(null, { door: 'webhook', operation: 'come-in', result: 'bad-signature' });
    expect(await delivered(3, { full_name: 'attacker/app' })).toBe(403);
    await world.onRecord('service:github', record);
    expect(await releasesOf(world.stack, app.name)).toHaveLength(2);
  });
});

test('access to Temporal alone neither deploys with copied messages nor displaces records of an owner', async () => {
  const { temporal: stranger, taskQueue } = world.stack;
  const good = await world.shop({ deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] } });
  await world.command('alice', 'hold', good.name, { reason: 'hands off' });
  await world.command('alice', 'unhold', good.name, { reason: 'go' });
  expect((await world.releases('alice', good.name, good.version(2))).status).toBe(202);
  await world.release(`${good.name}/1`, 'waits for approval', ({ actions }) => actions.some((it) => it.approval));
  const yes = await world.command('bob', 'pick', `${good.name}/1/deploy`, { approve: true, reason: 'seen it' });
  expect(yes.status).toBe(200);
  await world.ended(`${good.name}/1`);

  const { events } = await stranger.workflow.getHandle(good.deployWorkflow(1)).fetchHistory();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input;
  const workflowId = 'deploy/evil/1/deploy/1';
  await stranger.workflowService.startWorkflowExecution({
    ...{ namespace: 'default', workflowId, workflowType: { name: 'deploy' }, taskQueue: { name: taskQueue } },
    ...{ input, requestId: 'copied', identity: 'mallory' },
  });
  const thief = stranger.workflow.getHandle(workflowId);
  await eventually('a worker has seen it', async () => {
    const seen = (await thief.fetchHistory()).events ?? [];
    return seen.some((it) => it.workflowTaskFailedEventAttributes ?? it.workflowExecutionFailedEventAttributes);
  });
  await thief.terminate('the test is over').catch(() => undefined);
  expect((await world.stack.ledger()).filter(({ key }) => key.includes(workflowId))).toEqual([]);

  const pipeline = stranger.workflow.getHandle(workflowIds.pipeline(good.name));
  for (let n = 0; n < 110; n += 1) await pipeline.signal('freeze', { actor: 'user:alice', reason: `${n}` });
  const { frozen, commands = [] } = await world.pipeline(good.name);
  expect(frozen).toBeNull();
  expect(commands.some(({ accepted }) => !accepted)).toBe(true);
  expect(commands).toContainEqual(expect.objectContaining({ verb: 'hold', actor: 'user:alice', reason: 'hands off' }));
  expect(await good.runs()).toEqual({ 2: 12 });
});

test('no sender makes a worker or the server unpack or read without end', async () => {
  const greedy = evil('greedy', { actions: { it: { type: 'custom', with: { service: 'profile' } } } });
  expect((await world.applies('mallory', greedy)).status).toBe(200);
  expect((await world.releases('mallory', greedy.pipeline, '1')).status).toBe(202);
  const { actions } = await world.ended(`${greedy.pipeline}/1`);
  expect(actions).toMatchObject([{ state: 'failed', message: expect.stringContaining('larger than 1 MiB') as string }]);
  const large = { reason: 'x'.repeat(2_000_000) };
  expect((await world.command('alice', 'freeze', shop.name, large)).status).toBe(413);
  const path = `${world.front.url}/v1/webhooks/github`;
  const headers = { 'content-encoding': 'gzip', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  expect((await fetch(path, { method: 'POST', headers, body: gzipSync(Buffer.alloc(64_000_000)) })).status).toBe(401);
  expect(await world.pipeline(shop.name)).toMatchObject({ frozen: null });
});

test('names cannot steer a terminal or a page of others', async () => {
  const hostile = TERMINAL_ATTACK;
  const reason = { reason: hostile };
  expect(await world.command('mallory', 'freeze', shop.name, reason)).toMatchObject(refusedWith(400, 'invalid-text'));
  await push(world.front, 'app', revision(4), undefined, { full_name: `evil/${hostile}` });
  await ask(world.front, 'POST', `/v1/pipelines/${encodeURIComponent(hostile)}/releases`, {}, 'guessed');
  const own = evil('page', { description: hostile });
  expect((await world.applies('mallory', own)).status).toBe(200);
  await world.command('mallory', 'freeze', own.pipeline, { reason: '# all is well [click](http://evil.example)' });
  const { currentDetails } = await world.stack.temporal.workflow
    .getHandle(workflowIds.pipeline(own.pipeline))
    .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('\\# all is well `[click](http://evil.example`)');
  const looks = [
    ['audit', '--limit', '1000', '-o', 'wide'],
    ['status', own.pipeline],
    ['list', 'pipelines', '-o', 'wide'],
  ];
  const seen = await Promise.all(looks.map((look) => world.types('carol', look)));
  expect(seen.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(seen[0]?.stdout).toContain('all is well');
  const { stdout, stderr } = world.front.process;
  for (const text of [...seen.map((one) => one.stdout), currentDetails, stdout(), stderr()])
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|^# FORGED/m);
});

test('and the record of all this holds, which only admins read whole', async () => {
  const verified = await world.types('carol', ['audit', '--verify']);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/✔ changes: \d+ records? holds?/)]);
  expect(verified.stdout).toMatch(/✔ refusals: \d+ records? holds?/);
  expect(await world.types('mallory', ['audit'])).toMatchObject({ code: 4, stdout: '' });
});
