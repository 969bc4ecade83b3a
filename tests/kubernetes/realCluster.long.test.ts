import type { ClusterConnection } from '../../push-types/kubernetes/client/api';
import { ClusterView } from '../../push-types/kubernetes/client/clusterView';
import { eventually } from '../system/waiting';
import { FakeKubelet } from './fake/kubelet';
import { findControlPlane, RealControlPlane } from './realControlPlane';
import { RULES } from './rules';
import { RuleWorld } from './ruleWorld';

/** The rules of tests/kubernetes/rules.ts, and the client, against the real etcd, API server, controllers and scheduler. */
const program = findControlPlane();
if (program === undefined)
  process.stderr.write(
    '\nSKIPPED: tests/kubernetes/realCluster.long.test.ts needs the control plane of Kubernetes, which scripts/control-plane.sh builds once (with Go, in ' +
      'a quarter of an hour), or CONVEYOR_CONTROL_PLANE. Nothing proves here that the fake cluster behaves as a real one.\n\n',
  );
const withControlPlane = program === undefined ? describe.skip : describe;

const NODES = ['node-0', 'node-1', 'node-2'];

withControlPlane('in a real cluster', () => {
  let plane: RealControlPlane;
  let api: ClusterConnection;
  let kubelet: FakeKubelet;

  beforeAll(async () => {
    plane = await RealControlPlane.start(program ?? '');
    api = plane.connect();
    kubelet = await FakeKubelet.start({ api: plane.connect(), nodes: NODES });
  });
  afterAll(async () => {
    await kubelet?.stop();
    await plane?.stop();
  });

  const openWorld = (): RuleWorld => new RuleWorld({ api, kubelet, nodes: NODES, reactionMs: 700 });

  test.each(RULES.map(({ title, story }) => [title, story] as const))('%s', async (_, story) => {
    const world = openWorld();
    await story(world);
    await world.clear();
  });

  test('the client reads the version, and the rights of a user without any', async () => {
    expect(await api.readVersion()).toEqual([1, 37]);
    const stranger = plane.connect('stranger');
    await expect(stranger.list('Pod', { namespace: 'shop' })).rejects.toMatchObject({
      ...{
        kind: 'Forbidden',
        message: expect.stringMatching(/^real: may not list pods in shop: .*"stranger" cannot list/),
      },
    });
    const spec = { resourceAttributes: { namespace: 'shop', verb: 'patch', resource: 'pods' } };
    expect((await stranger.create('SelfSubjectAccessReview', { spec })).status).toMatchObject({ allowed: false });
    expect((await api.create('SelfSubjectAccessReview', { spec })).status).toMatchObject({ allowed: true });
    await expect(
      stranger
        .watch('Pod', { resourceVersion: '0', signal: new AbortController().signal })
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  test('a field that GitOps owns is refused without force, naming the owner, and a manifest without the field keeps ours', async () => {
    const world = openWorld();
    const manifest = (containers: object[]): object => ({
      metadata: { name: world.name },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: { app: world.name } } },
        template: { metadata: { labels: { app: world.name } }, spec: { containers } },
      },
    });
    const git = { fieldManager: 'argocd-controller' };
    const ref = world.ref('Deployment');
    const env = [{ name: 'A', value: 'b' }];
    await api.apply(ref, manifest([{ name: 'app', image: 'app:v1', env }]), git);
    const ours = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v2' }] } } } };
    await expect(api.apply(ref, ours)).rejects.toMatchObject({
      kind: 'Conflict',
      message: expect.stringContaining('argocd-controller'),
    });
    await api.apply(ref, ours, { force: true });
    const kept = await api.apply(ref, manifest([{ name: 'app', env }]), git);
    expect(JSON.stringify(kept.spec)).toContain('"image":"app:v2"');
    await world.clear();
  });

  test('an image may leave the manifest of GitOps once we own it too; before that, the server refuses the manifest', async () => {
    const world = openWorld();
    const git = { fieldManager: 'kustomize-controller' };
    const ref = world.ref('Deployment');
    const env = [{ name: 'A', value: 'b' }];
    const manifest = (containers: object[]): object => ({
      metadata: { name: world.name },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: { app: world.name } } },
        template: { metadata: { labels: { app: world.name } }, spec: { containers } },
      },
    });
    await api.apply(ref, manifest([{ name: 'app', image: 'app:v1', env }]), git);
    await expect(api.apply(ref, manifest([{ name: 'app', env }]), git)).rejects.toMatchObject({
      kind: 'Invalid',
      message: expect.stringContaining('image: Required value'),
    });
    // The image that is already there, so without force.
    await api.apply(ref, { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v1' }] } } } });
    const kept = await api.apply(ref, manifest([{ name: 'app', env }]), git);
    expect(JSON.stringify(kept.spec)).toContain('"image":"app:v1"');
    await world.clear();
  });

  test('a list of many pages is complete, and the view follows the cluster from it', async () => {
    const world = openWorld();
    const view = new ClusterView(api, { kinds: ['Pod', 'Deployment', 'Node'], namespace: 'shop' });
    const abort = new AbortController();
    const running = view.run(abort.signal);
    await world.createWorkload('Deployment', { replicas: 40 });
    await world.settle(40);
    const ofWorld = () => view.list('Pod', ({ metadata }) => metadata.labels?.['app'] === world.name);
    await eventually('the view has them', async () => view.isComplete && ofWorld().length === 40);
    expect(view.list('Node')).toHaveLength(3);
    await world.patch('Deployment', { spec: { replicas: 0 } });
    await eventually('the view has none', async () => ofWorld().length === 0);
    abort.abort();
    await running;
    await world.clear();
  });
});
