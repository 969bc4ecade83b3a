import type { Artifact } from '../artifact';
import type { RestoredDeploy } from '../deploy/heldUnits';
import type { DeployResult } from '../deploy/state';
import type { Emergency, FollowOn, PipelineStopRecord } from '../pipeline/state';
import type { Policy } from '../principals';
import type { Settings } from '../settings';
import type { DeployAction, PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { Proofs } from '../proof';
import type { CommandRecord } from '../verbs';
import type { ActionState, ActionView, PageView, ReleaseCause, ReleaseState, TimelineEntry, Trigger } from '../views';
import { ancestors, dependencies } from './graph';
import { hasSucceeded, hasActionEnded } from './nextActions';

/** The input of a release, which includes the pinned spec of its pipeline (docs/design/workflows.md#state). */
export interface ReleaseInput {
  readonly number: number;
  readonly spec: PipelineSpec;
  readonly artifacts: readonly Artifact[];
  /** The artifacts of the release before. */
  readonly previous: readonly Artifact[];
  readonly trigger: Trigger;
  /** For each deploy action, the version in production. */
  readonly lastGood: Readonly<Record<string, string>>;
  readonly policy: Policy;
  readonly settings: Settings;
  /** The workflow to which it reports its end. */
  readonly reportTo?: string;
  readonly emergency?: Emergency;
  readonly followOn?: FollowOn;
  /** The release that it runs again, and its place among the others; as in the pipeline. */
  readonly rerunOf?: number;
  readonly place?: number;
  readonly frozen?: PipelineStopRecord | null;
  /** For a rollback: the deploys that it restores, by action. For an undeploy: those that it removes. */
  readonly restores?: Readonly<Record<string, RestoredDeploy>>;
  /** Its pipeline offers something to others, or did so. */
  readonly offered?: true;
  /**
   * Identities of known-bad artifacts that its actions may make, as of its start; only the newest if there are many.
   */
  readonly knownBad?: readonly string[];
}

/** How one deploy of a release ended, for the records of its pipeline. */
export interface DeployEndRecord {
  readonly action: string;
  readonly artifacts: readonly Artifact[];
  readonly result: DeployResult;
  /** The pipelines whose offers it used, if any. */
  readonly uses?: readonly string[];
}

export interface ReleaseResult {
  readonly number: number;
  readonly state: Extract<ReleaseState, 'succeeded' | 'failed' | 'cancelled'>;
  readonly cause: ReleaseCause | null;
  /** If superseded or preempted: the release that caused it. */
  readonly causedBy?: number;
  readonly artifacts: readonly Artifact[];
  readonly deploys: readonly DeployEndRecord[];
  readonly endedAt: string;
  /** It ended while it waited to start. */
  readonly neverStarted?: true;
}

/** The state of one action of a release. */
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
  | 'wishes'
  | 'unfit'
  | 'override'
> {
  readonly outputs: readonly Artifact[];
  /** Whether its deploy workflow exists. */
  readonly deploying: boolean;
  /** For actions other than deploys: it waits for its window, or a person let it continue without. */
  readonly window?: 'closed' | 'skipped' | null;
  /** Its version soaks somewhere, or a person let it continue without. */
  readonly soak?: 'waiting' | 'skipped' | null;
}

export interface ReleaseRecord {
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly actions: Readonly<Record<string, ActionRecord>>;
  readonly paused: boolean;
  readonly cause: ReleaseCause | null;
  readonly causedBy?: number;
  readonly deploys: readonly DeployEndRecord[];
  readonly commands: readonly CommandRecord[];
  /** Pages of the person on call, the newest of each action. */
  readonly pages?: Readonly<Record<string, PageView>>;
  /** The proofs of the messages that it has taken from holders of the platform's key. */
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

/** Decisions of people about the earlier attempt, and its waits. */
const ASKED_ANEW: Partial<ActionRecord> = { window: null, soak: null, unfit: null, override: null };

/**
 * The spec of a rollback: only its deploy actions, each at once (docs/design/deploy.md#verbs). It ignores the pipeline's own exclusion groups, which
 * a test may hold, and takes the groups that are shared with other pipelines. `inProduction` names the actions that ever succeeded: a rollback does
 * not deploy an action for the first time.
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

/** The spec of an emergency push: only this deploy, at once and outside its window (docs/design/deploy.md#emergency-push). */
export function emergencySpec(spec: PipelineSpec, name: string): PipelineSpec {
  const action = spec.actions[name];
  return {
    ...spec,
    actions: action?.type === 'deploy' ? { [name]: { ...withoutConditions(action), window: undefined } } : {},
  };
}

/** The spec of a follow-on: only this deploy, within its window. */
export function followOnSpec(spec: PipelineSpec, name: string): PipelineSpec {
  const action = spec.actions[name];
  return { ...spec, actions: action?.type === 'deploy' ? { [name]: withoutConditions(action) } : {} };
}

/**
 * The spec of an undeploy: these deploy actions, each after those that come after it in the file, without their soaks. It takes the groups that are
 * shared with other pipelines.
 */
export function undeploySpec(spec: PipelineSpec, deployed: readonly string[]): PipelineSpec {
  const edges = dependencies(spec.actions);
  const isAfter = (one: string, other: string): boolean => ancestors(edges, one).has(other);
  const deploys = Object.entries(rollbackSpec(spec, deployed).actions).map(([name, action]) => {
    const needs = deployed.filter((other) => isAfter(other, name));
    return [name, { ...action, needs, soak: undefined }] as const;
  });
  const { children: _, ...rest } = spec;
  return { ...rest, actions: Object.fromEntries(deploys) };
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

/** A new reason to wait replaces a wait for a lock, unless the patch names a lock. */
export function withAction(record: ReleaseRecord, name: string, patch: Partial<ActionRecord>): ReleaseRecord {
  const before = record.actions[name] ?? WAITING;
  const isPast = before.lock != null && patch.blockedBy !== undefined;
  const after = { ...before, ...(isPast ? { lock: null } : {}), ...patch };
  return { ...record, actions: { ...record.actions, [name]: after } };
}

/** A failed action starts again with a fresh attempt; actions that were skipped after it are decided anew. */
export function retryAction(record: ReleaseRecord, spec: Pick<PipelineSpec, 'actions'>, name: string): ReleaseRecord {
  const needs = dependencies(spec.actions);
  const reopened = new Set([name]);
  for (let before = 0; before < reopened.size;) {
    before = reopened.size;
    for (const [action, { state }] of Object.entries(record.actions))
      if (state === 'skipped' && (needs.get(action) ?? []).some((need) => reopened.has(need))) reopened.add(action);
  }
  const attempt = (record.actions[name]?.attempt ?? 0) + 1;
  return [...reopened].reduce(
    (next, action) => withAction(next, action, { ...WAITING, ...ASKED_ANEW, attempt: action === name ? attempt : 1 }),
    record,
  );
}

export function log(record: ReleaseRecord, nowMs: number, kind: string, text: string): ReleaseRecord {
  return { ...record, timeline: [...record.timeline, { at: formatTime(nowMs), kind, text }].slice(-200) };
}

export const getActionStates = (record: ReleaseRecord): Record<string, ActionState> =>
  Object.fromEntries(Object.entries(record.actions).map(([name, { state }]) => [name, state]));

/** The release's state follows from its actions (docs/design/pipeline.md#outcomes). */
export function releaseState(record: ReleaseRecord, spec: PipelineSpec): ReleaseState {
  const states = getActionStates(record);
  if (!Object.values(states).every(hasActionEnded)) return record.paused ? 'paused' : 'running';
  if (hasSucceeded({ spec, states })) return 'succeeded';
  return record.cause !== null || !Object.values(states).includes('failed') ? 'cancelled' : 'failed';
}

/** The person who let an action continue, or rejected it, and the reason. */
export interface PickRecord {
  readonly actor: string;
  readonly reason: string;
  readonly approve: boolean;
  /**
   * Identities of the release's artifacts at that time, which the approval covers. Missing for emergencies, which bring the artifacts that
   * they deploy.
   */
  readonly of?: readonly string[];
  /** The actor's groups according to the door, which cannot be looked up later. */
  readonly vouched?: readonly string[];
}

/** The commands that operators gave to a release. Verbs also reach its running deploys, which have their own rules. */
export interface ReleaseControl {
  /** The pipeline is frozen: no action starts. */
  readonly frozen: PipelineStopRecord | null;
  /** Decisions of people at picks, by action. */
  readonly picks: Readonly<Record<string, PickRecord>>;
  /** Approvers, by action: an emergency may need several. */
  readonly approvals: Readonly<Record<string, readonly PickRecord[]>>;
  readonly paused: boolean;
  /** A cancel, or a revert before any deploy: nothing else starts. */
  readonly ending: {
    readonly actor: string;
    readonly reason: string;
    readonly revert: boolean;
    readonly notBad: boolean;
    /** The rule that permitted it, if the actor is not an owner. */
    readonly permitted?: string;
  } | null;
}
