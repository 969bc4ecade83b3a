import { setTimeout as delay } from 'node:timers/promises';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { progressOf } from '../../sdk/updates';
import { ViewedReader } from '../../push-types/kubernetes/viewedReader';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../push-types/kubernetes/settings';
import type { ClusterConnection } from '../../push-types/kubernetes/client/api';
import { tryCheck } from '../../sdk/conform/check';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld } from '../builders/kubeWorld';
import { FakeKubelet } from './fake/kubelet';
import { findControlPlane, RealControlPlane } from './realControlPlane';

/** The push type against real controllers; only the kubelets are fake. */
const program = findControlPlane();
if (program === undefined)
  process.stderr.write(
    '\nSKIPPED: tests/kubernetes/realPushType.long.test.ts needs the control plane of Kubernetes (scripts/control-plane.sh). Nothing proves here that ' +
      'real controllers restart no pod after a completion.\n\n',
  );
const withControlPlane = program === undefined ? describe.skip : describe;
const NODES = Array.from({ length: 8 }, (_, index) => `node-${index}`);
const SIZE = 6;

withControlPlane('on a real control plane', () => {
  let plane: RealControlPlane;
  let api: ClusterConnection;
  let kubelet: FakeKubelet;
  let world: KubeWorld | undefined;
  let count = 0;

  beforeAll(async () => {
    plane = await RealControlPlane.start(program ?? '');
    api = plane.connect();
    kubelet = await FakeKubelet.start({
      api: plane.connect(),
      nodes: NODES,
      rules: [{ image: /dead/, pullError: true }],
    });
  }, 120_000);
  afterEach(() => world?.close(), 60_000);
  afterAll(async () => {
    await kubelet?.stop();
    await plane?.stop();
  });

  const open = async (kind: WorkloadKind, sizes: readonly number[]): Promise<{ made: KubeWorld; names: string[] }> => {
    count += 1;
    const names = sizes.map((_, index) => `kv-${count}-${index}`);
    const workloads = Object.fromEntries(names.map((name, index) => [name, sizes[index] ?? 0]));
    world = await KubeWorld.make({ kind, workloads, shared: { api }, startTimeoutMs: 20_000 });
    return { made: world, names };
  };

  const makeSubject = async (kind: WorkloadKind) => {
    const { made, names } = await open(kind, [SIZE, SIZE]);
    const isBegun = (updateId: string): boolean =>
      names.some((name) => {
        const unit = made.unit(name);
        const update = made.fleet.state.updates[updateId]?.units[unit];
        return update !== undefined && progressOf(made.fleet.state, unit, updateId).updated > 0;
      });
    const [first = '', second = ''] = names;
    return {
      ...{ fetch: made.serve(), url: 'http://kubernetes', config: made.config },
      ...{ units: [made.unit(first), made.unit(second)] as const, sizes: [SIZE, SIZE] as const },
      ...{ version: 'kv:1', newVersions: ['new:1', 'new:2'] as const, deadVersion: 'dead:1' },
      ...{ pipeline: 'kvstore', release: 12, now: Date.now },
      tick: async (updateId: string) => {
        for (let round = 0; round < 20 && !isBegun(updateId); round += 1) await made.step();
      },
      settle: () => made.settle(),
      grow: (unit: string) => made.grow(unit.slice(unit.lastIndexOf('/') + 1)),
    };
  };

  const LACKED = ['pages', 'shiftTraffic', 'removeUnits'];
  const CHECKS = WORKLOAD_KINDS.flatMap((kind) => PUSH_TYPE_CHECKS.map((check) => [kind, check.title, check] as const));

  test.each(CHECKS)(
    '%s: %s',
    async (kind, _, check) => {
      const outcome = await tryCheck(check, () => makeSubject(kind));
      if (outcome.state === 'skipped' && LACKED.includes(outcome.lacks ?? '')) return;
      expect(outcome).toMatchObject({ state: 'passed' });
    },
    120_000,
  );

  test.each(WORKLOAD_KINDS)(
    'a completion and its revert restart each pod of a %s once',
    async (kind) => {
      const { made, names } = await open(kind, [4]);
      const [name = ''] = names;
      const deploys = new KubeDeploys(made);
      const before = await made.lives(name);
      const forward = await deploys.push(name, 'kv:2', { whole: true });
      await made.settle();
      expect(await deploys.track(forward)).toMatchObject({ state: 'done', live: 4 });
      const after = (restarts: number) => Object.fromEntries(Object.keys(before).map((uid) => [uid, restarts]));
      expect([await made.lives(name), await made.templateImage(name)]).toEqual([after(1), 'kv:2']);
      const back = await deploys.push(name, 'kv:1', { updatedBy: [forward] });
      await made.settle();
      expect(await deploys.track(back)).toMatchObject({ state: 'done', live: 4 });
      expect([await made.lives(name), await made.templateImage(name)]).toEqual([after(2), 'kv:1']);
    },
    120_000,
  );

  test('a kind without a change for four minutes is never taken for away', async () => {
    const ending = new AbortController();
    const reader = new ViewedReader(api, ending.signal);
    try {
      for (const end = Date.now() + 240_000; Date.now() < end; await delay(2_000))
        expect((await reader.list('PodDisruptionBudget', { namespace: 'quiet' })).items).toEqual([]);
    } finally {
      ending.abort();
    }
  }, 300_000);
});
