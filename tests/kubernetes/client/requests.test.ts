import type { ClusterConnection } from '../../../push-types/kubernetes/client/api';
import { isKubernetesError, type KubernetesError } from '../../../push-types/kubernetes/client/errors';
import type { ClientSettings } from '../../../push-types/kubernetes/client/limits';
import { connectTo } from '../fake/connect';
import type { Fault } from '../fake/faults';
import { FakeApiServer } from '../fake/server';
import { FakeStore } from '../fake/store';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

interface World {
  readonly store: FakeStore;
  readonly server: FakeApiServer;
  readonly api: ClusterConnection;
}

/** A server without controllers, with some pods `web-0`, `web-1`, … */
async function openWorld(pods = 1, settings: Partial<ClientSettings> = {}): Promise<World> {
  const store = new FakeStore();
  store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  for (let index = 0; index < pods; index += 1)
    store.create({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name: `web-${index}`, namespace: 'shop', labels: { app: index % 2 === 0 ? 'web' : 'api' } },
      spec: {
        containers: [
          { name: 'app', image: 'app:1' },
          { name: 'log', image: 'log:1' },
        ],
      },
    });
  const server = await FakeApiServer.open({ store, mayDo: (verb, resource) => `${verb} ${resource}` !== 'patch pods' });
  const api = connectTo(server.url, settings);
  opened.push(api, server);
  return { store, server, api };
}

const POD = { kind: 'Pod', namespace: 'shop', name: 'web-0' } as const;
const image = (value: string) => ({ spec: { containers: [{ name: 'app', image: value }] } });
const STRATEGIC = { type: 'strategic' } as const;

const fail = async (work: Promise<unknown>): Promise<KubernetesError> => {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!isKubernetesError(error)) throw new Error(`no error of Kubernetes: ${String(error)}`);
  return error;
};

describe('requests', () => {
  test('read one object, and undefined where there is none', async () => {
    const { api } = await openWorld();
    expect((await api.get(POD))?.metadata).toMatchObject({ name: 'web-0', namespace: 'shop', labels: { app: 'web' } });
    expect(await api.get({ ...POD, name: 'web-9' })).toBeUndefined();
  });

  test('list all pages of one moment, and select by labels', async () => {
    const { api, server, store } = await openWorld(25, { pageSize: 10 });
    const { items, resourceVersion } = await api.list('Pod', { namespace: 'shop' });
    expect(items.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`)).toEqual(items.map(() => 'v1 Pod'));
    expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(25);
    expect(resourceVersion).toBe(String(store.currentVersion));
    expect(server.seen).toHaveLength(3);
    expect((await api.list('Pod', { labelSelector: 'app in (api),app!=web' })).items).toHaveLength(12);
    expect((await api.list('Node', {})).items).toEqual([]);
  });

  test('list from the beginning if the server forgets the moment between two pages, and give up if it always does', async () => {
    const { api, server } = await openWorld(5, { pageSize: 3 });
    server.faults.add({ path: /continue=/, times: 2, then: { kind: 'expired' } });
    expect((await api.list('Pod', {})).items).toHaveLength(5);
    expect(server.seen.filter(({ path }) => !path.includes('continue='))).toHaveLength(3);
    server.faults.add({ path: /continue=/, then: { kind: 'expired' } });
    expect((await fail(api.list('Pod', {}))).kind).toBe('Gone');
  });

  test('refuse a list that is longer than allowed', async () => {
    const { api } = await openWorld(12, { listItems: 10 });
    expect((await fail(api.list('Pod', {}))).message).toContain('there are more than 10; select fewer by labels');
  });

  test('patch one container and leave the others, by strategic merge', async () => {
    const { api } = await openWorld();
    const { spec, metadata } = await api.patch(POD, image('app:2'), STRATEGIC);
    expect(spec?.['containers']).toEqual([
      { name: 'app', image: 'app:2' },
      { name: 'log', image: 'log:1' },
    ]);
    expect(metadata.generation).toBe(2);
  });

  test('patch by merge, by operations, and apply', async () => {
    const { api } = await openWorld();
    const merged = await api.patch(POD, { metadata: { labels: { tier: 'a', app: null } } }, { type: 'merge' });
    expect(merged.metadata.labels).toEqual({ tier: 'a' });
    const operations = [{ op: 'replace', path: '/metadata/labels/tier', value: 'b' }];
    expect((await api.patch(POD, operations, { type: 'json' })).metadata.labels).toEqual({ tier: 'b' });
    const applied = await api.apply(POD, { metadata: { name: 'web-0', labels: { tier: 'c' } } }, { force: true });
    expect(applied.metadata.labels).toEqual({ tier: 'c' });
  });

  test('change nothing in a dry run', async () => {
    const { api, store } = await openWorld();
    const before = store.currentVersion;
    await api.patch(POD, image('app:2'), { ...STRATEGIC, dryRun: true });
    await api.create('Pod', { metadata: { name: 'dry' } }, { namespace: 'shop', dryRun: true });
    expect(store.currentVersion).toBe(before);
  });

  test('that change something overtake those that only look, and leave every fifth turn to these', async () => {
    const { api, server } = await openWorld(1, { inFlight: 1 });
    const looks = Array.from({ length: 6 }, () => api.get(POD));
    const changes = Array.from({ length: 6 }, (_, index) => api.patch(POD, image(`app:${index}`), STRATEGIC));
    const review = api.create('SelfSubjectAccessReview', { spec: { resourceAttributes: { verb: 'get' } } });
    await Promise.all([...looks, ...changes, review]);
    const [first, ...others] = server.seen.map(({ method }) => method);
    expect(first).toBe('GET');
    expect(others.join(' ')).toBe('PATCH PATCH PATCH PATCH GET PATCH PATCH GET GET GET GET POST');
  });

  test('name a path that a name would lead astray as a mistake, before they are sent', async () => {
    const { api, server } = await openWorld();
    await expect(api.get({ ...POD, name: '../../secrets/x' })).rejects.toThrow(/is no name of a Kubernetes object/);
    await expect(api.get({ kind: 'Pod', name: 'web-0' })).rejects.toThrow('Pod web-0 needs a namespace');
    expect(server.seen).toEqual([]);
  });

  test('remove an object once, and only the one that is meant', async () => {
    const { api, store } = await openWorld();
    expect((await fail(api.remove(POD, { uid: 'another' }))).kind).toBe('Conflict');
    const uid = (await api.get(POD))?.metadata.uid ?? '';
    await api.remove(POD, { uid });
    await api.remove(POD);
    expect(store.list('Pod')).toEqual([]);
  });

  test('ask for rights and for the version', async () => {
    const { api } = await openWorld();
    const ask = async (verb: string) =>
      api.create('SelfSubjectAccessReview', { spec: { resourceAttributes: { verb, resource: 'pods' } } });
    expect((await ask('patch')).status).toEqual({ allowed: false });
    expect((await ask('get')).status).toEqual({ allowed: true });
    expect(await api.readVersion()).toEqual([1, 37]);
  });
});

describe('a failure has a kind that a caller can act on, and names the cluster, the verb and the object', () => {
  const POD_PATCH = (api: ClusterConnection) => api.patch(POD, image('app:2'), STRATEGIC);
  const rows: [string, Fault['then'], KubernetesError['kind'], RegExp][] = [
    [
      'missing rights',
      { kind: 'forbidden' },
      'Forbidden',
      /^fake: may not patch Pod shop\/web-0: .*give the account of Conveyor the verb patch for pods in namespace shop$/,
    ],
    [
      'a quota',
      { kind: 'quota', message: 'pods' },
      'Forbidden',
      /^fake: cannot patch Pod shop\/web-0: exceeded quota: pods$/,
    ],
    [
      'a webhook',
      { kind: 'webhook', name: 'signed', message: 'no signature' },
      'Forbidden',
      /admission webhook "signed" denied the request: no signature/,
    ],
    [
      'refused credentials',
      { kind: 'unauthorized' },
      'Unauthorized',
      /does not accept our credentials \(patch Pod shop\/web-0\)/,
    ],
    [
      'a broken server',
      { kind: 'broken', status: 500 },
      'Unavailable',
      /cannot patch Pod shop\/web-0: <html>the proxy has no upstream/,
    ],
    ['a server that is away', { kind: 'broken', status: 503 }, 'Unavailable', /no upstream/],
    ['a cut connection', { kind: 'drop', when: 'before' }, 'Unavailable', /socket hang up/],
    ['an answer that is lost', { kind: 'drop', when: 'after' }, 'Unavailable', /socket hang up/],
    ['a busy server', { kind: 'tooMany', retryAfter: 3_600 }, 'TooMany', /Too many requests/],
  ];
  test.each(rows)('%s', async (_, then, kind, message) => {
    const { api, server } = await openWorld();
    server.faults.add({ method: 'PATCH', then });
    const error = await fail(POD_PATCH(api));
    expect([error.kind, error.verb]).toEqual([kind, 'patch']);
    expect(error.message).toMatch(message);
  });

  test('a stale version', async () => {
    const { api } = await openWorld();
    const { resourceVersion } = (await api.get(POD))?.metadata ?? {};
    const patch = { ...image('app:2'), metadata: { resourceVersion } };
    await api.patch(POD, patch, STRATEGIC);
    expect(await fail(api.patch(POD, { ...patch, ...image('app:3') }, STRATEGIC))).toMatchObject({
      ...{ kind: 'Conflict', status: 409, reason: 'Conflict' },
    });
  });

  test('a name that is taken, an object that is gone, a field that may not change', async () => {
    const { api } = await openWorld();
    expect((await fail(api.create('Pod', { metadata: { name: 'web-0' } }, { namespace: 'shop' }))).kind).toBe(
      'AlreadyExists',
    );
    expect((await fail(api.patch({ ...POD, name: 'x' }, image('a'), STRATEGIC))).kind).toBe('NotFound');
    const command = { spec: { containers: [{ name: 'app', command: ['sh'] }] } };
    expect(await fail(api.patch(POD, command, STRATEGIC))).toMatchObject({
      ...{ kind: 'Invalid', causes: ['FieldValueInvalid'] },
      message: expect.stringContaining('pod updates may not change fields other than `spec.containers[*].image`'),
    });
  });

  test('an answer that is no object of Kubernetes', async () => {
    const { api, server } = await openWorld();
    server.faults.add({ then: { kind: 'broken', status: 502, body: '' } });
    expect((await fail(api.get(POD))).message).toBe('fake: cannot get Pod shop/web-0: HTTP 502');
  });

  test('nothing at this address', async () => {
    const api = connectTo('http://127.0.0.1:1');
    opened.push(api);
    expect(await fail(api.get(POD))).toMatchObject({ kind: 'Unavailable', status: null });
  });
});

describe('a server that is busy or slow', () => {
  test('gets the request again after the time that it named, and the caller notices nothing', async () => {
    const { api, server } = await openWorld();
    server.faults.add({ times: 1, then: { kind: 'tooMany', retryAfter: 1 } });
    server.faults.add({ times: 1, then: { kind: 'broken', status: 503, retryAfter: 0 } });
    expect((await api.get(POD))?.metadata.name).toBe('web-0');
    expect(server.seen).toHaveLength(3);
    expect(server.seen[1]!.atMs - server.seen[0]!.atMs).toBeGreaterThanOrEqual(990);
  });

  test('is given up after four tries, and at once if it wants more than 30 s', async () => {
    const { api, server } = await openWorld();
    server.faults.add({ then: { kind: 'tooMany', retryAfter: 0 } });
    expect((await fail(api.get(POD))).kind).toBe('TooMany');
    expect(server.seen).toHaveLength(4);
    server.faults.clear();
    server.faults.add({ then: { kind: 'tooMany', retryAfter: 31 } });
    expect((await fail(api.get(POD))).retryAfterMs).toBe(31_000);
    expect(server.seen).toHaveLength(5);
  });

  test('is not asked again by itself after a failure that may have changed something', async () => {
    const { api, server, store } = await openWorld();
    server.faults.add({ method: 'PATCH', then: { kind: 'drop', when: 'after' } });
    expect((await fail(api.patch(POD, image('app:2'), STRATEGIC))).kind).toBe('Unavailable');
    expect(server.seen.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
    // It was executed, which only a fresh read shows.
    expect(store.get('Pod', 'shop', 'web-0')?.spec['containers']).toEqual(
      expect.arrayContaining([{ name: 'app', image: 'app:2' }]),
    );
  });

  test('may close a connection that was kept open: a read is repeated on another one, a write is not', async () => {
    const { api, server } = await openWorld();
    await api.get(POD);
    server.faults.add({ times: 1, then: { kind: 'drop', when: 'before' } });
    expect((await api.get(POD))?.metadata.name).toBe('web-0');
    expect(server.seen).toHaveLength(3);
    server.faults.add({ times: 1, then: { kind: 'drop', when: 'before' } });
    expect((await fail(api.patch(POD, image('app:2'), STRATEGIC))).kind).toBe('Unavailable');
    expect(server.seen).toHaveLength(4);
  });

  test('holds a request no longer than its time', async () => {
    const { api, server } = await openWorld(1, { requestMs: 100 });
    server.faults.add({ then: { kind: 'slow', ms: 2_000 } });
    expect((await fail(api.get(POD))).message).toContain('no answer within 100 ms');
  });

  test('fills no memory with an endless answer', async () => {
    const { api } = await openWorld(20, { answerBytes: 1_000 });
    expect((await fail(api.list('Pod', {}))).message).toContain('the answer has more than 1000 bytes');
  });

  test('is asked as often as permitted and no more, whatever the caller does', async () => {
    const { api, server } = await openWorld(1, { requestsPerSecond: 20, inFlight: 4 });
    server.faults.add({ then: { kind: 'slow', ms: 20 } });
    await Promise.all(Array.from({ length: 45 }, () => api.get(POD)));
    const times = server.seen.map(({ atMs }) => atMs).sort((a, b) => a - b);
    // The 21st begins a second after the first, give or take the delivery.
    expect(times[20]! - times[0]!).toBeGreaterThan(900);
    expect(times[40]! - times[20]!).toBeGreaterThan(900);
    expect(server.mostInFlight).toBeLessThanOrEqual(4);
  });
});
