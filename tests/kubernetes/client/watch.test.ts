import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConnection } from '../../../push-types/kubernetes/client/api';
import { ClusterView } from '../../../push-types/kubernetes/client/clusterView';
import { isKubernetesError } from '../../../push-types/kubernetes/client/errors';
import type { ClientSettings } from '../../../push-types/kubernetes/client/limits';
import { trimObject } from '../../../push-types/kubernetes/client/trim';
import { eventually } from '../../system/waiting';
import { connectTo } from '../fake/connect';
import { FakeApiServer } from '../fake/server';
import { FakeStore } from '../fake/store';

const opened: { close(): unknown }[] = [];
const ending = new Set<AbortController>();
afterEach(async () => {
  for (const each of ending) each.abort();
  ending.clear();
  for (const each of opened.splice(0)) await each.close();
});

interface World {
  readonly store: FakeStore;
  readonly server: FakeApiServer;
  readonly api: ClusterConnection;
}

async function openWorld(settings: Partial<ClientSettings> = {}, bookmarkMs = 60_000): Promise<World> {
  const store = new FakeStore();
  const server = await FakeApiServer.open({ store, bookmarkMs });
  const api = connectTo(server.url, settings);
  opened.push(api, server);
  return { store, server, api };
}

const addPod = (store: FakeStore, name: string, labels: Record<string, string> = { app: 'web' }) =>
  store.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels },
    spec: { containers: [] },
  });

const relabel = (store: FakeStore, name: string, labels: Record<string, string>): void =>
  void store.edit(store.get('Pod', 'shop', name)!, (draft) => (draft.metadata.labels = labels));

/** Collects events until the test ends. */
function collect({ api }: World, resourceVersion: string, labelSelector?: string) {
  const abort = new AbortController();
  ending.add(abort);
  const events: string[] = [];
  const options = { resourceVersion, signal: abort.signal, ...(labelSelector !== undefined && { labelSelector }) };
  const run = async (): Promise<void> => {
    for await (const event of api.watch('Pod', options))
      events.push(
        event.type === 'BOOKMARK' ? `BOOKMARK ${event.resourceVersion}` : `${event.type} ${event.object.metadata.name}`,
      );
  };
  const ended = run().then(
    () => 'ended',
    (error: unknown) => (isKubernetesError(error) ? error.kind : String(error)),
  );
  return { events, ended, stop: () => abort.abort() };
}

const see = (events: readonly string[], ...expected: readonly string[]) =>
  eventually(
    `${expected.join(', ')} in [${events.join(', ')}]`,
    async () => expected.every((one) => events.includes(one)),
    20_000,
  );

describe('a watch', () => {
  test('shows each change after a list once, and ends without an error when it is no longer wanted', async () => {
    const world = await openWorld();
    addPod(world.store, 'old');
    const { resourceVersion } = await world.api.list('Pod', {});
    const { events, ended, stop } = collect(world, resourceVersion);
    addPod(world.store, 'web');
    relabel(world.store, 'web', { app: 'api' });
    world.store.remove(world.store.get('Pod', 'shop', 'web')!);
    await see(events, 'DELETED web');
    stop();
    expect([await ended, events]).toEqual(['ended', ['ADDED web', 'MODIFIED web', 'DELETED web']]);
  });

  test('by labels shows an object that no longer matches as deleted', async () => {
    const world = await openWorld();
    const { events } = collect(world, '0', 'app=web');
    addPod(world.store, 'web');
    relabel(world.store, 'web', { app: 'api' });
    relabel(world.store, 'web', { app: 'web' });
    await see(events, 'DELETED web');
    expect(events).toEqual(['ADDED web', 'DELETED web', 'ADDED web']);
  });

  test('that is cut misses nothing: the next connection begins where the last one ended', async () => {
    const world = await openWorld();
    const { events } = collect(world, '0');
    for (const name of ['a', 'b', 'c', 'd']) {
      addPod(world.store, name);
      await see(events, `ADDED ${name}`);
      world.server.cutWatches();
    }
    expect(events).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
  });

  test('that the server ends in time begins again, and bookmarks keep its version fresh', async () => {
    const world = await openWorld({ watchSeconds: 0.4 }, 30);
    const { events } = collect(world, '0', 'app=web');
    // A pod that the watch does not show: only a bookmark has its version.
    addPod(world.store, 'other', { app: 'api' });
    await see(events, `BOOKMARK ${world.store.currentVersion}`);
    world.store.compact();
    const before = world.server.seen.length;
    await eventually('another connection', async () => world.server.seen.length > before, 20_000);
    addPod(world.store, 'web');
    await see(events, 'ADDED web');
    const timeouts = world.server.seen.map(({ path }) => Number(/timeoutSeconds=(\d+)/.exec(path)?.[1]));
    expect(timeouts.every((seconds) => seconds === 1)).toBe(true);
  });

  test('without a change of its kind gets no bookmark, however often others change', async () => {
    const world = await openWorld({}, 20);
    addPod(world.store, 'web');
    const { events } = collect(world, '0');
    await see(events, 'ADDED web');
    world.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await delay(200);
    expect(events).toEqual(['ADDED web']);
  });

  test('that falls silent ends with Gone, although its connection stays open: the caller lists again', async () => {
    const world = await openWorld({ watchIdleMs: 300 });
    const { ended } = collect(world, '0');
    await eventually('it is open', async () => world.server.openWatches === 1, 20_000);
    world.server.silenceWatches();
    addPod(world.store, 'web');
    expect(await ended).toBe('Gone');
  });

  test('is silent over all its connections: those that the server ends in time are no sign of life', async () => {
    const world = await openWorld({ watchIdleMs: 1_500, watchSeconds: 0.1 });
    expect(await collect(world, '0').ended).toBe('Gone');
    expect(world.server.seen.length).toBeGreaterThan(1);
  });

  test('whose version the server has forgotten ends with Gone: the caller lists again', async () => {
    const world = await openWorld();
    addPod(world.store, 'web');
    world.store.compact();
    expect(await collect(world, '1').ended).toBe('Gone');
    world.server.faults.add({ then: { kind: 'expired' } });
    expect(await collect(world, '1').ended).toBe('Gone');
  });

  test('without the right to it ends with Forbidden, and one of a server that is away waits', async () => {
    const world = await openWorld();
    const end = world.server.faults.add({ then: { kind: 'forbidden' } });
    expect(await collect(world, '0').ended).toBe('Forbidden');
    end();
    world.server.faults.add({ times: 3, then: { kind: 'broken', status: 503 } });
    const { events } = collect(world, '0');
    addPod(world.store, 'web');
    await see(events, 'ADDED web');
    expect(world.server.seen).toHaveLength(5);
  });

  test('waits longer after each failure, and never floods a server that ends each one at once', async () => {
    const world = await openWorld({ firstBackOffMs: 40, mostBackOffMs: 5_000 });
    world.server.faults.add({ then: { kind: 'broken', status: 500 } });
    collect(world, '0');
    await delay(700);
    // At least 20, 40, 80, 160 and 320 ms.
    expect(world.server.seen.length).toBeLessThanOrEqual(6);
    expect(world.server.seen.length).toBeGreaterThanOrEqual(2);
  });

  test('with an object beyond the limit fails and is tried again, and memory stays bounded', async () => {
    const world = await openWorld({ watchLineBytes: 200 });
    const { events } = collect(world, '0');
    addPod(world.store, 'large', { note: 'x'.repeat(60_000) });
    await eventually('it has tried again', async () => world.server.seen.length > 1, 20_000);
    expect(events).toEqual([]);
  });
});

describe('the view of a cluster', () => {
  const openView = (world: World, kinds: readonly ('Pod' | 'Node')[] = ['Pod']) => {
    const abort = new AbortController();
    ending.add(abort);
    const changes: string[] = [];
    let ageMs = 0;
    const view = new ClusterView(world.api, {
      ...{ kinds, namespace: 'shop', backOff: { firstMs: 10, mostMs: 50 } },
      ...{ onChange: (kind: string) => void changes.push(kind), now: () => Date.now() + ageMs },
    });
    const running = view.run(abort.signal);
    return { view, changes, running, stop: () => abort.abort(), age: (ms: number) => (ageMs += ms) };
  };
  const names = (view: ClusterView): string[] =>
    view
      .list('Pod')
      .map(({ metadata }) => metadata.name)
      .sort();

  test('follows additions, changes and deletions, and ends when it is no longer wanted', async () => {
    const world = await openWorld();
    addPod(world.store, 'a');
    const { view, changes, running, stop } = openView(world);
    expect([view.isComplete, view.whyStale()]).toEqual([false, 'Pods were never seen']);
    await eventually('it is complete', async () => view.isComplete, 20_000);
    addPod(world.store, 'b');
    relabel(world.store, 'a', { app: 'api' });
    await eventually(
      'both',
      async () => view.get({ kind: 'Pod', namespace: 'shop', name: 'a' })?.metadata.labels?.['app'] === 'api',
      20_000,
    );
    world.store.remove(world.store.get('Pod', 'shop', 'b')!);
    await eventually('one', async () => names(view).join() === 'a', 20_000);
    expect([changes.length, view.whyStale(), view.list('Pod', () => false)]).toEqual([4, undefined, []]);
    stop();
    await running;
  });

  test('lists again once the server has forgotten its version, so that it misses no deletion', async () => {
    const world = await openWorld();
    addPod(world.store, 'a');
    const { view } = openView(world);
    await eventually('it watches', async () => view.isComplete && world.server.openWatches === 1, 20_000);
    world.server.silenceWatches();
    world.store.remove(world.store.get('Pod', 'shop', 'a')!);
    addPod(world.store, 'b');
    world.store.compact();
    world.server.cutWatches();
    await eventually('it has caught up', async () => names(view).join() === 'b', 20_000);
  });

  test('stays fresh although nothing of its kind changes and its watches are silent', async () => {
    const world = await openWorld({ watchIdleMs: 300 });
    addPod(world.store, 'a');
    const { view, age } = openView(world);
    await eventually('it watches', async () => view.isComplete && world.server.openWatches === 1, 20_000);
    age(200_000);
    expect(view.whyStale()).toMatch(/^Pods were not for \d+ s seen/);
    await eventually('it is fresh again', async () => view.whyStale() === undefined, 20_000);
    expect(names(view)).toEqual(['a']);
  });

  test('shows the backup after an etcd was restored from it, and then each change', async () => {
    const world = await openWorld({ watchIdleMs: 300 });
    addPod(world.store, 'a');
    const restore = world.store.takeBackup();
    const { view } = openView(world);
    addPod(world.store, 'b');
    world.store.remove(world.store.get('Pod', 'shop', 'a')!);
    for (const app of ['one', 'two', 'three']) relabel(world.store, 'b', { app });
    await eventually('it has seen the changes', async () => names(view).join() === 'b', 20_000);
    restore();
    world.server.cutWatches();
    await eventually('it shows the backup', async () => names(view).join() === 'a', 20_000);
    addPod(world.store, 'c');
    await eventually('it shows the next change', async () => names(view).join() === 'a,c', 20_000);
  });

  test('shows of a server that is away the reason and the age, keeps the last state, and catches up', async () => {
    const world = await openWorld();
    addPod(world.store, 'a');
    const { view, age } = openView(world);
    await eventually('it watches', async () => view.isComplete && world.server.openWatches === 1, 20_000);
    const end = world.server.faults.add({ then: { kind: 'forbidden' } });
    world.server.cutWatches();
    age(200_000);
    await eventually('trouble', async () => view.whyStale()?.includes('give the account of Conveyor the verb'), 20_000);
    expect(view.whyStale()).toMatch(/^Pods were not for \d+ s seen: fake: may not (list|watch) pods in shop/);
    expect(names(view)).toEqual(['a']);
    end();
    addPod(world.store, 'b');
    await eventually('it has caught up', async () => names(view).join() === 'a,b', 20_000);
    expect(view.whyStale()).toBeUndefined();
  });

  test('does not answer for a kind that it does not follow', async () => {
    const { view } = openView(await openWorld());
    expect(() => view.list('Node')).toThrow('this view does not follow Node');
  });
});

describe('an object of the view', () => {
  const pod = {
    ...{ kind: 'Pod', apiVersion: 'v1' },
    metadata: {
      ...{ name: 'web-1', namespace: 'shop', uid: 'u', resourceVersion: '7', labels: { app: 'web' } },
      annotations: {
        'conveyor.dev/update': 'd/1',
        'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(5_000),
      },
      managedFields: [{ manager: 'kubectl', fieldsV1: {} }],
    },
    spec: {
      ...{ nodeName: 'n1', volumes: [{ name: 'v' }], readinessGates: [{ conditionType: 'g' }] },
      containers: [{ name: 'app', image: 'app:1', env: [{ name: 'A', value: 'b' }] }],
    },
    status: {
      ...{
        phase: 'Running',
        qosClass: 'Burstable',
        conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null }],
      },
      containerStatuses: [
        { name: 'app', image: 'app:1', imageID: 'app@sha256:1', restartCount: 2, ready: true, volumeMounts: [] },
      ],
    },
  };

  test('has its labels, images and states, in the form that the server gives, and not the rest', () => {
    expect(trimObject('Pod', pod)).toEqual({
      ...{ kind: 'Pod', apiVersion: 'v1' },
      metadata: {
        ...{ name: 'web-1', namespace: 'shop', uid: 'u', resourceVersion: '7', labels: { app: 'web' } },
        annotations: { 'conveyor.dev/update': 'd/1' },
      },
      spec: { nodeName: 'n1', readinessGates: [{ conditionType: 'g' }], containers: [{ name: 'app', image: 'app:1' }] },
      status: {
        ...{ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        containerStatuses: [{ name: 'app', image: 'app:1', imageID: 'app@sha256:1', restartCount: 2, ready: true }],
      },
    });
  });

  test('keeps of a template the images', () => {
    const template = { metadata: { labels: { app: 'web' } }, spec: pod.spec };
    const { spec } = trimObject('Deployment', { metadata: pod.metadata, spec: { replicas: 3, template } });
    expect(spec).toEqual({
      replicas: 3,
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          nodeName: 'n1',
          readinessGates: [{ conditionType: 'g' }],
          containers: [{ name: 'app', image: 'app:1' }],
        },
      },
    });
  });
});
