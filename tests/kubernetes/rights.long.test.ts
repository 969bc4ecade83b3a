import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { RESOURCES, type ResourceKind } from '../../push-types/kubernetes/client/resources';
import { clustersFileSchema, podsConfigSchema, WORKLOAD_KINDS } from '../../push-types/kubernetes/settings';
import { CLUSTER_RIGHTS, listNeededRights } from '../../push-types/kubernetes/refusals';
import { parsePipeline } from '../../domain/spec/parse';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld } from '../builders/kubeWorld';

const EXAMPLE = join(__dirname, '../../examples/kubernetes');
const read = (name: string): string => readFileSync(join(EXAMPLE, name), 'utf8');

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const granted = (): ReadonlySet<string> =>
  new Set(
    parseAllDocuments(read('rbac.yaml')).flatMap((document) => {
      const { rules = [] } = document.toJS() as { rules?: readonly Rule[] };
      return rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
        ),
      );
    }),
  );

/** Notes each request of the push type in the language of RBAC. */
function recordRights(world: KubeWorld, used: Set<string>): void {
  const note = (verb: string, kind: ResourceKind, subresource?: string): void => {
    const { apiVersion, plural } = RESOURCES[kind];
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    // Every account may ask for its own rights.
    if (kind !== 'SelfSubjectAccessReview')
      used.add(`${verb} ${group}/${plural}${subresource === undefined ? '' : `/${subresource}`}`);
  };
  world.wrap = (api) => ({
    get: (ref) => (note('get', ref.kind), api.get(ref)),
    list: (kind, options) => (note('list', kind), api.list(kind, options)),
    patch: (ref, patch, options) => (note('patch', ref.kind, options.subresource), api.patch(ref, patch, options)),
    create: (kind, object, options) => (note('create', kind, options?.subresource), api.create(kind, object, options)),
    remove: (ref, options) => (note('delete', ref.kind), api.remove(ref, options)),
    watch: (kind, options) => (note('watch', kind), api.watch(kind, options)),
  });
}

test('the Role of the example grants exactly the verbs that deploys, completions and reverts use', async () => {
  const used = new Set<string>();
  for (const kind of WORKLOAD_KINDS) {
    const podSpec = { readinessGates: [{ conditionType: 'conveyor.dev/serving' }] };
    const world = await KubeWorld.make({
      kind,
      workloads: {},
      podSpec,
      isViewed: true,
      ...{ rules: [{ image: /kv:5/, neverReady: true }], startTimeoutMs: 3_000 },
      config: { drain: '1ms', workloads: [{ kind, namespace: 'shop', name: 'web' }] },
      ...(kind === 'DaemonSet' && { nodes: ['node-0', 'node-1'] }),
    });
    try {
      recordRights(world, used);
      await world.deploy('web', 2);
      await world.until('the pods are there', async () => (await world.pods('web')).length === 2);
      const deploys = new KubeDeploys(world);
      expect((await deploys.call('validateConfig', {})).problems).toEqual([]);
      const forward = await deploys.push('web', 'kv:2', { whole: true });
      const follow = async (id: string, end = 'done'): Promise<void> => {
        await world.until(
          `${id} is ${end}`,
          async () => {
            await world.step();
            return (await deploys.track(id))?.state === end;
          },
          60_000,
        );
      };
      await follow(forward);
      await follow(await deploys.push('web', 'kv:1', { updatedBy: [forward] }));
      const { drain: _, ...config } = world.config;
      world.useConfig({ ...config, mode: 'recreate' });
      await deploys.unit('web');
      await follow(await deploys.push('web', 'kv:4', { count: 1 }));
      const bad = await deploys.push('web', 'kv:5', { count: 1 });
      await follow(bad, 'failed');
      await follow(await deploys.push('web', 'kv:4', { updatedBy: [bad] }));
      world.useConfig(undefined);
      await deploys.unit('web');
      // A rollout by hand leaves a ReplicaSet behind that equals the next version.
      if (kind === 'Deployment') {
        const ref = { kind, namespace: 'shop', name: 'web' } as const;
        const roll = (image: string) =>
          world.cluster.api.patch(
            ref,
            { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } },
            { type: 'strategic' },
          );
        await roll('kv:3');
        await world.until(
          'their rollout ends',
          async () => (await world.step(), (await world.images('web')).join() === 'kv:3,kv:3'),
          60_000,
        );
        await follow(await deploys.push('web', 'kv:1', { whole: true }));
      }
    } finally {
      await world.close();
    }
  }
  expect([...used].sort()).toEqual([...granted()].sort());
}, 300_000);

test('the rights that are checked before a deploy are those of the Role', () => {
  const needed = [
    ...CLUSTER_RIGHTS,
    ...WORKLOAD_KINDS.flatMap((kind) => listNeededRights(kind, { hasGate: true, mode: 'recreate' })),
  ].flatMap(({ group, resource, subresource, verbs }) =>
    verbs.map((verb) => `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`}`),
  );
  expect([...new Set(needed)].sort()).toEqual([...granted()].sort());
});

test('the other files of the example are valid', () => {
  expect(clustersFileSchema.safeParse(parse(read('clusters.yaml'))).success).toBe(true);
  expect(parsePipeline(read('pipeline.yaml')).problems).toEqual([]);
  const { actions } = parse(read('pipeline.yaml')) as { actions: { deploy: { with: { config: unknown } } } };
  expect(podsConfigSchema.safeParse(actions.deploy.with.config).success).toBe(true);
  const [config] = parseAllDocuments(read('push-type.yaml')).map(
    (document) => document.toJS() as { data?: Record<string, string> },
  );
  expect(clustersFileSchema.safeParse(parse(config?.data?.['clusters.yaml'] ?? '')).success).toBe(true);
});
