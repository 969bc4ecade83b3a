import type { Artifact } from './artifact';
import type { Pattern } from './deploy/pattern';
import type { CommandRecord } from './verbs';
import type { Verdict } from './health/verdict';
import type { SoakSpec } from './spec/pipeline';
import type { BlackoutSpec, WindowSpec } from './spec/times';

/** What people and scripts see (docs/reference/cli.md#json): the JSON of `status` and `list`. Times ISO-8601 UTC, durations in ms. */

export type ReleaseState = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled';
export type ReleaseCause = 'superseded' | 'bad-package' | 'operator' | 'parent-failed' | 'preempted' | 'expired';
export type ActionState = 'waiting' | 'blocked' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'skipped';

export interface Trigger {
  readonly kind: 'manual' | 'webhook' | 'finder' | 'rollback' | 'api' | 'emergency' | 'parent' | 'follow-on';
  readonly actor: string;
  readonly key: string | null;
  /** rollback: the release that is undone; follow-on: the one whose deploy left units out. */
  readonly of?: number;
  /** rollback: whoever asked for it said that the undone version is not bad. */
  readonly notBad?: true;
  /** rollback: to what only an import calls good, so it has to pass the rules like any release. */
  readonly imported?: true;
  /** emergency, and a rerun: why. */
  readonly reason?: string;
  /** parent: the release whose child this is, such as `inference/3`. */
  readonly parent?: string;
  /** parent: the person or program that started the release whose child this is. */
  readonly startedBy?: string;
  /** By which rule the door lets them that took it; owners are asked no more then. */
  readonly permitted?: string;
}

export interface ActionView {
  readonly name: string;
  readonly type: string;
  readonly state: ActionState;
  readonly attempt: number;
  /** Why it is blocked, or the last thing an action service said. */
  readonly blockedBy: string | null;
  readonly until: string | null;
  /** The id of the lock that it waits for, and who holds that. */
  readonly lock?: string | null;
  readonly heldBy?: Holder;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** The id of its deploy; null for other actions. */
  readonly deploy: string | null;
  /** Where its deploy is paused: by what or whom, since when and why. */
  readonly paused?: Pause;
  readonly needs: readonly string[];
  readonly progress: number | null;
  readonly message: string | null;
  /** Who may pick, while it waits for a person; null otherwise. */
  readonly pickBy: readonly string[] | null;
  /** An emergency that waits for owners to approve it. */
  readonly approval?: ApprovalView | null;
  /** It was not run: it had succeeded in that release, which this one runs again. */
  readonly carriedFrom?: number;
  /** What it made, or was to deploy, and is known to be bad: `executable@kv:13`. Nobody deploys it until a person allows it. */
  readonly knownBad?: readonly string[];
  /** How many attempts it may have by itself, the first included. */
  readonly attempts?: number;
  /** Where its service shows more, such as a log. */
  readonly url?: string | null;
}

/** Who holds a lock. */
export interface Holder {
  /** Its release, such as `search/4`. */
  readonly id: string;
  /** Null where the lock does not know. */
  readonly since: string | null;
}

/** How many people must approve, who has, and who cannot since they asked for it. */
export interface ApprovalView {
  /** By owners, for an emergency; or the most that a rule of the platform wants. */
  readonly needed: number;
  readonly by: readonly string[];
  readonly notBy: string;
  /** What the rules of the platform want, where there are any: `platform.protection`. */
  readonly rules?: readonly ApprovalRuleView[];
  /** Who approved and does not count: they are in none of the groups, or not any more. */
  readonly uncounted?: readonly string[];
}

export interface ApprovalRuleView {
  /** In the configuration, such as `platform.protection.0`. */
  readonly place: string;
  readonly needed: number;
  /** Whose approval counts now. */
  readonly by: readonly string[];
  /** Whom the rule names, groups as such; the first of them. */
  readonly from: readonly string[];
  /** Who of them may approve besides, as far as the configuration lists them; the first of them. */
  readonly others: readonly string[];
}

/** A rollback of a release that had come through. */
export interface Undone {
  /** Its release: `web/5`. */
  readonly by: string;
  /** When it had undone it; null until then. */
  readonly at: string | null;
  /** Until then, that of the rollback: while it is `queued` it waits. */
  readonly state?: ReleaseState;
}

/** What a deploy action runs in production, as its pipeline knows it. */
export interface RunsNow {
  readonly action: string;
  readonly version: string;
  /** The release that brought it, perhaps of another pipeline; null if it ran before the first one. */
  readonly by: string | null;
}

export interface ReleaseSummary {
  readonly id: string;
  readonly kind: 'release';
  readonly pipeline: string;
  readonly number: number;
  readonly state: ReleaseState;
  readonly cause: ReleaseCause | null;
  /** superseded, preempted: the release that it made way for. */
  readonly causedBy?: number;
  /** The release of which it runs again what did not succeed. */
  readonly rerunOf?: number;
  readonly trigger: Trigger;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly artifacts: readonly Artifact[];
  /** In the status of its pipeline: who paused the release itself, since when and why. */
  readonly paused?: Pause;
  /** In lists and in the status of its pipeline: a deploy of it that is paused, since when and why. */
  readonly pausedDeploy?: Pause & { readonly id: string };
  /** What it brought is undone, or being undone; missing if the list or its pipeline no longer has the rollback. */
  readonly undone?: Undone;
  /** In its status, that of its pipeline and the history: the release of another pipeline that runs where it had brought its version, such as `web-b/1`. */
  readonly replacedBy?: string;
  /** In lists and in the status of its pipeline: its workflow is stuck or waits for a worker, so that this is as it was before. */
  readonly problem?: string;
}

export interface ReleaseStatus extends ReleaseSummary {
  /** Once it is undone. */
  readonly runsNow?: readonly RunsNow[];
  readonly actions: readonly ActionView[];
  readonly commands: readonly CommandRecord[];
  readonly timeline: readonly TimelineEntry[];
  /** Null for a release that is not a parent. */
  readonly children?: ChildrenView | null;
  readonly webUi: string;
}

/** What became of the releases that a parent starts: numbers, however many there are; the counts add up to `total`. */
export interface ChildrenView {
  /**
   * `selecting`: which they are is being found out; `first`: those run that must succeed before the others start.
   * Succeeded means that every one of them did.
   */
  readonly state: 'selecting' | 'first' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** Those known so far. */
  readonly total: number;
  readonly waiting: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  /** They will not be: those that go first did not succeed, or a person cancelled. */
  readonly notStarted: number;
  /** The first of those that did not succeed. */
  readonly failures: readonly ChildFailure[];
  /** Why it failed, or starts nothing more. */
  readonly reason: string | null;
  readonly commands: readonly CommandRecord[];
}

export interface ChildFailure {
  /** Its release, such as `model-7/3`; the pipeline alone when it was refused. */
  readonly id: string;
  readonly state: 'failed' | 'cancelled' | 'refused';
  readonly reason: string;
}

export type DeployState =
  | 'planning'
  | 'waiting-lock'
  | 'waiting-window'
  | 'preprocessing'
  | 'updating'
  | 'baking'
  | 'postprocessing'
  | 'reverting'
  | 'ended';
export type DeployOutcome = 'succeeded' | 'reverted' | 'failed' | 'cancelled' | 'revert-failed';
export type Classification = 'success' | 'good-failure' | 'bad-failure';
export type PhaseState = 'waiting' | 'running' | 'succeeded' | 'skipped' | 'failed' | 'reverted';

/** Pause lies over the states. */
export interface Pause {
  readonly by: 'operator' | 'health' | 'dependency' | 'timeout' | 'unit' | 'action' | 'freeze';
  /** By a dependency: which one, such as `push type twine`. */
  readonly on?: string;
  readonly actor: string | null;
  readonly at: string;
  readonly reason: string;
  /** Nobody asks again by itself: it lasts until a person resumes, as after a refusal. */
  readonly until?: 'resumed';
  /** In `status`: how what it waits for is now. */
  readonly now?: DependencyNow;
}

/** What a deploy is paused for, as Temporal knows it at this moment; its reason is of the time of the pause. */
export interface DependencyNow {
  readonly answers: boolean;
  /** When it answered last, or was asked in vain; null where Temporal does not say. */
  readonly at: string | null;
  /** What it answered, or what asking it came to. */
  readonly said: string;
  /** When it is asked again; null while it is being asked. */
  readonly nextAt: string | null;
}

export interface UnitCounts {
  readonly id: string;
  readonly targeted: number;
  readonly updated: number;
  readonly live: number;
}

/** Of all units together; counts but `units` are tasks. */
export interface UnitTotals {
  readonly units: number;
  readonly targeted: number;
  readonly updated: number;
  readonly live: number;
}

export interface PhaseView {
  readonly index: number;
  readonly name: string;
  readonly scope: string;
  /** As written: `3`, `5%`. */
  readonly amount: string;
  readonly state: PhaseState;
  /** All of them where they are few; of many the first that are not through, and none of phases long past. */
  readonly units: readonly UnitCounts[];
  /** Missing before its first update. */
  readonly totals?: UnitTotals;
  readonly startedAt: string | null;
  readonly updatedAt: string | null;
  /** While baking, null; see `bakeUntil`. */
  readonly bakedAt: string | null;
  readonly bakeUntil: string | null;
  /** Who skipped what, and why. */
  readonly skipped: string | null;
}

/** Parallel mode: units that health paused by themselves while the others continue. */
export interface PausedGroup {
  /** `region:x`, or the id of the one unit. */
  readonly group: string;
  readonly units: readonly string[];
  readonly at: string;
  readonly reason: string;
}

export interface HealthRow {
  readonly unit: string;
  readonly check: string;
  readonly verdict: Verdict;
  readonly observed: number | null;
  readonly reference: number | null;
  readonly threshold: number | null;
  readonly samples: number;
  readonly reason: string;
  /** `observed` of the last evaluations, oldest first; only of the worst rows. */
  readonly recent?: readonly number[];
}

/** A check that was unhealthy and that a person let the deploy continue in spite of: by skipping it, or by resuming. */
export interface Override {
  readonly check: string;
  readonly actor: string;
  readonly reason: string;
  readonly at: string;
}

export interface TimelineEntry {
  readonly at: string;
  /** A kebab-case word: `phase-started`, `updates-done`, `bake-passed`, `bake-skipped`, `paused`, `reverting`, … */
  readonly kind: string;
  readonly text: string;
}

/** Where the time went; they add up to the duration of the deploy. */
export interface Spans {
  readonly lockWaitMs: number;
  readonly windowWaitMs: number;
  readonly pausedMs: number;
  readonly dependencyWaitMs: number;
  readonly preMs: number;
  readonly updateMs: number;
  readonly bakeMs: number;
  readonly postMs: number;
  readonly revertMs: number;
  readonly overheadMs: number;
}

export interface RevertView {
  /** `health` or the person who asked. */
  readonly by: string;
  readonly reason: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** As of a phase. */
  readonly units: readonly (UnitCounts & { readonly toVersion: string })[];
  readonly totals?: UnitTotals;
  /** Units that it cannot bring back: they are gone, or their push type refuses. */
  readonly leftOut?: readonly { readonly id: string; readonly reason: string }[];
}

export interface DeploySummary {
  readonly id: string;
  readonly kind: 'deploy';
  readonly state: DeployState;
  readonly outcome: DeployOutcome | null;
  readonly classification: Classification | null;
  /** How far it had got when it failed, from 0 to 1: the tasks until the end of that phase, of those of all phases. */
  readonly progress?: number | null;
  readonly version: string;
  readonly pushType: string;
  readonly attempt: number;
  readonly paused: Pause | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** As of a release. */
  readonly problem?: string;
}

export interface DeployStatus extends DeploySummary {
  /** One sentence: what it is doing, or why and until when it waits. */
  readonly summary: string;
  /** What it waits for before it continues, and until when; null while it waits for nothing, or nobody knows. */
  readonly blockedBy?: string | null;
  readonly until?: string | null;
  /** How many others go first, where its change waits for its turn to land. */
  readonly ahead?: number;
  /** As of an action. */
  readonly lock?: string | null;
  readonly heldBy?: Holder;
  /** As of a release, once it is undone. */
  readonly undone?: Undone;
  readonly runsNow?: readonly RunsNow[];
  /** Of configuration, cancelled or failed: its change is on the branch all the same. Missing if that is not known. */
  readonly landed?: { readonly change: number; readonly commit: string };
  /** Units that it left out since they are unavailable; a follow-on release brings them to its version when they return. */
  readonly skipped?: readonly string[];
  /** What its push type knows its updates by, in order; those of a revert are not among them. */
  readonly updates?: readonly string[];
  /** How its phases grow; missing before it is planned. */
  readonly pattern?: Pattern;
  /** Of a bad failure: what it failed by, such as `push type twine` or `update timeout`. */
  readonly blame?: string;
  readonly phases: readonly PhaseView[];
  readonly pausedGroups?: readonly PausedGroup[];
  readonly health: readonly HealthRow[];
  readonly commands: readonly CommandRecord[];
  readonly timeline: readonly TimelineEntry[];
  readonly spans: Spans;
  readonly revert: RevertView | null;
  /** What to type next, most useful first. */
  readonly next: readonly string[];
  readonly webUi: string;
}

export interface PipelineSummary {
  readonly id: string;
  readonly kind: 'pipeline';
  readonly description: string;
  readonly owners: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** `frozen` when it is both frozen and held. */
  readonly state: 'active' | 'held' | 'frozen';
  /** When the freeze lifts itself; missing where a person has to. */
  readonly frozenUntil?: string;
  readonly active: readonly number[];
  readonly lastRelease: number | null;
  /** When it last brought something new into production, by a deploy that succeeded; missing where none has. In lists as of the last release that ended. */
  readonly deployedAt?: string;
  /** In lists: who holds it, froze it or retired it, the strongest of these; the reason is shortened. */
  readonly stopped?: Stopped;
  /** In lists: its workflow has ended, and nothing of it continues; applying it again lets it. */
  readonly ended?: true;
  /** As of a release. */
  readonly problem?: string;
}

/** When deploys (or, with `gates: releases`, releases) of a pipeline may start. */
export interface ScheduleView {
  readonly mode: 'continuous' | 'calendar' | 'manual';
  readonly gates: 'deploys' | 'releases';
  /** The next time of a calendar; null when there is none, or it is not resolved yet. */
  readonly next: string | null;
  /** IANA zone of a calendar. */
  readonly timezone?: string;
}

/** A mutual exclusion group, and `deploy` actions as one: which release holds it and which wait, in their order. */
export interface GroupView {
  readonly name: string;
  readonly scope: 'pipeline' | 'global';
  readonly holder: number | null;
  readonly waiting: readonly number[];
}

/** How a finder stands, as of its last sweeps. */
export interface FinderView {
  /** Its name. */
  readonly id: string;
  readonly kind: 'finder';
  /** `idle`: no pipeline uses it; `paused`: a person paused its Temporal Schedule; `unasked`: no worker asks it. */
  readonly state: 'answers' | 'failing' | 'idle' | 'paused' | 'unasked';
  /** When the last sweep began that it answered; null where none is known. */
  readonly answeredAt: string | null;
  /** Failing and unasked: since when, at least. */
  readonly since: string | null;
  /** What it said, or why it is not asked. */
  readonly reason: string | null;
  /** When it is asked next; null while it is being asked, and where nobody knows. */
  readonly nextAt: string | null;
  /** What its last sweep could not bring: the first reasons. In the status of a pipeline, its own. */
  readonly refused: readonly string[];
}

/** Why a release of a pipeline does not continue. */
export interface WaitView {
  readonly release: number;
  /** Null while the whole release waits to start. */
  readonly action: string | null;
  readonly why: string;
  readonly until: string | null;
}

/** Who stopped a pipeline, when and why. */
export interface Stopped {
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
  /** Of a freeze: when it lifts itself. */
  readonly until?: string;
}

/** Units that a follow-on was to bring to the version that runs elsewhere, and did not. */
export interface BehindView {
  readonly action: string;
  readonly units: readonly string[];
  /** So many more, whose names the pipeline has no room for. */
  readonly more?: number;
  readonly version: string;
  /** The follow-on that ended without. */
  readonly release: number;
  /** The command that brings them. */
  readonly bring: string;
}

/** What a deploy action brought last, and what runs there if another pipeline has deployed since. */
export interface GoodView {
  readonly release: number;
  readonly version: string;
  /** `by` is the release of the other pipeline; `on` names the units if only some are affected. */
  readonly replaced?: { readonly by: string; readonly version: string; readonly on?: string };
  /** The locks that have it could not be read in time. */
  readonly replacedUnknown?: true;
  /** What a later release brought, until the rollback `by` has ended for this action: so long its units run that version, or both. */
  readonly undoing?: { readonly release: number; readonly version: string; readonly by: string };
}

export interface PipelineStatus extends PipelineSummary {
  readonly held: Stopped | null;
  readonly frozen?: Stopped | null;
  /** Who retired it; `apply` brings it back. */
  readonly retired?: Stopped;
  readonly schedule?: ScheduleView;
  readonly groups?: readonly GroupView[];
  /** Of deploy actions whose windows let only so many begin: when the last ones did, oldest first. */
  readonly begun?: Readonly<Record<string, readonly string[]>>;
  /** What is waited for: by queued releases, and by actions of running ones. */
  readonly waits?: readonly WaitView[];
  /** The latest of each input that finders, webhooks or people brought. */
  readonly inputs?: readonly Artifact[];
  /** Those that look for its inputs; missing where Temporal could not say in time. */
  readonly finders?: readonly FinderView[];
  /** What finders and webhooks brought after something newer: it started nothing. */
  readonly late?: readonly { readonly artifact: string; readonly at: string; readonly behind: string }[];
  readonly knownBad: readonly { readonly artifact: string; readonly at: string; readonly reason: string }[];
  /** Per deploy action: what it brought to production last, and which release did. */
  readonly lastGood: Readonly<Record<string, GoodView>>;
  /** What is left behind; nothing tries again by itself. */
  readonly behind?: readonly BehindView[];
  readonly releases: readonly ReleaseSummary[];
  readonly commands: readonly CommandRecord[];
  /** Who last imported records of it from a file, and when. */
  readonly imported?: { readonly actor: string; readonly at: string };
  readonly webUi: string;
  /** The page that lists it with its releases and deploys. */
  readonly webUiList?: string;
}

/** `plan -o json`. */
export interface PlanView {
  readonly pipeline: string;
  readonly action: string;
  readonly pattern: string;
  /** What its version has to soak in before it begins, and for how long; the times of the phases are without. `for` is `forMs` as it was called before. */
  readonly soak?: SoakSpec & { readonly forMs: number };
  /** A release that waits in the queue for longer is cancelled; missing where none is. */
  readonly expireAfterMs?: number;
  /** When it may update; missing where that is always. */
  readonly windows?: readonly WindowSpec[];
  /** Those that it meets. */
  readonly blackouts?: readonly BlackoutSpec[];
  readonly phases: readonly {
    readonly index: number;
    readonly name: string;
    readonly scope: string;
    readonly amount: string;
    readonly effectivePercent: number;
    readonly units: readonly { readonly id: string; readonly tasks: number }[];
    readonly startsAt: string | null;
    readonly updatedAt: string | null;
    readonly bakedAt: string | null;
  }[];
  /** Every check in words, whole, also where the file takes a ready one. */
  readonly checks: readonly { readonly name: string; readonly rule: string }[];
  readonly finishesAt: string | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** How many entries of a list were left out, by the name of the list. */
export type Omitted = Readonly<Record<string, number>>;

/** A finished release in `history`. Its artifacts are what identifies them; `omitted` says how much of its lists is left out. */
export interface HistoryRow extends ReleaseSummary {
  readonly durationMs: number | null;
  /** It ended while it waited to start. */
  readonly neverStarted?: true;
  /** It comes from an import: only what the file said is known about it. */
  readonly imported?: true;
  /** Of a rerun: the first release in its line, where it stands among the others. */
  readonly place?: number;
  readonly omitted?: Omitted;
  /** Of a follow-on: what it was to bring to the version of `trigger.of`. */
  readonly followOn?: { readonly action: string; readonly units: readonly string[]; readonly more?: number };
  readonly deploys: readonly DeployRow[];
}

/** How a deploy of a finished release ended. */
export interface DeployRow {
  readonly action: string;
  readonly outcome: DeployOutcome;
  readonly classification: Classification;
  readonly version: string;
  /** Units that it left out since they were unavailable. */
  readonly skipped?: readonly string[];
  readonly progress?: number;
  /** Who reverted it (`health` or a person), and whether its version is known-bad; rows from before that was kept have none. */
  readonly reverted?: { readonly by: string; readonly bad: boolean };
  readonly overridden?: readonly Override[];
  readonly omitted?: Omitted;
}
