import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { progressOf } from '../../sdk/updates';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../push-types/kubernetes/settings';
import { KubeWorld } from '../builders/kubeWorld';
import { describeSuite } from './suite';

/** The push type `kubernetes`, with a fake cluster behind HTTP. Pods change only when a test lets them: one round at a time. */

const SIZE = 6;
let world: KubeWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const makeSubject = async (kind: WorkloadKind) => {
  const made = await KubeWorld.make({ kind, workloads: { 'kv-x': SIZE, 'kv-y': SIZE } });
  world = made;
  const isBegun = (updateId: string): boolean =>
    ['kv-x', 'kv-y'].some((name) => {
      const unit = made.unit(name);
      return (
        made.fleet.state.updates[updateId]?.units[unit] !== undefined &&
        progressOf(made.fleet.state, unit, updateId).updated > 0
      );
    });
  return {
    ...{ fetch: made.serve(), url: 'http://kubernetes', config: made.config },
    ...{ units: [made.unit('kv-x'), made.unit('kv-y')] as const, sizes: [SIZE, SIZE] as const },
    ...{ version: 'kv:1', newVersions: ['new:1', 'new:2'] as const, deadVersion: 'dead:1' },
    ...{ pipeline: 'kvstore', release: 12, now: Date.now },
    tick: async (updateId: string) => {
      for (let round = 0; round < 20 && !isBegun(updateId); round += 1) await made.step();
    },
    settle: () => made.settle(),
    grow: (unit: string) => made.grow(unit.slice(unit.lastIndexOf('/') + 1)),
  };
};

for (const kind of WORKLOAD_KINDS)
  describeSuite(`push type kubernetes, ${kind}`, PUSH_TYPE_CHECKS, () => makeSubject(kind), [
    ...['pages', 'shiftTraffic', 'removeUnits'],
  ]);
