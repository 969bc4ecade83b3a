import { identityOf, isVersionOf, versionOf, type Artifact } from '../artifact';
import { FREE, release as letGo, type Mutex } from '../mutex';
import type { ReleaseResult } from '../release/state';
import type { Settings } from '../settings';
import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { CommandRecord } from '../verbs';
import type { HistoryRow, Trigger } from '../views';

/** What a pipeline remembers for ever; carried across continue-as-new (DESIGN §4). */
export interface PipelineState {
  readonly spec: PipelineSpec;
  /** The platform's groups, for owners that are one. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly settings: Settings;
  readonly nextNumber: number;
  readonly active: readonly ActiveRelease[];
  /** Deploys that releases are ready to run: `deploy` actions exclude each other between releases. */
  readonly deploys: Mutex;
  readonly ready: readonly ReadyDeploy[];
  /** Per deploy action the newest release that began it: no older one may begin it any more. */
  readonly newestBegun: Readonly<Record<string, number>>;
  /** Per deploy action what succeeded, newest last: what a rollback goes back to. */
  readonly good: Readonly<Record<string, readonly GoodDeploy[]>>;
  readonly knownBad: readonly KnownBad[];
  /** Deploys do not start … */
  readonly held: Held | null;
  /** … nothing starts. */
  readonly frozen: Held | null;
  readonly revertsInARow: number;
  /** Idempotency keys → release number, newest last. */
  readonly keys: readonly (readonly [string, number])[];
  readonly history: readonly HistoryRow[];
  readonly commands: readonly CommandRecord[];
}

export interface ActiveRelease {
  readonly number: number;
  readonly state: 'queued' | 'running';
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
  readonly createdAt: string;
}

export interface ReadyDeploy {
  readonly release: number;
  readonly action: string;
  readonly artifacts: readonly Artifact[];
  /** A rollback goes first, whatever is held. */
  readonly rollback: boolean;
}

export interface GoodDeploy {
  readonly release: number;
  readonly version: string;
  readonly artifacts: readonly Artifact[];
}

export interface KnownBad {
  /** Identity: `executable@kv:13`. */
  readonly artifact: string;
  readonly at: string;
  readonly reason: string;
}

export interface Held {
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
}

const KEPT_RELEASES = 100;
const KEPT_KEYS = 1_000;
const KEPT_GOOD = 10;

export function newPipeline(spec: PipelineSpec, groups: PipelineState['groups'], settings: Settings): PipelineState {
  return {
    spec,
    groups,
    settings,
    nextNumber: 1,
    active: [],
    deploys: FREE,
    ready: [],
    newestBegun: {},
    good: {},
    knownBad: [],
    held: null,
    frozen: null,
    revertsInARow: 0,
    keys: [],
    history: [],
    commands: [],
  };
}

/** A new release, queued; the pipeline starts it when there is room. */
export function created(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  nowMs: number,
): PipelineState {
  const number = state.nextNumber;
  const release: ActiveRelease = { number, state: 'queued', artifacts, trigger, createdAt: formatTime(nowMs) };
  const keys = trigger.key === null ? state.keys : [...state.keys, [trigger.key, number] as const].slice(-KEPT_KEYS);
  return { ...state, nextNumber: number + 1, active: [...state.active, release], keys };
}

/** The release that a submission repeats: the same key, or from a finder or webhook the same artifacts. */
export function repeated(state: PipelineState, artifacts: readonly Artifact[], trigger: Trigger): number | undefined {
  const byKey = trigger.key === null ? undefined : state.keys.find(([key]) => key === trigger.key)?.[1];
  if (byKey !== undefined || (trigger.kind !== 'finder' && trigger.kind !== 'webhook')) return byKey;
  // What a release built itself is among its artifacts once it has ended.
  const same = (of: { readonly artifacts: readonly Artifact[] }) => {
    const had = new Set(of.artifacts.map(identityOf));
    return artifacts.every((artifact) => had.has(identityOf(artifact)));
  };
  return (state.active.find(same) ?? state.history.find(same))?.number;
}

/** Releases that may start now, oldest first; rollbacks need no room. */
export function startable({ active, spec }: PipelineState): ActiveRelease[] {
  const room = spec.releases.maxActive - active.filter(({ state }) => state === 'running').length;
  const queued = active.filter(({ state }) => state === 'queued');
  const rollbacks = queued.filter(({ trigger }) => trigger.kind === 'rollback');
  return [...rollbacks, ...queued.filter(({ trigger }) => trigger.kind !== 'rollback').slice(0, Math.max(0, room))];
}

export const started = (state: PipelineState, number: number): PipelineState => ({
  ...state,
  active: state.active.map((release) =>
    release.number === number ? { ...release, state: 'running' as const } : release,
  ),
});

export const isKnownBad = (state: PipelineState, artifact: Artifact): KnownBad | undefined =>
  state.knownBad.find((bad) => bad.artifact === identityOf(artifact));

/** Known-bad from now on; once is enough. */
export function condemned(
  state: PipelineState,
  artifacts: readonly Artifact[],
  reason: string,
  nowMs: number,
): PipelineState {
  const fresh = new Set(artifacts.filter((artifact) => !isKnownBad(state, artifact)).map(identityOf));
  const bad = [...fresh].map((artifact): KnownBad => ({ artifact, at: formatTime(nowMs), reason }));
  return { ...state, knownBad: [...state.knownBad, ...bad] };
}

export const allowed = (state: PipelineState, nameAtVersion: string): PipelineState => ({
  ...state,
  knownBad: state.knownBad.filter(({ artifact }) => !isVersionOf(artifact, nameAtVersion)),
});

export const heldBy = (state: PipelineState, actor: string, reason: string, nowMs: number): PipelineState => ({
  ...state,
  held: { actor, reason, at: formatTime(nowMs) },
});

/** What is to blame when a set of artifacts is bad: those that the good set did not have; all, when it had them all. */
export function blamed(artifacts: readonly Artifact[], good: readonly Artifact[]): readonly Artifact[] {
  const known = new Set(good.map(identityOf));
  const fresh = artifacts.filter((artifact) => !known.has(identityOf(artifact)));
  return fresh.length > 0 ? fresh : artifacts;
}

/**
 * Books what a release came to: history, what is good now, known-bad, and what follows a revert (DESIGN §5 "Revert").
 * Whatever it held or waited for is free again.
 */
export function settled(state: PipelineState, result: ReleaseResult, nowMs: number): PipelineState {
  const release = state.active.find(({ number }) => number === result.number);
  if (release === undefined) return state;
  const row = historyRow(state, release, result);
  const base: PipelineState = {
    ...state,
    active: state.active.filter(({ number }) => number !== result.number),
    ready: state.ready.filter((deploy) => deploy.release !== result.number),
    deploys: letGoBy(state.deploys, result.number),
    history: [...state.history, row].slice(-KEPT_RELEASES),
    good: goodAfter(state, result),
  };
  return afterReverts(base, result, nowMs);
}

function letGoBy(mutex: Mutex, release: number): Mutex {
  if (mutex.holder?.owner !== String(release)) return mutex;
  return mutex.holder.requesters.reduce((held, requester) => letGo(held, requester).mutex, mutex);
}

function goodAfter({ good }: PipelineState, result: ReleaseResult): PipelineState['good'] {
  const succeeded = result.deploys.filter(({ result: { outcome } }) => outcome === 'succeeded');
  const added = succeeded.map(({ action, artifacts }) => {
    const entry: GoodDeploy = { release: result.number, version: versionOf(artifacts), artifacts };
    return [action, [...(good[action] ?? []), entry].slice(-KEPT_GOOD)] as const;
  });
  return { ...good, ...Object.fromEntries(added) };
}

function afterReverts(state: PipelineState, result: ReleaseResult, nowMs: number): PipelineState {
  const reverted = result.deploys.filter(({ result: { reverted: by } }) => by !== null);
  if (reverted.length === 0) {
    const deployed = result.deploys.some(({ result: { outcome } }) => outcome === 'succeeded');
    return deployed ? { ...state, revertsInARow: 0 } : state;
  }
  const bad = reverted.filter(({ result: { reverted: by } }) => by?.bad === true);
  const marked = bad.reduce(
    (next, { action, artifacts, result: { reason } }) =>
      condemned(
        next,
        blamed(artifacts, state.good[action]?.at(-1)?.artifacts ?? []),
        `release ${result.number} was ${reason}`,
        nowMs,
      ),
    { ...state, revertsInARow: state.revertsInARow + 1 },
  );
  const why = whyHold(
    marked,
    reverted.map(({ result: { reverted: by } }) => by?.by ?? ''),
  );
  return why === undefined || marked.held ? marked : heldBy(marked, 'service:conveyor', why, nowMs);
}

function whyHold({ spec, revertsInARow }: PipelineState, by: readonly string[]): string | undefined {
  if (spec.releases.onRevert === 'continue') return undefined;
  if (spec.releases.onRevert === 'hold') return 'a deploy was reverted';
  const person = by.find((who) => who !== 'health');
  if (person !== undefined) return `${person} reverted a deploy`;
  return revertsInARow >= 2 ? `${revertsInARow} reverts in a row` : undefined;
}

function historyRow({ spec }: PipelineState, release: ActiveRelease, result: ReleaseResult): HistoryRow {
  return {
    id: `${spec.pipeline}/${release.number}`,
    kind: 'release',
    pipeline: spec.pipeline,
    number: release.number,
    state: result.state,
    cause: result.cause,
    trigger: release.trigger,
    startedAt: release.createdAt,
    endedAt: result.endedAt,
    artifacts: result.artifacts,
    durationMs: Date.parse(result.endedAt) - Date.parse(release.createdAt),
    deploys: result.deploys.map(({ action, result: { outcome, classification, version } }) => ({
      action,
      outcome,
      classification,
      version,
    })),
  };
}
