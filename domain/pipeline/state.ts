import { formatIdentity, matchesIdentity, pickIdentity, type Artifact } from '../artifact';
import type { VersionReplacement } from '../broughtVersions';
import type { HeldUnits } from '../deploy/heldUnits';
import type { Inheritance } from '../deploy/planRevert';
import { STATE_LIMITS } from '../limits';
import { FREE_MUTEX, type Mutex } from '../mutex';
import { DEFAULT_SETTINGS, type Settings } from '../settings';
import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { Proofs } from '../proof';
import type { CommandRecord } from '../verbs';
import type { HistoryRow, OmittedCounts, Trigger } from '../views';

/** The permanent memory of a pipeline, carried across continue-as-new (docs/design/workflows.md#state). */
export interface PipelineState {
  readonly spec: PipelineSpec;
  /** The platform's groups, for owners that are groups. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly settings: Settings;
  readonly nextNumber: number;
  readonly active: readonly ActiveRelease[];
  /** The lock for deploys: `deploy` actions of different releases exclude each other. */
  readonly deploys: Mutex;
  readonly ready: readonly ReadyAction[];
  /** The pipeline's own exclusion groups, by name; a group that was never asked for is missing. */
  readonly mutexes: Readonly<Record<string, Mutex>>;
  /** For each deploy action and pick, the newest release that began it: no older one may begin it any more. */
  readonly newestBegun: Readonly<Record<string, number>>;
  /** For each deploy action with a window that counts them: releases and the times at which they began, in ms. */
  readonly begunAt?: Readonly<Record<string, readonly (readonly [release: number, atMs: number])[]>>;
  /** For each deploy action, its successful deploys, newest last, to which a rollback goes back. */
  readonly good: Readonly<Record<string, readonly GoodDeploy[]>>;
  /**
   * For each deploy action, the versions of its units before a deploy that had to make way, to which the next one
   * reverts.
   */
  readonly inherited: Readonly<Record<string, Inheritance>>;
  /**
   * For each action, the number of units, or of pages of them, whose earlier versions had no room. A revert takes them back to the versions
   * that it finds.
   */
  readonly inheritedOmitted?: OmittedCounts;
  /** It has offered something to other pipelines, so its deploys look at who uses that. */
  readonly offered?: true;
  /** By deploy action: the pipelines whose offers its versions may still use. */
  readonly uses?: Readonly<Record<string, readonly string[]>>;
  readonly knownBad: readonly KnownBad[];
  /** The number of entries that had no room in the list: deploys stay held permanently. */
  readonly badUnlisted?: number;
  /** The latest value of each artifact that the pipeline takes, by name. */
  readonly inputs: Readonly<Record<string, Artifact>>;
  /** For each of them, the versions that others have replaced, newest last. */
  readonly followed: Readonly<Record<string, readonly string[]>>;
  /** For each of them, the time of the newest push from a webhook, in ms: an older push starts nothing. */
  readonly pushed?: Readonly<Record<string, number>>;
  /** Artifacts that finders and webhooks brought after a newer one; they start nothing. */
  readonly late: readonly LateArtifact[];
  /** Late artifacts whose predecessor has not come yet; they are taken up after it. */
  readonly early?: readonly Artifact[];
  /** A hold: deploys do not start … */
  readonly held: PipelineStopRecord | null;
  /** … and a freeze: nothing starts. */
  readonly frozen: PipelineStopRecord | null;
  /** The pipeline is not needed any more: its workflow ends once no release of it runs. */
  readonly retired?: PipelineStopRecord;
  readonly revertsInARow: number;
  /** The time of the last successful deploy that brought something new; rollbacks and follow-ons do not count. */
  readonly deployedAt?: string;
  /** Idempotency keys → release number, newest last. */
  readonly keys: readonly (readonly [string, number])[];
  readonly history: readonly HistoryRow[];
  readonly commands: readonly CommandRecord[];
  /** The last import of records from a file: its actor and time. */
  readonly imported?: ImportRecord;
  /** The proofs of the messages that it has taken from holders of the platform's key. */
  readonly proofs?: Proofs;
}

export interface ActiveRelease {
  readonly number: number;
  readonly state: 'queued' | 'running';
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
  readonly createdAt: string;
  readonly reportTo?: string;
  readonly emergency?: Emergency;
  readonly followOn?: FollowOn;
  /** The release that it repeats, … */
  readonly rerunOf?: number;
  /** … and the first in that series, whose place it has among the others (domain/pipeline/place.ts). */
  readonly place?: number;
  /** An undeploy: the deploys that it removes. */
  readonly deployed?: readonly string[];
  /** A follow-on that is not needed any more, and has been notified. */
  readonly dropped?: true;
  /** It has begun to deploy, so the calendar has admitted it. */
  readonly deploying?: true;
  /** The number of its deploys that are already recorded, by action. */
  readonly booked?: Readonly<Record<string, number>>;
  /** Replacements of its versions by other pipelines that came before its deploys were recorded, by action. */
  readonly replaced?: Readonly<Record<string, VersionReplacement | null>>;
  /** One of its deploys was reverted; each release counts only once. */
  readonly reverted?: true;
  /** The release that it was asked to make way for. */
  readonly overtakenBy?: number;
  /** A rollback: the good deploys that it began to undo, by action. They are good again if it leaves the fleet as it was. */
  readonly undone?: PipelineState['good'];
  /** It was ended from outside, and work that it began continues: in words. */
  readonly gone?: { readonly endedAt: string; readonly open: readonly string[] };
  /** With `gates: releases`: the time at which the calendar lets it start; null: never; missing: not looked up yet. */
  readonly opensAtMs?: number | null;
}

/** An emergency push: only this deploy, now (docs/design/deploy.md#emergency-push). */
export interface Emergency {
  readonly action: string;
  readonly skipBake: boolean;
}

/** Brings units that a deploy left out as unavailable to its version when they return; `Trigger.of` names the release. */
export interface FollowOn {
  readonly action: string;
  readonly units: readonly string[];
  /** The number of further units without room; they show as left behind. */
  readonly more?: number;
}

/** An action of a release that is ready except for the permission of its pipeline. */
export interface ReadyAction {
  readonly release: number;
  readonly action: string;
  readonly artifacts: readonly Artifact[];
  /** A rollback goes first, even during a hold or a freeze. */
  readonly rollback: boolean;
  /** The request: to deploy (the default, for older releases), to hold exclusion groups, or to let a person pick. */
  readonly kind?: 'deploy' | 'exclusive' | 'pick';
  readonly emergency?: boolean;
  /** An emergency that people approved after it was pushed. */
  readonly approved?: boolean;
  /** Exclusion groups of the pipeline. */
  readonly mutex?: readonly string[];
  /** It cannot begin before this time, but takes part so that a newer one may supersede it. */
  readonly later?: { readonly why: string; readonly untilMs?: number };
  readonly readyAtMs?: number;
  /** The time at which the calendar opens for it; null: never; missing: not looked up yet. */
  readonly opensAtMs?: number | null;
}

export interface GoodDeploy {
  /** 0 if it ran before the first release. */
  readonly release: number;
  readonly version: string;
  readonly artifacts: readonly Artifact[];
  /** It comes from an import, so no worker saw it. */
  readonly imported?: true;
  /** The units that its deploy held; missing if unknown. */
  readonly held?: HeldUnits;
  /** The time since which it has run without another deploy of the action; null if it no longer runs everywhere. Missing in older records. */
  readonly since?: string | null;
  /** The longest such time before, in ms. */
  readonly ranMs?: number;
  /** For the first: the versions of units before it, if there were several. */
  readonly over?: string;
  /** The release of another pipeline that brought it after `release` of this one: `web-b/1`. */
  readonly by?: string;
  /** That release has removed all units, so that nothing runs. */
  readonly removed?: true;
  /** The units, in words, on which a release of another pipeline has replaced it, or which it has removed. */
  readonly partly?: { readonly by: string; readonly version: string; readonly on: string; readonly removed?: true };
}

export interface ImportRecord {
  readonly actor: string;
  readonly at: string;
  /** Imported by an admin, or when no rules existed. */
  readonly vouched: boolean;
}

export interface KnownBad {
  /** Identity: `executable@kv:13`. */
  readonly artifact: string;
  readonly at: string;
  readonly reason: string;
}

export interface LateArtifact {
  /** Identity: `source@1a2b`. */
  readonly artifact: string;
  readonly at: string;
  /** The version that was the latest then. */
  readonly behind: string;
}

export interface PipelineStopRecord {
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
  /** For a freeze: the time at which it lifts itself. */
  readonly until?: string;
}

export function newPipeline(spec: PipelineSpec, groups: PipelineState['groups'], settings: Settings): PipelineState {
  return {
    spec,
    groups,
    settings,
    nextNumber: 1,
    active: [],
    deploys: FREE_MUTEX,
    ready: [],
    mutexes: {},
    newestBegun: {},
    good: {},
    inherited: {},
    knownBad: [],
    inputs: {},
    followed: {},
    late: [],
    held: null,
    frozen: null,
    revertsInARow: 0,
    keys: [],
    history: [],
    commands: [],
  };
}

/** A state from an earlier version of this code, completed with the fields that were added since. */
export const restoreState = ({ retired: _retired, ...carried }: PipelineState): PipelineState => ({
  ...newPipeline(carried.spec, carried.groups, carried.settings),
  ...carried,
  settings: { ...DEFAULT_SETTINGS, ...carried.settings },
});

/** A new release in the queue; the pipeline starts it when there is room. */
export function queueRelease(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  nowMs: number,
  more: Pick<ActiveRelease, 'reportTo' | 'emergency' | 'followOn' | 'rerunOf' | 'place' | 'undone' | 'deployed'> = {},
): PipelineState {
  const number = state.nextNumber;
  // The artifacts of a rollback or a follow-on are in the good deploys, and are looked up there when it starts.
  const known = trigger.kind === 'rollback' || trigger.kind === 'follow-on' ? artifacts.map(pickIdentity) : artifacts;
  const createdAt = formatTime(nowMs);
  const release: ActiveRelease = { number, state: 'queued', artifacts: known, trigger, createdAt, ...more };
  return withKey({ ...state, nextNumber: number + 1, active: [...state.active, release] }, trigger, number);
}

/** Records the key: a repeated request with it gets this release. */
export const withKey = (state: PipelineState, { key }: Trigger, number: number): PipelineState =>
  key === null || state.keys.some(([known]) => known === key)
    ? state
    : { ...state, keys: [...state.keys, [key, number] as const].slice(-STATE_LIMITS.keys.max) };

/** The release runs, with its full input; the pipeline keeps only the identities of its artifacts. */
export const markReleaseRunning = (state: PipelineState, number: number): PipelineState => ({
  ...state,
  active: state.active.map((release) =>
    release.number === number
      ? { ...release, state: 'running' as const, artifacts: release.artifacts.map(pickIdentity) }
      : release,
  ),
});

/**
 * The version to which units with several versions go back: never one that is good only according to an import, unless an admin vouched for
 * it. Null if another pipeline has removed the units.
 */
export const goesBackTo = ({ imported }: PipelineState, deploy: GoodDeploy | undefined): string | null =>
  deploy === undefined || deploy.removed || (deploy.imported && imported?.vouched !== true) ? null : deploy.version;

/** Whether it offers something to other pipelines, or did so. Its first file may be the only one. */
export const hasOffered = ({ offered, spec }: Pick<PipelineState, 'offered' | 'spec'>): boolean =>
  offered === true || spec.offers !== undefined;

export const isKnownBad = (state: PipelineState, artifact: Artifact): KnownBad | undefined =>
  state.knownBad.find((bad) => bad.artifact === formatIdentity(artifact));

/** Like `isKnownBad`, but for any digest of a bad version: the version without its digest, or with another, is not good either. */
export const isBadVersion = (state: PipelineState, { name, version }: Artifact): KnownBad | undefined =>
  state.knownBad.find(({ artifact }) => matchesIdentity(artifact, `${name}@${version}`));

export const allowVersion = (state: PipelineState, nameAtVersion: string): PipelineState => ({
  ...state,
  knownBad: state.knownBad.filter(({ artifact }) => !matchesIdentity(artifact, nameAtVersion)),
});

export const holdPipeline = (state: PipelineState, actor: string, reason: string, nowMs: number): PipelineState => ({
  ...state,
  held: { actor, reason, at: formatTime(nowMs) },
});

/**
 * The inheritance for the next deploy of an action. Without one, a revert goes back to the versions that the deploy
 * finds.
 */
export function withInherited(
  inherited: PipelineState['inherited'],
  action: string,
  inheritance: Inheritance | null,
): PipelineState['inherited'] {
  const { [action]: _before, ...others } = inherited;
  return inheritance === null ? others : { ...others, [action]: inheritance };
}
