import { areEqual, copy, type Json, type Thing } from '../json';
import { Refusal, type FakeStore } from '../store';
import { hashTemplate, numberIn, ownedBy, ownerReference } from './pods';

export const REVISION_LABEL = 'controller-revision-hash';

/**
 * The ControllerRevision of the present template of a StatefulSet or a DaemonSet: one with an equal template becomes the newest again, or there
 * is a new one.
 */
export function takeRevision(store: FakeStore, workload: Thing): Thing {
  const known = listRevisions(store, workload);
  const data: Json = { spec: { template: copy(workload.spec['template'] ?? {}) } };
  const highest = Math.max(0, ...known.map(({ revision }) => revision ?? 0));
  const equal = known.findLast((one) => areEqual(one.data, data));
  if (equal !== undefined) {
    if (equal.revision === highest) return equal;
    return store.edit(equal, (draft) => (draft.revision = highest + 1)) ?? equal;
  }
  for (let collisions = numberIn(workload.status, 'collisionCount'); ; collisions += 1) {
    const hash = hashTemplate(workload.spec['template'] ?? {}, collisions);
    const name = `${workload.metadata.name}-${hash}`;
    // A StatefulSet labels with the whole name, a DaemonSet with the hash.
    const label = workload.kind === 'StatefulSet' ? name : hash;
    const { namespace } = workload.metadata;
    try {
      return store.create({
        ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', data, revision: highest + 1 },
        metadata: {
          ...{ name, ...(namespace !== undefined && { namespace }), ownerReferences: [ownerReference(workload)] },
          labels: { ...readTemplateLabels(workload), [REVISION_LABEL]: label },
        },
      });
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason !== 'AlreadyExists') throw error;
    }
  }
}

function readTemplateLabels({ spec }: Thing): Record<string, string> {
  const { metadata } = (spec['template'] ?? {}) as { metadata?: { labels?: Record<string, string> } };
  return metadata?.labels ?? {};
}

/** The oldest first. */
export const listRevisions = (store: FakeStore, workload: Thing): Thing[] =>
  ownedBy(store, 'ControllerRevision', workload).sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0));

/** Removes those that neither pods nor the status name, beyond the history. */
export function removeOldRevisions(store: FakeStore, workload: Thing, live: ReadonlySet<string>): void {
  const spent = listRevisions(store, workload).filter(
    ({ metadata }) => !live.has(metadata.labels?.[REVISION_LABEL] ?? ''),
  );
  const limit = numberIn(workload.spec, 'revisionHistoryLimit', 10);
  for (const revision of spent.slice(0, Math.max(0, spent.length - limit))) store.remove(revision);
}
