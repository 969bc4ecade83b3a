import { unitOf } from '../../sdk/updates';
import { listPodPlaces, type KubeState } from './memory';
import { readPodRecord, type PodRecord } from './records';
import type { PodView } from './views';

/**
 * Restores a unit of which the memory knows nothing from the records on its workload and pods. An update that is not there on all of its pods has ended:
 * whether it was paused or cancelled is unknown, and the deploy sends another.
 */
export function restoreUpdates(state: KubeState, name: string, pods: readonly PodView[]): void {
  const unit = unitOf(state, name);
  const indexes = new Map(listPodPlaces(state, name).map(({ uid }, index) => [uid, index]));
  const groups = new Map<string, { readonly record: PodRecord; readonly indexes: number[] }>();
  for (const pod of pods) {
    const record = readPodRecord(pod.annotations);
    const index = indexes.get(pod.uid);
    if (record?.image !== pod.image || index === undefined) continue;
    const group = groups.get(record.update) ?? { record, indexes: [] };
    group.indexes.push(index);
    groups.set(record.update, group);
  }
  for (const [id, { record, indexes }] of groups) {
    const isThere = indexes.length >= record.of && (!record.whole || unit.update === id);
    const reason = `the push type lost its memory while it brought ${record.version} to ${name}: ${indexes.length} of ${record.of} pods have it`;
    const known = (state.updates[id] ??= { updatedBy: record.updatedBy, exclude: [], units: {} });
    known.units[name] ??= {
      ...{ version: record.version, slots: indexes },
      ...(isThere ? { state: 'active' } : { state: 'ended', reason }),
    };
  }
}
