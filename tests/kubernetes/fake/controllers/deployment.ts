import { copy, isFields, type Fields, type Json, type Thing } from '../json';
import { Refusal, type FakeStore } from '../store';
import {
  fieldsIn,
  findCondition,
  HASH_LABEL,
  hashTemplate,
  isActive,
  numberIn,
  ownedBy,
  ownerReference,
  resolveAmount,
  sameTemplate,
  withCondition,
  withoutHash,
} from './pods';

/** The controller of Deployments, in the order of the real one (pkg/controller/deployment of Kubernetes 1.37). */

const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const REVISION = 'deployment.kubernetes.io/revision';

export function reconcileDeployments(store: FakeStore): undefined {
  for (const deployment of store.list('Deployment')) reconcile(store, deployment);
}

function reconcile(store: FakeStore, given: Thing): void {
  const sets = sortByAge(ownedBy(store, 'ReplicaSet', given));
  const present = findNew(given, sets);
  const desired = numberIn(given.spec, 'replicas', 1);
  if (given.spec['paused'] === true || isScaling(sets, desired)) {
    scale(store, given, sets, present);
    return writeStatus(store, given);
  }
  // The oldest with an equal template is the new one, whichever was live last.
  const fresh = present ?? createNew(store, given, sets);
  if (fresh === undefined) return writeStatus(store, given);
  noteRevision(store, given, sets, fresh);
  const old = sets.filter(({ metadata }) => metadata.uid !== fresh.metadata.uid);
  if (fieldsIn(given.spec, 'strategy')['type'] === 'Recreate') recreate(store, given, fresh, old);
  else roll(store, given, fresh, old);
  cleanUp(store, given, old);
  writeStatus(store, given);
}

/** Ties in the same second go by name. */
const sortByAge = (sets: readonly Thing[]): Thing[] =>
  [...sets].sort(
    (a, b) =>
      a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp) ||
      a.metadata.name.localeCompare(b.metadata.name),
  );

const findNew = ({ spec }: Thing, sets: readonly Thing[]): Thing | undefined =>
  sets.find((set) => sameTemplate(set.spec['template'], spec['template']));

const countReplicas = (sets: readonly Thing[]): number =>
  sets.reduce((sum, { spec }) => sum + numberIn(spec, 'replicas'), 0);
const countAvailable = (sets: readonly Thing[]): number =>
  sets.reduce((sum, { status }) => sum + numberIn(status, 'availableReplicas'), 0);

const isScaling = (sets: readonly Thing[], desired: number): boolean =>
  sets.some(
    ({ spec, metadata }) =>
      numberIn(spec, 'replicas') > 0 &&
      metadata.annotations?.[DESIRED] !== undefined &&
      Number(metadata.annotations[DESIRED]) !== desired,
  );

function createNew(store: FakeStore, deployment: Thing, sets: readonly Thing[]): Thing | undefined {
  const template = deployment.spec['template'] as Fields;
  const collisions = numberIn(deployment.status, 'collisionCount');
  const hash = hashTemplate(withoutHash(template), collisions);
  const labelled = copy(template);
  labelled['metadata'] = { ...fieldsIn(labelled, 'metadata') };
  const metadata = labelled['metadata'] as Fields;
  metadata['labels'] = { ...fieldsIn(metadata, 'labels'), [HASH_LABEL]: hash };
  const selector = copy(fieldsIn(deployment.spec, 'selector'));
  selector['matchLabels'] = { ...fieldsIn(selector, 'matchLabels'), [HASH_LABEL]: hash };
  const { namespace } = deployment.metadata;
  const desired = numberIn(deployment.spec, 'replicas', 1);
  const isRecreate = fieldsIn(deployment.spec, 'strategy')['type'] === 'Recreate';
  const { surge } = readBudget(deployment);
  const room = isRecreate ? desired : Math.max(0, desired + surge - countReplicas(sets));
  try {
    return store.create({
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
      metadata: {
        ...{ name: `${deployment.metadata.name}-${hash}`, ...(namespace !== undefined && { namespace }) },
        labels: fieldsIn(metadata, 'labels') as Record<string, string>,
        annotations: { [DESIRED]: String(desired) },
        ownerReferences: [ownerReference(deployment)],
      },
      spec: {
        replicas: isRecreate && sets.length > 0 ? 0 : Math.min(desired, room),
        ...{ selector, template: labelled },
        ...(deployment.spec['minReadySeconds'] !== undefined && {
          minReadySeconds: deployment.spec['minReadySeconds'],
        }),
      },
    });
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'AlreadyExists') throw error;
    // Its template was changed since: the next try has another hash.
    store.setStatus(deployment, { collisionCount: collisions + 1 });
    return undefined;
  }
}

function noteRevision(store: FakeStore, deployment: Thing, sets: readonly Thing[], fresh: Thing): void {
  const known = sets.filter((set) => set.metadata.uid !== fresh.metadata.uid).map(readRevision);
  const revision = String(Math.max(readRevision(fresh), ...known.map((one) => one + 1), 1));
  for (const object of [fresh, deployment])
    store.edit(object, ({ metadata }) => (metadata.annotations = { ...metadata.annotations, [REVISION]: revision }));
}

const readRevision = ({ metadata }: Thing): number => Number(metadata.annotations?.[REVISION] ?? 0);

function setReplicas(store: FakeStore, deployment: Thing, set: Thing, replicas: number): void {
  store.edit(set, (draft) => {
    draft.spec['replicas'] = Math.max(0, replicas);
    const desired = String(numberIn(deployment.spec, 'replicas', 1));
    draft.metadata.annotations = { ...draft.metadata.annotations, [DESIRED]: desired };
  });
}

function readBudget({ spec }: Thing): { surge: number; unavailable: number } {
  const desired = numberIn(spec, 'replicas', 1);
  const { maxSurge, maxUnavailable } = fieldsIn(fieldsIn(spec, 'strategy'), 'rollingUpdate');
  const surge = resolveAmount(maxSurge, desired, 'up', 0);
  const unavailable = resolveAmount(maxUnavailable, desired, 'down', 0);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** For a paused Deployment, and after a change of its size: no other ReplicaSet begins, and those that live share the new size. */
function scale(store: FakeStore, deployment: Thing, sets: readonly Thing[], fresh: Thing | undefined): void {
  const desired = numberIn(deployment.spec, 'replicas', 1);
  const live = sets.filter(({ spec }) => numberIn(spec, 'replicas') > 0);
  const [only] = live.length > 0 ? live : [fresh ?? sets.at(-1)];
  if (live.length <= 1) return only && setReplicas(store, deployment, only, desired);
  const total = countReplicas(live);
  const { surge } = readBudget(deployment);
  let left = desired + (desired > 0 ? surge : 0) - total;
  // In proportion to their sizes, the largest first.
  for (const set of [...live].sort((a, b) => numberIn(b.spec, 'replicas') - numberIn(a.spec, 'replicas'))) {
    const own = numberIn(set.spec, 'replicas');
    const share = Math.round((own * desired) / Math.max(1, Number(set.metadata.annotations?.[DESIRED] ?? total))) - own;
    const change = left > 0 ? Math.min(left, Math.max(0, share)) : Math.max(left, Math.min(0, share));
    left -= change;
    setReplicas(store, deployment, set, own + change);
  }
}

function roll(store: FakeStore, deployment: Thing, fresh: Thing, old: readonly Thing[]): void {
  const desired = numberIn(deployment.spec, 'replicas', 1);
  const { surge, unavailable } = readBudget(deployment);
  const own = numberIn(fresh.spec, 'replicas');
  if (own > desired) return setReplicas(store, deployment, fresh, desired);
  const room = desired + surge - countReplicas([...old, fresh]);
  if (own < desired && room > 0) return setReplicas(store, deployment, fresh, own + Math.min(room, desired - own));
  const missing = own - numberIn(fresh.status, 'availableReplicas');
  let most = countReplicas([...old, fresh]) - (desired - unavailable) - missing;
  // Old pods that are not available go first; they cost nothing.
  for (const set of old) {
    const broken = numberIn(set.spec, 'replicas') - numberIn(set.status, 'availableReplicas');
    const fewer = Math.min(most, broken);
    if (fewer <= 0) continue;
    most -= fewer;
    setReplicas(store, deployment, set, numberIn(set.spec, 'replicas') - fewer);
  }
  let spare = countAvailable([...old, fresh]) - (desired - unavailable);
  for (const set of old) {
    const present = store.get('ReplicaSet', set.metadata.namespace, set.metadata.name);
    const count = present ? numberIn(present.spec, 'replicas') : 0;
    const fewer = Math.min(most, spare, count);
    if (fewer <= 0) continue;
    most -= fewer;
    spare -= fewer;
    setReplicas(store, deployment, set, count - fewer);
  }
}

function recreate(store: FakeStore, deployment: Thing, fresh: Thing, old: readonly Thing[]): void {
  for (const set of old) if (numberIn(set.spec, 'replicas') > 0) setReplicas(store, deployment, set, 0);
  const remains = old.flatMap((set) => ownedBy(store, 'Pod', set)).some(isActive);
  if (!remains) setReplicas(store, deployment, fresh, numberIn(deployment.spec, 'replicas', 1));
}

/** ReplicaSets without pods beyond the history, the oldest first, once the rollout is complete. */
function cleanUp(store: FakeStore, deployment: Thing, old: readonly Thing[]): void {
  const limit = numberIn(deployment.spec, 'revisionHistoryLimit', 10);
  const spent = old.filter(
    ({ spec, status }) => numberIn(spec, 'replicas') === 0 && numberIn(status, 'replicas') === 0,
  );
  if (spent.length !== old.length) return;
  const byRevision = [...spent].sort((a, b) => readRevision(a) - readRevision(b));
  for (const set of byRevision.slice(0, Math.max(0, spent.length - limit))) store.remove(set);
}

function writeStatus(store: FakeStore, given: Thing): void {
  const deployment = store.get('Deployment', given.metadata.namespace, given.metadata.name);
  if (deployment === undefined) return;
  const sets = sortByAge(ownedBy(store, 'ReplicaSet', deployment));
  const fresh = findNew(deployment, sets);
  const desired = numberIn(deployment.spec, 'replicas', 1);
  const sum = (name: string): number => sets.reduce((total, { status }) => total + numberIn(status, name), 0);
  const updated = fresh ? numberIn(fresh.status, 'replicas') : 0;
  const available = sum('availableReplicas');
  const isDone = updated === desired && sum('replicas') === desired && available === desired;
  const { unavailable } = readBudget(deployment);
  store.edit(deployment, (draft) => {
    draft.status['conditions'] = withCondition(
      ...([store, draft, 'Available', available >= desired - unavailable ? 'True' : 'False'] as const),
      available >= desired - unavailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    );
    const isPaused = deployment.spec['paused'] === true;
    const [status, reason] = isPaused
      ? (['Unknown', 'DeploymentPaused'] as const)
      : (['True', isDone ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated'] as const);
    draft.status['conditions'] = withCondition(store, draft, 'Progressing', status, reason);
    // The real controller copies the conditions of a paused one as they are (calculateStatus), and never learns of a failure.
    const failure = isPaused
      ? findCondition(draft, 'ReplicaFailure')
      : sets.map((set) => findCondition(set, 'ReplicaFailure')).find((one) => one !== undefined);
    draft.status['conditions'] = draft.status['conditions'].filter(
      (one) => !isFields(one) || one['type'] !== 'ReplicaFailure',
    );
    if (failure) draft.status['conditions'].push(copy(failure));
    Object.assign(draft.status, {
      ...{
        observedGeneration: deployment.metadata.generation ?? 0,
        replicas: sum('replicas'),
        updatedReplicas: updated,
      },
      ...{ readyReplicas: sum('readyReplicas'), availableReplicas: available },
      unavailableReplicas: Math.max(0, Math.max(desired, sum('replicas')) - available),
    } satisfies Record<string, Json>);
  });
}
