import type { Artifact } from '../artifact';
import type { Restored } from '../deploy/held';
import type { DeployResult } from '../deploy/state';
import type { Emergency, FollowOn, Held } from '../pipeline/state';
import type { Policy } from '../principals';
import type { Settings } from '../settings';
import type { DeployAction, PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { Proofs } from '../proof';
import type { CommandRecord } from '../verbs';
import type { ActionState, ActionView, ReleaseCause, ReleaseState, TimelineEntry, Trigger } from '../views';
import { dependencies } from './graph';
import { hasSucceeded, hasActionEnded } from './nextActions';

/** What a release is started with; its pipeline's spec is pinned in it (docs/design/workflows.md#state). */
export interface ReleaseInput {
  readonly number: number;
  readonly spec: PipelineSpec;
  readonly artifacts: readonly Artifact[];
  /** What the release before ran on. */
  readonly previous: readonly Artifact[];
  readonly trigger: Trigger;
  /** Per deploy action: the version in production. */
  readonly lastGood: Readonly<Record<string, string>>;
  readonly policy: Policy;
  readonly settings: Settings;
  /** A workflow to which it reports its end. */
  readonly reportTo?: string;
  readonly emergency?: Emergency;
  readonly followOn?: FollowOn;
  /** The release that it runs again, and where it stands among the others; as in the pipeline. */
  readonly rerunOf?: number;
  readonly place?: number;
  readonly frozen?: Held | null;
  /** For a rollback: what it restores, by deploy action. */
  readonly restores?: Readonly<Record<string, Restored>>;
  /** The pipeline records a deploy that ends the release with the end of the release: it is reported once. */
  readonly reportsOnce?: true;
  /** It reports its end to its parent and to its pipeline at the same moment; until 0.3 one after the other. */
  readonly reportsAtOnce?: true;
  /** Identities of what its actions may make and nobody deploys, when it started; of many the newest. */
  readonly knownBad?: readonly string[];
}

/** How one deploy of a release ended, for the records of its pipeline. */
export interface DeployEnded {
  readonly action: string;
  readonly artifacts: readonly Artifact[];
  readonly result: DeployResult;
}

export interface ReleaseResult {
  readonly number: number;
  readonly state: Extract<ReleaseState, 'succeeded' | 'failed' | 'cancelled'>;
  readonly cause: ReleaseCause | null;
  /** superseded, preempted: by which release. */
  readonly causedBy?: number;
  readonly artifacts: readonly Artifact[];
  readonly deploys: readonly DeployEnded[];
  readonly endedAt: string;
  /** It ended while it waited to start. */
  readonly neverStarted?: true;
}

/** Where one action of a release stands. */
export interface ActionRecord extends Pick<
  ActionView,
  | 'state'
  | 'attempt'
  | 'blockedBy'
  | 'until'
  | 'lock'
  | 'startedAt'
  | 'endedAt'
  | 'message'
  | 'pickBy'
  | 'approval'
  | 'carriedFrom'
  | 'url'
  | 'knownBad'
> {
  readonly outputs: readonly Artifact[];
  /** Whether its deploy workflow exists. */
  readonly deploying: boolean;
  /** Of an action that is not a deploy: it waits for its window, or somebody let it continue without. */
  readonly window?: 'closed' | 'skipped' | null;
  /** Its version soaks somewhere, or somebody let it continue without. */
  readonly soak?: 'waiting' | 'skipped' | null;
}

export interface ReleaseRecord {
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly actions: Readonly<Record<string, ActionRecord>>;
  readonly paused: boolean;
  readonly cause: ReleaseCause | null;
  readonly causedBy?: number;
  readonly deploys: readonly DeployEnded[];
  readonly commands: readonly CommandRecord[];
  /** Of what it has taken from whoever holds the platform's key. */
  readonly proofs?: Proofs;
  readonly timeline: readonly TimelineEntry[];
}

const WAITING: ActionRecord = {
  state: 'waiting',
  attempt: 1,
  blockedBy: null,
  until: null,
  startedAt: null,
  endedAt: null,
  message: null,
  pickBy: null,
  outputs: [],
  deploying: false,
};

/**
 * The spec of a rollback: its deploy actions only, each at once (docs/design/deploy.md#verbs), whichever test of the pipeline holds a group.
 * Groups that it shares with other pipelines it takes. `inProduction` names those that ever succeeded: what was never deployed is not
 * deployed by going back.
 */
export function rollbackSpec(spec: PipelineSpec, inProduction?: readonly string[]): PipelineSpec {
  const isShared = (group: string): boolean => spec.mutex[group]?.scope === 'global';
  const deploys = Object.entries(spec.actions).flatMap(([name, action]) =>
    action.type === 'deploy' && (inProduction?.includes(name) ?? true)
      ? [[name, { ...withoutConditions(action), mutex: action.mutex.filter(isShared) }] as const]
      : [],
  );
  return { ...spec, actions: Object.fromEntries(deploys) };
}

/** The spec of an emergency push: that deploy, at once and outside its window (docs/design/deploy.md#emergency-push). */
export function emergencySpec(spec: PipelineSpec, name: string): PipelineSpec {
  const action = spec.actions[name];
  return {
    ...spec,
    actions: action?.type === 'deploy' ? { [name]: { ...withoutConditions(action), window: undefined } } : {},
  };
}

/** The spec of a follow-on: that deploy, within its window. */
export function followOnSpec(spec: PipelineSpec, name: string): PipelineSpec {
  const action = spec.actions[name];
  return { ...spec, actions: action?.type === 'deploy' ? { [name]: withoutConditions(action) } : {} };
}

const withoutConditions = (action: DeployAction): DeployAction => ({
  ...action,
  needs: [],
  when: [],
  runIf: 'success',
  join: 'all',
});

export function newRelease(input: ReleaseInput, nowMs: number): ReleaseRecord {
  return {
    startedAtMs: nowMs,
    endedAtMs: null,
    actions: Object.fromEntries(Object.keys(input.spec.actions).map((name) => [name, WAITING])),
    paused: false,
    cause: null,
    deploys: [],
    commands: [],
    timeline: [],
  };
}

/** What it waits for now is not a lock, unless the patch says so. */
export function withAction(record: ReleaseRecord, name: string, patch: Partial<ActionRecord>): ReleaseRecord {
  const before = record.actions[name] ?? WAITING;
  const isPast = before.lock != null && patch.blockedBy !== undefined;
  const after = { ...before, ...(isPast ? { lock: null } : {}), ...patch };
  return { ...record, actions: { ...record.actions, [name]: after } };
}

/** An action that failed starts again with a fresh attempt; what was skipped after it is decided anew. */
export function retriedAction(record: ReleaseRecord, spec: Pick<PipelineSpec, 'actions'>, name: string): ReleaseRecord {
  const needs = dependencies(spec.actions);
  const reopened = new Set([name]);
  for (let before = 0; before < reopened.size;) {
    before = reopened.size;
    for (const [action, { state }] of Object.entries(record.actions))
      if (state === 'skipped' && (needs.get(action) ?? []).some((need) => reopened.has(need))) reopened.add(action);
  }
  const attempt = (record.actions[name]?.attempt ?? 0) + 1;
  return [...reopened].reduce(
    (next, action) =>
      withAction(next, action, { ...WAITING, window: null, soak: null, attempt: action === name ? attempt : 1 }),
    record,
  );
}

export function log(record: ReleaseRecord, nowMs: number, kind: string, text: string): ReleaseRecord {
  return { ...record, timeline: [...record.timeline, { at: formatTime(nowMs), kind, text }].slice(-200) };
}

export const statesOf = (record: ReleaseRecord): Record<string, ActionState> =>
  Object.fromEntries(Object.entries(record.actions).map(([name, { state }]) => [name, state]));

/** The release's state follows from its actions (docs/design/pipeline.md#outcomes). */
export function releaseState(record: ReleaseRecord, spec: PipelineSpec): ReleaseState {
  const states = statesOf(record);
  if (!Object.values(states).every(hasActionEnded)) return record.paused ? 'paused' : 'running';
  if (hasSucceeded({ spec, states })) return 'succeeded';
  return record.cause !== null || !Object.values(states).includes('failed') ? 'cancelled' : 'failed';
}

/** Who let an action continue, or did not, and why. */
export interface Picked {
  readonly actor: string;
  readonly reason: string;
  readonly approve: boolean;
  /** Identities of what the release had by then: an approval is of these. Missing of emergencies, which bring what they deploy. */
  readonly of?: readonly string[];
  /** Groups that the door says they are in, which nobody can look up later. */
  readonly vouched?: readonly string[];
}

/** What the operators asked of a release: verbs reach its running deploys too, which have rules of their own. */
export interface ReleaseControl {
  /** The pipeline is frozen: no action starts. */
  readonly frozen: Held | null;
  /** What people decided at picks, by action. */
  readonly picks: Readonly<Record<string, Picked>>;
  /** Who approved, by action: of an emergency there may have to be several. */
  readonly approvals: Readonly<Record<string, readonly Picked[]>>;
  readonly paused: boolean;
  /** Cancel, or revert with nothing deployed yet: nothing else starts. */
  readonly ending: {
    readonly actor: string;
    readonly reason: string;
    readonly revert: boolean;
    readonly notBad: boolean;
    /** By which rule, of whoever is not an owner. */
    readonly permitted?: string;
  } | null;
}
