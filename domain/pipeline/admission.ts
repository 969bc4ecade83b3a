import { formatIdentity, pickIdentity, type Artifact } from '../artifact';
import type { Inheritance } from '../deploy/planRevert';
import { REQUEST_LIMITS, SPEC_LIMITS, STATE_LIMITS } from '../limits';
import { isUrgent } from '../release/urgent';
import { releaseMutex as leave } from '../mutex';
import { droppable, findFollowOn, goodBefore, withUpdatedUnits, whyDropped } from './followOn';
import { findKnownBad } from './digests';
import { cutTexts } from './recordLimits';
import { obstacleTo, type Obstacle } from './obstacles';
import { findPlaceHolder, placeIn } from './place';
import {
  goesBackTo,
  hasOffered,
  isKnownBad,
  withInherited,
  type GoodDeploy,
  type PipelineState,
  type ReadyAction,
} from './state';
import { isUndeploy } from './undeploy';
import type { Admission } from '../release/admission';
import { overtakenBy, withOvertaken, type OvertakenRelease } from './overtaking';
import { beginAction, recordWindowDeploy, isDeploy, newest, formatRequester, type ActionRef } from './actionStart';

export interface AdmissionResult {
  readonly state: PipelineState;
  readonly decisions: readonly { readonly release: number; readonly action: string; readonly admission: Admission }[];
  readonly overtaken: readonly OvertakenRelease[];
  /** The actions that are still ready, with the reasons why they wait. */
  readonly waiting: readonly (Obstacle & { readonly ready: ReadyAction })[];
}

/**
 * Decides on every action that is ready (docs/design/pipeline.md#concurrency). A known-bad artifact is refused. A release is superseded by a newer
 * one that is ready for the same deploy or has begun it. One release deploys at a time: rollbacks first, then emergencies, then in order. Exclusion
 * groups are granted all at once, and no release overtakes an older one that waits for one of them. A follow-on supersedes no release, and gets a
 * signal when it is not needed any more. A hold stops deploys but not rollbacks and emergencies; a freeze stops all but rollbacks.
 */
export function admit(state: PipelineState, nowMs: number): AdmissionResult {
  let current = state;
  const decisions: AdmissionResult['decisions'][number][] = [];
  const overtaken: OvertakenRelease[] = [];
  const waiting: AdmissionResult['waiting'][number][] = [];
  const reserved = new Map<string, number>();
  for (const { release, action } of [...state.ready].sort(byTurn(state))) {
    // Its present form: it may have inherited a turn.
    const ready = current.ready.find((other) => isSame(other, { release, action }));
    if (ready === undefined) continue;
    const decided = decide(current, ready, { nowMs, reserved });
    if ('why' in decided) {
      const aside = overtakenBy(current, ready, decided);
      current = withOvertaken(current, aside);
      overtaken.push(...aside);
      const why = aside.length > 0 ? obstacleTo(current, ready, nowMs, reserved) : undefined;
      waiting.push({ ...(why ?? decided), ready });
      if (decided.by === 'group') reserve(reserved, ready);
      continue;
    }
    decisions.push({ release, action, admission: decided });
    current = afterDecision(current, ready, decided, nowMs);
  }
  for (const { release, why } of droppable(current)) {
    decisions.push({ release: release.number, action: release.followOn?.action ?? '', admission: why });
    current = withDropped(current, release.number);
  }
  return { state: current, decisions, overtaken, waiting };
}

/**
 * An action ended, or its release no longer waits for it. A deploy that had to make way leaves the versions to revert to. A
 * successful one clears the inheritance at once, since the next deploy may begin before the release has ended.
 */
export function withdraw(
  state: PipelineState,
  asked: ActionRef & { readonly leaves?: Inheritance | null },
): PipelineState {
  const requester = formatRequester(asked);
  const { leaves } = asked;
  return {
    ...state,
    ready: state.ready.filter((other) => !isSame(other, asked)),
    deploys: leave(state.deploys, requester).mutex,
    mutexes: Object.fromEntries(
      Object.entries(state.mutexes).map(([name, mutex]) => [name, leave(mutex, requester).mutex]),
    ),
    inherited: leaves === undefined ? state.inherited : adjustInheritance(state, asked, leaves),
  };
}

function adjustInheritance(state: PipelineState, { release, action }: ActionRef, leaves: Inheritance | null) {
  const { inherited } = state;
  const followOn = leaves === null ? findFollowOn(state, release) : undefined;
  return withInherited(inherited, action, followOn ? withUpdatedUnits(inherited[action], followOn) : leaves);
}

/** Adds an action that is ready; a repeated request replaces the earlier one. It is ignored if its release is not active. */
export function enqueueReady(state: PipelineState, ready: ReadyAction, nowMs: number): PipelineState {
  const others = state.ready.filter((other) => !isSame(other, ready));
  const same = others.filter(({ release }) => release === ready.release).length;
  const isActive = state.active.some(({ number }) => number === ready.release);
  if (!isActive || same >= STATE_LIMITS.releaseActions.max || ready.action.length > 63) return state;
  return { ...state, ready: [...others, { ...trimReadyAction(ready), readyAtMs: nowMs }] };
}

/** Keeps only the facts that admission needs, such as the identities of the artifacts. */
function trimReadyAction({ artifacts, mutex, ...ready }: ReadyAction): ReadyAction {
  const identities = isDeploy(ready) ? artifacts.slice(0, REQUEST_LIMITS.artifacts.max).map(pickIdentity) : [];
  const groups = mutex === undefined ? {} : { mutex: mutex.slice(0, SPEC_LIMITS.actionMutex.max) };
  return cutTexts({ ...ready, artifacts: identities, ...groups });
}

/** A person let a release continue: older ones that wait for the same pick are superseded, unless each release has its turn. */
export function recordPick(state: PipelineState, { release, action }: ActionRef): PipelineState {
  if (!state.active.some(({ number }) => number === release) || action.length > 63) return state;
  const ready = state.ready.filter((other) => !isSame(other, { release, action }));
  const inOrder = state.spec.releases.supersede === 'never';
  return { ...state, ready, newestBegun: inOrder ? state.newestBegun : newest(state, { release, action }) };
}

/** The first release to ask keeps its place; no later one may take a group that it still waits for. */
function reserve(reserved: Map<string, number>, { release, mutex = [] }: ReadyAction): void {
  for (const group of mutex) if (!reserved.has(group)) reserved.set(group, release);
}

const isSame = (a: ActionRef, b: ActionRef): boolean => a.release === b.release && a.action === b.action;

const byTurn =
  (state: PipelineState) =>
  (a: ReadyAction, b: ReadyAction): number =>
    Number(b.rollback) - Number(a.rollback) ||
    Number(b.emergency === true) - Number(a.emergency === true) ||
    placeIn(state, a.release) - placeIn(state, b.release);

interface AdmissionContext {
  readonly nowMs: number;
  readonly reserved: ReadonlyMap<string, number>;
}

function decide(state: PipelineState, ready: ReadyAction, { nowMs, reserved }: AdmissionContext): Admission | Obstacle {
  // A rollback brings an artifact with a good digest, even if the version was bad with other digests.
  const isBad = ready.rollback ? isKnownBad : findKnownBad;
  const bad = isDeploy(ready) ? ready.artifacts.find((artifact) => isBad(state, artifact)) : undefined;
  if (bad)
    return {
      kind: 'bad-package',
      artifact: formatIdentity(bad),
      reason: `${formatIdentity(bad)} is known to be bad: ${isBad(state, bad)?.reason ?? ''}`,
    };
  const followOn = findFollowOn(state, ready.release);
  const dropped = followOn && whyDropped(state, followOn);
  if (dropped) return dropped;
  const newer = followOn ? undefined : findSuperseder(state, ready);
  if (newer !== undefined) return { kind: 'superseded', by: newer };
  return obstacleTo(state, ready, nowMs, reserved) ?? grantAction(state, ready);
}

function grantAction(state: PipelineState, ready: ReadyAction): Admission {
  if (!isDeploy(ready)) return { kind: 'granted' };
  const inherited = state.inherited[ready.action];
  const uses = state.uses?.[ready.action] ?? [];
  const good = state.good[ready.action] ?? [];
  const isWanted = uses.length > 0 || hasOffered(state) || isUndeploy(state, ready.release);
  const last = findFollowOn(state, ready.release) ? goodBefore(good, ready.artifacts) : good.at(-1);
  return {
    kind: 'granted',
    lastGood: goesBackTo(state, last),
    ...(inherited === undefined ? {} : { inherited }),
    ...(uses.length === 0 ? {} : { uses }),
    ...(isWanted ? findLastRelease(state, ready, last) : {}),
  };
}

/** The release whose version the action brought last; for a rollback, the one that it restores. */
function findLastRelease(
  state: PipelineState,
  ready: ReadyAction,
  last: GoodDeploy | undefined,
): { readonly lastRelease?: number } {
  const found = ready.rollback ? findRestoredRelease(state, ready) : last?.release;
  return found === undefined ? {} : { lastRelease: found };
}

/**
 * The release that brought the artifacts of a rollback first. Another rollback may have brought them back since, but its file is newer; and another
 * one that waits may be about to undo them.
 */
function findRestoredRelease(
  { active, history, good }: PipelineState,
  { action, artifacts }: ReadyAction,
): number | undefined {
  const hasAll = (brought: readonly Artifact[]): boolean =>
    artifacts.every((one) => brought.some((other) => formatIdentity(other) === formatIdentity(one)));
  const isRollback = (release: number): boolean =>
    [...active, ...history].some(({ number, trigger }) => number === release && trigger.kind === 'rollback');
  const known = [...active.flatMap(({ undone }) => undone?.[action] ?? []), ...(good[action] ?? [])];
  const same = known.filter((deploy) => hasAll(deploy.artifacts)).map(({ release }) => release);
  const ended = history.filter(
    ({ artifacts: brought, deploys }) =>
      hasAll(brought) && deploys.some((deploy) => deploy.action === action && deploy.outcome === 'succeeded'),
  );
  const all = [...ended.map(({ number }) => number), ...same];
  return all.findLast((release) => !isRollback(release)) ?? same.at(-1);
}

/**
 * The newer release that supersedes a ready action. A release that will itself be refused supersedes none, and neither
 * does one that waits for a person.
 */
function findSuperseder(state: PipelineState, ready: ReadyAction): number | undefined {
  const { action, rollback, kind } = ready;
  if (kind === 'exclusive') return undefined;
  const place = placeIn(state, ready.release);
  const begunBy = state.newestBegun[action] ?? 0;
  const inOrder = state.spec.releases.supersede === 'never';
  const isMeant =
    (ready.approved === true && !isUrgentOne(state, begunBy)) ||
    ((rollback || ready.emergency === true) && isUndeploy(state, begunBy));
  if (begunBy > place && !(kind === 'pick' && inOrder) && !isMeant) return findPlaceHolder(state, begunBy);
  if (kind === 'pick' || rollback || ready.emergency || inOrder || isUndeploy(state, ready.release)) return undefined;
  // A release that waits for offers may wait for weeks. It supersedes only those that wait, too.
  const isNewer = (other: ReadyAction): boolean =>
    isDeploy(other) &&
    (!waitsForOffers(other) || waitsForOffers(ready)) &&
    other.action === action &&
    placeIn(state, other.release) > place &&
    !other.rollback &&
    !other.emergency;
  const counts = (other: ReadyAction): boolean =>
    !findFollowOn(state, other.release) && !other.artifacts.some((artifact) => findKnownBad(state, artifact));
  return state.ready.find((other) => isNewer(other) && counts(other))?.release;
}

/** Whether a deploy waits for offers of other pipelines, or for the users of its own. */
export const waitsForOffers = ({ later }: Pick<ReadyAction, 'later'>): boolean =>
  later !== undefined && later.untilMs === undefined;

/**
 * The approvers of an emergency can see the ordinary releases that have begun meanwhile, but another emergency or a rollback takes
 * precedence over their decision.
 */
const isUrgentOne = ({ active, history }: PipelineState, release: number): boolean =>
  [...active, ...history].some(({ number, trigger }) => number === release && isUrgent(trigger));

const withDropped = (state: PipelineState, number: number): PipelineState => ({
  ...state,
  active: state.active.map((release) => (release.number === number ? { ...release, dropped: true as const } : release)),
});

function afterDecision(state: PipelineState, ready: ReadyAction, admission: Admission, nowMs: number): PipelineState {
  const next = { ...state, ready: state.ready.filter((other) => !isSame(other, ready)) };
  if (admission.kind === 'superseded') return inheritTurn(next, ready, admission.by);
  return admission.kind === 'granted' ? recordWindowDeploy(beginAction(next, ready), ready, nowMs) : next;
}

/** The newer deploy inherits the calendar time of the older one, so that a missed time is made up once. */
function inheritTurn(state: PipelineState, older: ReadyAction, by: number): PipelineState {
  const { action, opensAtMs, readyAtMs = Infinity } = older;
  if (typeof opensAtMs !== 'number') return state;
  const inherit = (newer: ReadyAction): ReadyAction => ({
    ...newer,
    opensAtMs: typeof newer.opensAtMs === 'number' ? Math.min(newer.opensAtMs, opensAtMs) : opensAtMs,
    // If the calendar changes, the look-up starts from this time.
    readyAtMs: Math.min(newer.readyAtMs ?? Infinity, readyAtMs),
  });
  return {
    ...state,
    ready: state.ready.map((other) => (isSame(other, { release: by, action }) ? inherit(other) : other)),
  };
}
