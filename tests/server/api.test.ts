import type { ConveyorClient } from '../../client/api';
import { guardClient } from '../../client/guard';
import { conveyorError } from '../../domain/errors';
import { DEPLOY_VERBS, PIPELINE_VERBS, RELEASE_VERBS } from '../../domain/verbs';
import type { FrontClient } from '../../server/deps';
import { toPipelineDocument } from '../../domain/pipeline/document';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { deploy, pipeline, release } from '../builders/cliSamples';
import { NOW, pipelineOf, specOf } from '../builders/pipelineWorld';
import { ACCESS, appOf, FakePipelines, TOKEN } from '../builders/serverWorld';

const BEARER = { authorization: `Bearer ${TOKEN}` };

const twice = ({ actions }: PipelineSpec): object => ({
  ...actions,
  after: { ...Object.values(actions)[0], needs: ['nobody'] },
});

const manyActions = (): object =>
  Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`a${n}`, { type: 'wait-for' }]));

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

const post = (body: unknown, headers: Record<string, string> = BEARER): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const failing = (error: Error): { client: FrontClient } => {
  const fail = () => Promise.reject(error);
  return { client: { ...new FakePipelines().client, release: fail, status: fail, command: fail } };
};

describe('a release that is asked for over HTTP', () => {
  const artifacts = [{ name: 'source', version: '12', metadata: { branch: 'main' } }];

  test('is started on behalf of the principal of the token, and answered with where to look', async () => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request('/v1/pipelines/kvstore/releases', post({ artifacts }));
    expect([response.status, response.headers.get('location')]).toEqual([202, '/v1/releases/kvstore/7']);
    expect(await response.json()).toEqual({ id: 'kvstore/7', number: 7, duplicate: false });
    expect(pipelines.calls).toEqual([
      [
        'release',
        'kvstore',
        [{ name: 'source', kind: 'source', version: '12', metadata: { branch: 'main' } }],
        { kind: 'api', actor: 'service:ci', key: null },
      ],
    ]);
  });

  test.each<[where: string, sent: Sent]>([
    ['in the header', { headers: { 'idempotency-key': 'build-7' }, body: { artifacts } }],
    ['in the body', { body: { artifacts, idempotencyKey: 'build-7' } }],
    ['in both', { headers: { 'idempotency-key': 'build-7' }, body: { artifacts, idempotencyKey: 'build-7' } }],
  ])('with one key %s is one release, with the same answer', async (_where, { headers, body }) => {
    const app = appOf();
    const send = () => app.request('/v1/pipelines/kvstore/releases', post(body, { ...BEARER, ...headers }));
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await second.json()).toEqual({ id: 'kvstore/7', number: 7, duplicate: true });
  });

  test.each<[what: string, init: RequestInit, status: number, says: RegExp]>([
    ['without a token', post({ artifacts }, {}), 401, /unauthorized.*no bearer token/],
    ['with a wrong token', post({ artifacts }, { authorization: 'Bearer guess' }), 401, /not one of the configured/],
    ['with half a token', post({ artifacts }, { authorization: `Bearer ${TOKEN.slice(0, 5)}` }), 401, /not one of the/],
    ['with another scheme', post({ artifacts }, { authorization: `Basic ${TOKEN}` }), 401, /no bearer token/],
    ['that is not JSON', post('{'), 400, /not JSON/],
    [
      'that nests as deep as its size allows',
      post('['.repeat(20_000) + ']'.repeat(20_000)),
      400,
      /nested more than 100 levels/,
    ],
    ['with an unknown key', post({ artifact: artifacts }), 400, /artifact/],
    [
      'with a version that is a number',
      post({ artifacts: [{ name: 'source', version: 12 }] }),
      400,
      /artifacts\.0\.version/,
    ],
    [
      'with a sequence that gives no order',
      post({ artifacts: [{ name: 'source', version: '12', metadata: { sequence: 'twelve' } }] }),
      400,
      /invalid-text.*sequence, of the artifact source.*is not a whole number from 0 on/,
    ],
    [
      'with a time of its commit that is none',
      post({ artifacts: [{ name: 'source', version: '12', metadata: { committedAt: 'last Friday' } }] }),
      400,
      /invalid-text.*committedAt, of the artifact source.*is not a time such as 2026-11-27T09:30:00Z/,
    ],
    ['with an actor of its own', post({ artifacts, actor: 'user:alice' }), 400, /actor/],
    ['with two keys', post({ artifacts, idempotencyKey: 'a' }, { ...BEARER, 'idempotency-key': 'b' }), 400, /differ/],
    ['that is too large', post({ artifacts, x: 'x'.repeat(1_048_577) }), 413, /1 MiB/],
  ])('%s is answered as such', async (_what, init, status, says) => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request('/v1/pipelines/kvstore/releases', init);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(says);
    expect(pipelines.calls).toEqual([]);
  });

  test('is closed if no token is configured', async () => {
    const app = appOf(undefined, { access: { ...ACCESS, tokens: [] } });
    expect(
      (await app.request('/v1/pipelines/kvstore/releases', post({ artifacts }, { authorization: 'Bearer ' }))).status,
    ).toBe(401);
    expect((await app.request('/v1/pipelines/kvstore/releases', post({ artifacts }))).status).toBe(401);
  });
});

describe('a rerun over HTTP', () => {
  test('is asked for by the principal of the token, and answered with where to look', async () => {
    const pipelines = new FakePipelines();
    const init = post({ reason: 'the test bed is up again' }, { ...BEARER, 'idempotency-key': 'ci-7' });
    const response = await appOf(pipelines).request('/v1/releases/kvstore/7/rerun', init);
    expect([response.status, response.headers.get('location')]).toEqual([202, '/v1/releases/kvstore/8']);
    expect(pipelines.calls).toEqual([
      ['rerun', 'kvstore', 7, { kind: 'api', actor: 'service:ci', reason: 'the test bed is up again', key: 'ci-7' }],
    ]);
  });

  test.each<[what: string, path: string, init: RequestInit, status: number]>([
    ['without a token', '/v1/releases/kvstore/7/rerun', post({}, {}), 401],
    ['of what is not a release', '/v1/releases/kvstore/x/rerun', post({}), 400],
    ['with a reason of two lines', '/v1/releases/kvstore/7/rerun', post({ reason: 'a\nb' }), 400],
    ['with a key that is too long', '/v1/releases/kvstore/7/rerun', post({ idempotencyKey: 'k'.repeat(201) }), 413],
  ])('%s is answered as such', async (_what, path, init, status) => {
    const pipelines = new FakePipelines();
    expect((await appOf(pipelines).request(path, init)).status).toBe(status);
    expect(pipelines.calls).toEqual([]);
  });
});

describe('a pipeline over HTTP', () => {
  const spec = specOf();
  const put = (body: unknown, headers: Record<string, string> = BEARER): RequestInit => ({
    ...post(body, headers),
    method: 'PUT',
  });

  test('is applied on behalf of the principal of the token', async () => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request('/v1/pipelines/kvstore', put(spec));
    expect([response.status, await response.json()]).toEqual([200, { created: true, previous: null }]);
    expect(pipelines.calls).toEqual([['apply', spec, 'service:ci']]);
  });

  test.each<[what: string, init: RequestInit, status: number, says: RegExp]>([
    ['without a token', put(spec, {}), 401, /unauthorized/],
    ['of another name', put({ ...spec, pipeline: 'other' }), 400, /the address names kvstore, the body other/],
    ['that is none', put({ pipeline: 'kvstore' }), 400, /owners/],
    ['that lint refuses', put({ ...spec, mutex: {}, actions: twice(spec) }), 400, /no action nobody/],
    [
      'that is not a spec inside',
      put({ ...spec, actions: { deploy: { type: 'deploy' } } }),
      400,
      /not a stored pipeline spec/,
    ],
    ['that is too large', put({ ...spec, description: 'x'.repeat(70_000) }), 413, /the pipeline as a whole/],
    ['with 4,000 actions', put({ ...spec, actions: manyActions() }), 413, /over-limit/],
  ])('%s is refused, and starts nothing', async (_what, init, status, says) => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request('/v1/pipelines/kvstore', init);
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(says)]);
    expect(pipelines.calls).toEqual([]);
  });

  test('a lost pipeline is put back on behalf of the principal of the token', async () => {
    const [pipelines, document] = [new FakePipelines(), toPipelineDocument(pipelineOf(), NOW)];
    const app = appOf(pipelines);
    expect((await app.request('/v1/pipelines/kvstore/import', post(document))).status).toBe(200);
    expect(pipelines.calls).toEqual([['importPipeline', document, 'service:ci']]);
    expect((await app.request('/v1/pipelines/other/import', post(document))).status).toBe(400);
    expect((await app.request('/v1/pipelines/kvstore/import', post({ kind: 'something' }))).status).toBe(400);
    expect((await app.request('/v1/pipelines/kvstore/import', post(document, {}))).status).toBe(401);
    const broken = { ...document, spec: { ...document.spec, actions: { deploy: { type: 'deploy' } } } };
    const answer = await app.request('/v1/pipelines/kvstore/import', post(broken));
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringMatching(/spec: not a spec as a pipeline/),
    ]);
    expect(pipelines.calls).toHaveLength(1);
  });

  const artifacts = [{ name: 'executable', version: 'kv:14' }];
  const given = [{ name: 'executable', kind: 'executable', version: 'kv:14', metadata: {} }];

  test('is pushed to in an emergency, with a reason', async () => {
    const pipelines = new FakePipelines();
    const body = { action: 'deploy', artifacts, reason: 'it loses writes', skipBake: true };
    const push = (over: object) => appOf(pipelines).request('/v1/pipelines/kvstore/pushes', post({ ...body, ...over }));
    const response = await push({ idempotencyKey: 'k' });
    expect([response.status, response.headers.get('location')]).toEqual([202, '/v1/releases/kvstore/9']);
    expect(await response.json()).toEqual({ id: 'kvstore/9', number: 9, duplicate: false, approvals: 1 });
    const how = { actor: 'service:ci', reason: 'it loses writes', skipBake: true, key: 'k' };
    expect(pipelines.calls).toEqual([['push', 'kvstore', 'deploy', given, how]]);
    expect((await push({ reason: undefined })).status).toBe(400);
    expect((await push({ actor: 'user:bob' })).status).toBe(400);
  });

  test('is brought what came into being elsewhere by its owners alone', async () => {
    const pipelines = new FakePipelines();
    const facts = { policy: null, groups: { bots: ['service:ci'] } };
    const submit = (owners: string[]) =>
      appOf(pipelines, {
        client: guardClient(
          { ...(pipelines.client as ConveyorClient), spec: () => Promise.resolve(specOf(['deploy'], { owners })) },
          () => facts,
          'api',
        ),
      }).request('/v1/pipelines/kvstore/submissions', post({ artifacts, idempotencyKey: 'k' }));
    expect((await submit(['user:alice'])).status).toBe(403);
    expect(pipelines.submissions).toEqual([]);
    expect((await submit(['group:bots'])).status).toBe(202);
    const trigger = { kind: 'webhook', actor: 'service:ci', key: 'k' };
    expect(pipelines.submissions).toEqual([{ pipeline: 'kvstore', artifacts: given, trigger }]);
  });
});

test('any caller with a token may have a run polled, by the id with its slashes', async () => {
  const pipelines = new FakePipelines();
  const response = await appOf(pipelines).request('/v1/runs/release/kvstore/7/test/1/look', post(''));
  expect([response.status, await response.json()]).toEqual([200, { look: 'looks' }]);
  expect(pipelines.calls).toEqual([['lookNow', 'release/kvstore/7/test/1']]);
  expect((await appOf().request('/v1/runs/release/kvstore/7/test/1/look', post('', {}))).status).toBe(401);
});

describe('a command over HTTP', () => {
  test.each<[path: string, id: string, verb: string, body: object]>([
    ['/v1/pipelines/kvstore/commands/hold', 'kvstore', 'hold', {}],
    ['/v1/pipelines/kvstore/commands/allow-artifact', 'kvstore', 'allow-artifact', { artifact: 'source@12' }],
    ['/v1/releases/kvstore/12/commands/pause', 'kvstore/12', 'pause', { noRevert: true }],
    ['/v1/releases/kvstore/12/commands/skip-bake', 'kvstore/12', 'skip-bake', {}],
    ['/v1/releases/kvstore/12/approve/commands/pick', 'kvstore/12/approve', 'pick', { approve: true }],
  ])('%s is given by the principal of the token', async (path, id, verb, body) => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request(path, post({ ...body, reason: 'it is time' }));
    expect(await response.json()).toEqual({ id, accepted: true, effect: 'it is so' });
    expect(pipelines.calls).toEqual([['command', id, verb, { ...body, reason: 'it is time', actor: 'service:ci' }]]);
  });

  test.each<[what: string, path: string, init: RequestInit, status: number, says: RegExp]>([
    ['without a token', '/v1/releases/kvstore/12/commands/pause', post({ reason: 'x' }, {}), 401, /unauthorized/],
    ['without a reason', '/v1/releases/kvstore/12/commands/pause', post({}), 400, /pause needs a reason/],
    ['without a body', '/v1/releases/kvstore/12/commands/pause', post(''), 400, /missing-reason/],
    ['with a blank reason', '/v1/releases/kvstore/12/commands/pause', post({ reason: ' ' }), 400, /reason/],
    [
      'on behalf of somebody',
      '/v1/releases/kvstore/12/commands/pause',
      post({ reason: 'x', actor: 'user:a' }),
      400,
      /actor/,
    ],
    ['that nobody knows', '/v1/releases/kvstore/12/commands/explode', post({ reason: 'x' }), 404, /no verb explode/],
    ['of a pipeline to a release', '/v1/releases/kvstore/12/commands/hold', post({ reason: 'x' }), 404, /no verb hold/],
    ['to what is not an id', '/v1/releases/kvstore/x/commands/pause', post({ reason: 'x' }), 400, /invalid-id/],
    [
      'to an id in disguise',
      '/v1/releases/kvstore%2F12/deploy/commands/pause',
      post({ reason: 'x' }),
      400,
      /invalid-id/,
    ],
  ])('%s is answered as such', async (_what, path, init, status, says) => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request(path, init);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(says);
    expect(pipelines.calls).toEqual([]);
  });
});

const LOOKING = [
  '/v1/pipelines/kvstore/spec',
  '/v1/pipelines/kvstore/export',
  '/v1/releases',
  '/v1/deploys',
  '/v1/releases/kvstore/7/test/logs?attempt=2',
];

describe('looking', () => {
  test.each([
    '/v1/pipelines',
    '/v1/pipelines/kvstore',
    '/v1/pipelines/kvstore/history',
    '/v1/finders',
    '/v1/releases/kvstore/7',
    '/v1/releases/kvstore/7/deploy',
    ...LOOKING,
  ])('%s needs no token, unless the configuration says so', async (path) => {
    expect((await appOf().request(path)).status).toBe(200);
    const pipelines = new FakePipelines();
    const closed = appOf(pipelines, { reads: 'authenticated' });
    for (const method of ['GET', 'HEAD'])
      expect([(await closed.request(path, { method })).status, pipelines.calls]).toEqual([401, []]);
    expect((await closed.request(path, { headers: BEARER })).status).toBe(200);
  });

  test.each(['/livez', '/readyz', '/metrics', '/openapi.json'])(
    '%s is for the operator of the server, and never needs a token',
    async (path) => expect((await appOf(undefined, { reads: 'authenticated' }).request(path)).status).toBe(200),
  );

  test.each([
    ['/v1/pipelines?pipeline=kvstore', 'listPipelines', { pipeline: 'kvstore', limit: 100 }],
    [
      '/v1/releases?pipeline=kvstore&state=running&limit=3',
      'listReleases',
      { pipeline: 'kvstore', state: 'running', limit: 3 },
    ],
    ['/v1/deploys?limit=7', 'listDeploys', { limit: 7 }],
  ])('%s asks as the command line does', async (path, ...call) => {
    const pipelines = new FakePipelines();
    await appOf(pipelines).request(path);
    expect(pipelines.calls).toEqual([call]);
  });

  test('a caller learns the identity and the groups of its token', async () => {
    const groups = { storage: ['service:ci', 'user:alice'], others: ['user:bob'] };
    expect(await (await appOf(undefined, { groups }).request('/v1/me', { headers: BEARER })).json()).toEqual({
      principal: 'service:ci',
      groups: ['group:storage'],
      door: 'token',
      expiresAt: null,
    });
    expect((await appOf().request('/v1/me')).status).toBe(401);
  });

  test('lists take a state and a limit', async () => {
    const pipelines = new FakePipelines();
    await appOf(pipelines).request('/v1/pipelines?state=held&limit=3');
    expect(pipelines.calls).toEqual([['listPipelines', { state: 'held', limit: 3 }]]);
    expect((await appOf().request('/v1/pipelines?limit=many')).status).toBe(400);
  });
});

describe('looking while no worker answers', () => {
  const silent = (id: string) => Promise.reject(conveyorError('no-worker', { id }));
  const world = (known: Partial<FrontClient>) => {
    const pipelines = new FakePipelines();
    const client = { ...pipelines.client, status: silent, history: silent, command: silent, ...known };
    return appOf(pipelines, { client });
  };
  const known: Partial<FrontClient> = {
    listPipelines: () => Promise.resolve([pipeline()]),
    listReleases: () => Promise.resolve([release(), release({ id: 'kvstore/12', number: 12 })]),
    listDeploys: () => Promise.resolve([deploy(), deploy({ id: 'kvstore/12/deploy' })]),
  };

  test.each([
    [
      '/v1/pipelines/kvstore',
      { id: 'kvstore', kind: 'pipeline', state: 'active', releases: [{ id: 'kvstore/13' }, {}] },
    ],
    [
      '/v1/releases/kvstore/12',
      { id: 'kvstore/12', kind: 'release', actions: [], deploys: [{ id: 'kvstore/12/deploy' }] },
    ],
    ['/v1/releases/kvstore/13/deploy', { id: 'kvstore/13/deploy', kind: 'deploy', state: 'baking', phases: [] }],
  ])('%s says what is known without, marks it and says why', async (path, expected) => {
    const answer = await world(known).request(path);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([200, '5']);
    const body = (await answer.json()) as { problem: string };
    expect(body).toMatchObject({ ...expected, live: false });
    expect(body.problem).toContain('no worker');
  });

  test('so does the history, row by row', async () => {
    const rows = await (await world(known).request('/v1/pipelines/kvstore/history')).json();
    expect(rows).toMatchObject([
      { id: 'kvstore/13', live: false },
      { id: 'kvstore/12', live: false },
    ]);
  });

  test.each(['/v1/pipelines/kvstore', '/v1/pipelines/kvstore/history', '/v1/releases/kvstore/12'])(
    '%s?live=true says nothing that may be old',
    async (path) => {
      const answer = await world(known).request(`${path}?live=true`);
      expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'no-worker' } }]);
    },
  );

  test('an unknown id, and a command, are 503 as before', async () => {
    expect((await world({}).request('/v1/pipelines/kvstore')).status).toBe(503);
    expect((await world({}).request('/v1/pipelines/kvstore/history')).status).toBe(503);
    const command = { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` }, body: '{"reason":"r"}' };
    expect((await world(known).request('/v1/pipelines/kvstore/commands/hold', command)).status).toBe(503);
  });
});

describe('each failure has the status that shows which side has to act', () => {
  test.each([
    ['unknown-pipeline', conveyorError('unknown-pipeline', { pipeline: 'kvstore' }), 404],
    ['unknown-release', conveyorError('unknown-release', { id: 'kvstore/7' }), 404],
    ['not-permitted', conveyorError('not-permitted', { actor: 'service:ci', pipeline: 'kvstore' }), 403],
    ['invalid-state', conveyorError('invalid-state', { verb: 'pause', id: 'kvstore/7', why: 'it has ended' }), 409],
    [
      'digest-changed',
      conveyorError('digest-changed', { artifact: 'a@1#b', pipeline: 'kvstore', known: 'c', from: 'release 7' }),
      409,
    ],
    ['known-bad', conveyorError('known-bad', { artifact: 'source@12', pipeline: 'kvstore', since: 'today' }), 409],
    ['missing-artifact', conveyorError('missing-artifact', { pipeline: 'kvstore', names: ['source'] }), 422],
    ['unknown-artifact', conveyorError('unknown-artifact', { pipeline: 'kvstore', name: 'x', known: ['source'] }), 422],
    ['temporal-unreachable', conveyorError('temporal-unreachable', { address: 'x:1', detail: 'refused' }), 503],
    ['no-worker', conveyorError('no-worker', { id: 'kvstore/7' }), 503],
  ])('%s', async (_code, error, status) => {
    const response = await appOf(undefined, failing(error)).request('/v1/pipelines/kvstore/releases', post({}));
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '5' : null);
    const { code, message, hint, retryable, exit } = error;
    expect(await response.json()).toEqual({ error: { code, message, hint, retryable, exit } });
  });

  test('a defect is 500, with its cause in the log and nothing of it for the client', async () => {
    const log = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const response = await appOf(undefined, failing(new Error('secret detail'))).request('/v1/releases/kvstore/7');
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret detail')]);
    expect(log).toHaveBeenCalledWith(expect.stringContaining('secret detail'));
    log.mockRestore();
  });
});

interface Document {
  readonly openapi: string;
  readonly paths: Record<
    string,
    Record<string, { parameters: { name: string; schema: { enum?: string[] } }[]; security?: object[] }>
  >;
}

describe('/openapi.json', () => {
  const document = async (): Promise<Document> => (await appOf().request('/openapi.json')).json() as Promise<Document>;

  test('says which operations need a token: who you are, the audit, and all that change something, except signed deliveries', async () => {
    const { paths } = await document();
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map((it) => [path, ...it] as const),
    );
    for (const [path, method, { security }] of operations)
      expect([path, security !== undefined]).toEqual([
        path,
        path === '/v1/me' || path.startsWith('/v1/audit') || (method !== 'get' && !path.includes('webhooks')),
      ]);
    const closed = (await (
      await appOf(undefined, { reads: 'authenticated' }).request('/openapi.json')
    ).json()) as Document;
    expect(closed.paths['/v1/finders']?.['get']?.security).toEqual([{ token: [] }]);
  });

  test('lists the verbs that there are', async () => {
    const { paths } = await document();
    const verbs = (path: string) => paths[path]?.['post']?.parameters.find(({ name }) => name === 'verb')?.schema.enum;
    expect(verbs('/v1/pipelines/{name}/commands/{verb}')).toEqual([...PIPELINE_VERBS]);
    expect(verbs('/v1/releases/{pipeline}/{n}/commands/{verb}')).toEqual([
      ...new Set([...RELEASE_VERBS, ...DEPLOY_VERBS]),
    ]);
  });
});
