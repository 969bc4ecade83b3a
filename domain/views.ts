import type { Artifact } from './artifact';
import type { Pattern } from './deploy/pattern';
import type { CommandRecord, Verb } from './verbs';
import type { Verdict } from './health/verdict';
import type { SoakSpec } from './spec/pipeline';
import type { BlackoutSpec, WindowSpec } from './spec/times';

/**
 * The JSON of `status` and `list`, for people and scripts (docs/reference/cli.md#json). Times ISO-8601 UTC, durations
 * in ms.
 */

/** The verbs that something accepts now from a person who may give them, each with its effect in one sentence. */
export type AcceptedVerbs = { readonly [V in Verb]?: string };

export type ReleaseState = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled';
export type ReleaseCause = 'superseded' | 'bad-package' | 'operator' | 'parent-failed' | 'preempted' | 'expired';
export type ActionState = 'waiting' | 'blocked' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'skipped';

export interface Trigger {
  readonly kind:
    'manual' | 'webhook' | 'finder' | 'rollback' | 'api' | 'emergency' | 'parent' | 'follow-on' | 'undeploy';
  readonly actor: string;
  readonly key: string | null;
  /** rollback: the undone release; follow-on: the release whose deploy left units out. */
  readonly of?: number;
  /** rollback: requested with the note that the undone version is not bad. */
  readonly notBad?: true;
  /** rollback: to a version that is good only according to an import, so it has to pass the rules like any release. */
  readonly imported?: true;
  /** The reason of a person; always there for an emergency and an undeploy. */
  readonly reason?: string;
  /** parent: the release whose child this is, such as `inference/3`. */
  readonly parent?: string;
  /** parent: the person or program that started the release whose child this is. */
  readonly startedBy?: string;
  /** The rule by which the server permitted it; owners are not consulted then. */
  readonly permitted?: string;
}

export interface ActionView {
  readonly name: string;
  readonly type: string;
  readonly state: ActionState;
  readonly attempt: number;
  /** The reason why it is blocked, or the last message of its action service. */
  readonly blockedBy: string | null;
  readonly until: string | null;
  /** The id of the lock that it waits for, and the holder. */
  readonly lock?: string | null;
  readonly heldBy?: Holder;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** The id of its deploy; null for other actions. */
  readonly deploy: string | null;
  /** If its deploy is paused: the actor, the time and the reason. */
  readonly paused?: Pause;
  readonly needs: readonly string[];
  readonly progress: number | null;
  readonly message: string | null;
  /** The principals that may pick, while it waits for a person; null otherwise. */
  readonly pickBy: readonly string[] | null;
  /** An emergency that waits for owners to approve it. */
  readonly approval?: ApprovalView | null;
  /** The offers of other pipelines that its deploy needs. */
  readonly wishes?: readonly WishView[];
  /** While its deploy waits for them: the users that its own offers do not fit. */
  readonly unfit?: UnfitUsers | null;
  /** A person let its deploy begin although its offers do not fit their users. */
  readonly override?: OfferOverride | null;
  /** It was not run: it had succeeded in the release of this number, which this one reruns. */
  readonly carriedFrom?: number;
  /**
   * Known-bad artifacts that it made or was to deploy: `executable@kv:13`. They are not deployed until a person allows
   * them.
   */
  readonly knownBad?: readonly string[];
  /** The number of automatic attempts, the first included. */
  readonly attempts?: number;
  /** A page of its service, such as a log. */
  readonly url?: string | null;
  /** The verbs of actions that it accepts now; missing if there are none. */
  readonly accepts?: AcceptedVerbs;
}

/** An offer of another pipeline that a deploy needs. */
export interface WishView {
  /** The pipeline that is to offer it. */
  readonly from: string;
  readonly offer: string;
  /** The range of versions that it has to be in. */
  readonly range: string | null;
  readonly state: 'waiting' | 'satisfied';
  /** The version and the number of the offer that the deploy uses; null until it begins. */
  readonly version: string | null;
  readonly seq: number | null;
}

/** A deploy of another pipeline that an offer does not fit. */
export interface UnfitUser {
  readonly offer: string;
  /** `shop/deploy` */
  readonly user: string;
  /** `wishes for ^1` */
  readonly why: string;
}

export interface UnfitUsers {
  readonly users: readonly UnfitUser[];
  /** The number of others. */
  readonly more: number;
}

export interface OfferOverride {
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
}

/** The holder of a lock. */
export interface Holder {
  /** Its release, such as `search/4`. */
  readonly id: string;
  /** Null if the lock does not know. */
  readonly since: string | null;
}

/** The number of people who must approve, those who have approved, and those who cannot because they requested it. */
export interface ApprovalView {
  /** The approvals by owners that an emergency needs, or the highest number that a rule of the platform requires. */
  readonly needed: number;
  readonly by: readonly string[];
  readonly notBy: string;
  /** The rules of the platform about it, if any: `platform.protection`. */
  readonly rules?: readonly ApprovalRuleView[];
  /** People whose approval does not count: they are in none of the groups, or no longer. */
  readonly uncounted?: readonly string[];
}

export interface ApprovalRuleView {
  /** The rule's place in the configuration, such as `platform.protection.0`. */
  readonly place: string;
  readonly needed: number;
  /** People whose approval counts now. */
  readonly by: readonly string[];
  /** The first principals that the rule names; groups are not expanded. */
  readonly from: readonly string[];
  /** The first others who may approve, as far as the configuration lists them. */
  readonly others: readonly string[];
}

/** A rollback of a release that had succeeded. */
export interface Undone {
  /** The release of the rollback: `web/5`. */
  readonly by: string;
  /** The time when the rollback finished; null until then. */
  readonly at: string | null;
  /** The state of the rollback until then: while `queued`, it waits. */
  readonly state?: ReleaseState;
}

/** The version that a deploy action runs in production, as its pipeline knows it. */
export interface RunsNow {
  readonly action: string;
  readonly version: string;
  /** The release that brought it, perhaps of another pipeline; null if it ran before the first release. */
  readonly by: string | null;
}

export interface ReleaseSummary {
  readonly id: string;
  readonly kind: 'release';
  readonly pipeline: string;
  readonly number: number;
  readonly state: ReleaseState;
  readonly cause: ReleaseCause | null;
  /** superseded, preempted: the release that took its place. */
  readonly causedBy?: number;
  /** The release whose unsuccessful actions it reruns. */
  readonly rerunOf?: number;
  readonly trigger: Trigger;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly artifacts: readonly Artifact[];
  /** In the status of its pipeline: the pause of the release itself, with its actor, time and reason. */
  readonly paused?: Pause;
  /** In lists and in the status of its pipeline: its paused deploy, with the time and reason. */
  readonly pausedDeploy?: Pause & { readonly id: string };
  /**
   * The rollback that has undone it or is undoing it; missing if the list or its pipeline no longer has the rollback.
   */
  readonly undone?: Undone;
  /**
   * In its status, that of its pipeline and the history: the release of another pipeline that replaced its version
   * or removed its units, such as `web-b/1`.
   */
  readonly replacedBy?: string;
  /**
   * In lists and in the status of its pipeline: its workflow is stuck or waits for a worker, so this information is
   * old.
   */
  readonly problem?: string;
}

export interface ReleaseStatus extends ReleaseSummary {
  /** Present once it is undone. */
  readonly runsNow?: readonly RunsNow[];
  readonly actions: readonly ActionView[];
  /** The broken offers of others that its deploys use, once it has ended; missing if there are none, or their pipelines did not answer in time. */
  readonly brokenUses?: readonly BrokenUseView[];
  readonly commands: readonly CommandRecord[];
  readonly timeline: readonly TimelineEntry[];
  /** Pages of the person on call about its deploys; missing if there are none. */
  readonly pages?: readonly PageView[];
  /** Null for a release that is not a parent. */
  readonly children?: ChildrenView | null;
  /** Missing once it has ended, and from a worker of an earlier version. */
  readonly accepts?: AcceptedVerbs;
  readonly webUi: string;
}

/** The page of the person on call about a deploy that paused or reverted by itself. */
export interface PageView {
  /** 1 for the first page about the action's deploys. */
  readonly number: number;
  /** `kvstore/12/deploy` */
  readonly deploy: string;
  readonly kind: 'paused' | 'reverted';
  readonly reason: string;
  readonly since: string;
  /** The time at which the person is paged unless a person acts before. */
  readonly dueAt: string;
  /** `due`: not sent yet; `failed`: it reached no receiver; `over`: the deploy needs no person any more. */
  readonly state: 'due' | 'paged' | 'failed' | 'over';
  /** The receiver that was paged; null before. */
  readonly to: string | null;
  /** A failure, or the reason why another receiver was paged. */
  readonly note: string | null;
  /** The person who answered, and where: `user:alice`, or `Alice in PagerDuty`; null if no person has. */
  readonly answeredBy: string | null;
  readonly answeredAt: string | null;
}

/** The releases that a parent starts, in numbers; the counts add up to `total`. */
export interface ChildrenView {
  /**
   * `selecting`: the children are being determined; `first`: those that must succeed before the others start are
   * running. Succeeded means that all of them succeeded.
   */
  readonly state: 'selecting' | 'first' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** The number known so far. */
  readonly total: number;
  readonly waiting: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Children that will not start: those that go first did not succeed, or a person cancelled. */
  readonly notStarted: number;
  /** The first children that did not succeed. */
  readonly failures: readonly ChildFailure[];
  /** The reason why it failed, or starts nothing more. */
  readonly reason: string | null;
  readonly commands: readonly CommandRecord[];
}

export interface ChildFailure {
  /** Its release, such as `model-7/3`; only the pipeline if it was refused. */
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
  | 'removing'
  | 'ended';
export type DeployOutcome = 'succeeded' | 'reverted' | 'failed' | 'cancelled' | 'revert-failed';
export type Classification = 'success' | 'good-failure' | 'bad-failure';
export type PhaseState = 'waiting' | 'running' | 'succeeded' | 'skipped' | 'failed' | 'reverted';

/** A pause, which is independent of the state. */
export interface Pause {
  readonly by: 'operator' | 'health' | 'dependency' | 'timeout' | 'unit' | 'action' | 'freeze';
  /** The dependency that caused it, such as `push type twine`. */
  readonly on?: string;
  readonly actor: string | null;
  readonly at: string;
  readonly reason: string;
  /** It lasts until a person resumes, as after a refusal: nothing is retried. */
  readonly until?: 'resumed';
  /** In `status`: the present state of the dependency. */
  readonly now?: DependencyNow;
}

/**
 * The dependency for which a deploy is paused, as Temporal sees it now; the pause's own reason dates from its
 * beginning.
 */
export interface DependencyNow {
  readonly answers: boolean;
  /** The time of its last answer or failure; null if Temporal does not say. */
  readonly at: string | null;
  /** Its answer, or the error. */
  readonly said: string;
  /** The time of the next request; null during a request. */
  readonly nextAt: string | null;
}

export interface UnitCounts {
  readonly id: string;
  readonly targeted: number;
  readonly updated: number;
  readonly live: number;
}

/** Totals of all units; every count except `units` is of tasks. */
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
  /** In the notation of the file: `3`, `5%`. */
  readonly amount: string;
  readonly state: PhaseState;
  /** The removal of all units: its tasks count as live once they are gone. */
  readonly removes?: true;
  /** All units if they are few; otherwise the first unfinished ones, and none of phases long past. */
  readonly units: readonly UnitCounts[];
  /** Missing before its first update. */
  readonly totals?: UnitTotals;
  readonly startedAt: string | null;
  readonly updatedAt: string | null;
  /** Null while baking; see `bakeUntil`. */
  readonly bakedAt: string | null;
  readonly bakeUntil: string | null;
  /** The actor of a skip, its subject, and the reason. */
  readonly skipped: string | null;
}

/** Parallel mode: units that a health check paused separately while the others continue. */
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
  /** `observed` in the last evaluations, oldest first; only for the worst rows. */
  readonly recent?: readonly number[];
}

/** An unhealthy check that a person overrode, by skipping it or by resuming. */
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

/** How the time was spent; the parts add up to the duration of the deploy. */
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
  /** `health` or the person who asked for it. */
  readonly by: string;
  readonly reason: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** As in a phase. */
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
  /**
   * The progress at its failure, from 0 to 1: the tasks up to the end of that phase, divided by those of all phases.
   */
  readonly progress?: number | null;
  readonly version: string;
  readonly pushType: string;
  readonly attempt: number;
  readonly paused: Pause | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** As in a release. */
  readonly problem?: string;
}

export interface DeployStatus extends DeploySummary {
  /** One sentence: its present activity, or the reason and the end of its wait. */
  readonly summary: string;
  /** The reason and the end of its wait; null if it does not wait, or neither is known. */
  readonly blockedBy?: string | null;
  readonly until?: string | null;
  /** The number of changes before its own in the landing queue. */
  readonly ahead?: number;
  /** As in an action. */
  readonly lock?: string | null;
  readonly heldBy?: Holder;
  /** As in a release, once it is undone. */
  readonly undone?: Undone;
  readonly runsNow?: readonly RunsNow[];
  /**
   * For a cancelled or failed deploy of configuration: its change is on the branch nevertheless. Missing if that is not
   * known.
   */
  readonly landed?: { readonly change: number; readonly commit: string };
  /**
   * Units that it left out because they are unavailable; a follow-on release brings them to its version when they
   * return.
   */
  readonly skipped?: readonly string[];
  /** The ids of its updates at the push type, in order, without those of a revert. */
  readonly updates?: readonly string[];
  /** The growth pattern of its phases; missing before it is planned. */
  readonly pattern?: Pattern;
  /** The cause of a bad failure, such as `push type twine` or `update timeout`. */
  readonly blame?: string;
  /** Once it is planned: the tasks of its units, and for each phase the share of them on its version after it, from 0 to 1, and its bake. */
  readonly planned?: {
    readonly tasks: number;
    readonly phases: readonly { readonly share: number; readonly bakeMs: number }[];
  };
  readonly phases: readonly PhaseView[];
  readonly pausedGroups?: readonly PausedGroup[];
  readonly health: readonly HealthRow[];
  readonly commands: readonly CommandRecord[];
  readonly timeline: readonly TimelineEntry[];
  readonly spans: Spans;
  readonly revert: RevertView | null;
  /** Suggested commands, most useful first. */
  readonly next: readonly string[];
  /** As in a release. */
  readonly accepts?: AcceptedVerbs;
  readonly webUi: string;
}

/** How a release ended, in one word: `reverted` if one of its deploys went back. */
export type ReleaseEnding = 'succeeded' | 'reverted' | 'failed' | 'cancelled';

export interface PipelineSummary {
  readonly id: string;
  readonly kind: 'pipeline';
  readonly description: string;
  readonly owners: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** `frozen` if it is both frozen and held. */
  readonly state: 'active' | 'held' | 'frozen';
  /** The time at which the freeze ends by itself; missing if a person has to end it. */
  readonly frozenUntil?: string;
  readonly active: readonly number[];
  readonly lastRelease: number | null;
  /**
   * The time at which a successful deploy last brought something new into production; missing if none has. In lists,
   * this is as of the last ended release.
   */
  readonly deployedAt?: string;
  /** In lists: the actor that retired, froze or holds it (the strongest of these); the reason is shortened. */
  readonly stopped?: PipelineStopView;
  /** In lists: the ends of its last releases, oldest first; missing before the first one ends. */
  readonly outcomes?: readonly ReleaseEnding[];
  /** In lists: its workflow has ended and none of its work continues, until it is applied again. */
  readonly ended?: true;
  /** As in a release. */
  readonly problem?: string;
}

/** The times at which deploys (or, with `gates: releases`, releases) of a pipeline may start. */
export interface ScheduleView {
  readonly mode: 'continuous' | 'calendar' | 'manual';
  readonly gates: 'deploys' | 'releases';
  /** The next time of a calendar; null if there is none, or it is not resolved yet. */
  readonly next: string | null;
  /** IANA zone of a calendar. */
  readonly timezone?: string;
}

/** A mutual exclusion group, or all `deploy` actions as one: the holding release and the waiting ones, in order. */
export interface GroupView {
  readonly name: string;
  readonly scope: 'pipeline' | 'global';
  readonly holder: number | null;
  readonly waiting: readonly number[];
}

/** The state of a finder after its last sweeps. */
export interface FinderView {
  /** Its name. */
  readonly id: string;
  readonly kind: 'finder';
  /** `idle`: no pipeline uses it; `paused`: a person paused its Temporal Schedule; `unasked`: no worker asks it. */
  readonly state: 'answers' | 'failing' | 'idle' | 'paused' | 'unasked';
  /** The time when the last answered sweep began; null if none is known. */
  readonly answeredAt: string | null;
  /** If failing or unasked: the time since which it has been so, at least. */
  readonly since: string | null;
  /** Its error, or the reason why it is not asked. */
  readonly reason: string | null;
  /** The time of the next question; null while it is being asked, or if unknown. */
  readonly nextAt: string | null;
  /** The first reasons why artifacts of its last sweep were refused. In the status of a pipeline, only its own. */
  readonly refused: readonly string[];
}

/** The reason why a release of a pipeline waits. */
export interface WaitView {
  readonly release: number;
  /** Null while the whole release waits to start. */
  readonly action: string | null;
  readonly why: string;
  readonly until: string | null;
}

/** The stop of a pipeline: its actor, time and reason. */
export interface PipelineStopView {
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
  /** The time at which a freeze ends by itself. */
  readonly until?: string;
}

/** Units that a follow-on failed to bring to the version that runs elsewhere. */
export interface BehindView {
  readonly action: string;
  readonly units: readonly string[];
  /** The number of further units, whose names the pipeline has no room for. */
  readonly more?: number;
  readonly version: string;
  /** The follow-on that failed to. */
  readonly release: number;
  /** The command that updates them. */
  readonly bring: string;
}

/** The last version of a deploy action, and its replacement if another pipeline has deployed or removed units since. */
export interface GoodView {
  readonly release: number;
  readonly version: string;
  /**
   * `by` is the release of the other pipeline; `on` names the units if only some are affected. `removed`: it removed them, and the version is
   * `nothing`.
   */
  readonly replaced?: {
    readonly by: string;
    readonly version: string;
    readonly on?: string;
    readonly removed?: true;
  };
  /** The locks that know this could not be read in time. */
  readonly replacedUnknown?: true;
  /**
   * A later release's version that the rollback `by` is undoing: until that has ended for this action, its units run
   * that version, or both.
   */
  readonly undoing?: { readonly release: number; readonly version: string; readonly by: string };
}

/** An offer of a pipeline to others. */
export interface OfferView {
  readonly name: string;
  readonly version: string | null;
  /**
   * `changing`: a deploy of its pipeline changes it, so no new deploy uses it for now. `withdrawing`: its pipeline no longer makes it, and others
   * still use it. `broken`: its present value does not fit one of its users, or the release that runs now does not make it, although it has users.
   */
  readonly state: 'unmade' | 'made' | 'changing' | 'removing' | 'withdrawing' | 'broken';
  /** Rises with each change; null until it is made. */
  readonly seq: number | null;
  readonly since: string | null;
  /** The release that made it last. */
  readonly release: number | null;
  /** The release that runs now, if it does not make an offer that an earlier one has made. */
  readonly notMadeBy?: number;
  readonly users: readonly OfferUserView[];
}

/** A deploy of another pipeline that uses an offer; `behind`: with an earlier value. */
export interface OfferUserView {
  readonly user: string;
  readonly behind: boolean;
  /** Why the offer as it is now does not fit it: `wishes for ^2`. Missing if it does. */
  readonly risk?: string;
}

/** A deploy that uses an offer of another pipeline although that is broken. */
export interface BrokenUseView {
  readonly action: string;
  /** The newest release of that deploy that uses it. */
  readonly release: number;
  /** The pipeline of the offer. */
  readonly from: string;
  readonly offer: string;
  /** A sentence. */
  readonly why: string;
}

/** A row of `offers list`. */
export interface OfferSummary extends Pick<OfferView, 'name' | 'version'> {
  /** `network/vpc` */
  readonly id: string;
  readonly kind: 'offer';
  readonly pipeline: string;
  readonly state: OfferView['state'];
  readonly since: string;
  /** The release that made it last. */
  readonly release: number;
  /** Patterns of the pipelines that may use it. */
  readonly to: readonly string[];
  /** The number of its users … */
  readonly users: number;
  /** … and of those that it does not fit; missing if it fits all. */
  readonly atRisk?: number;
}

/** The output of `offers list -o json`. */
export interface OfferList {
  readonly offers: readonly OfferSummary[];
  /** The number of offers that were left out. */
  readonly more: number;
  /** Pipelines whose offers are not in the list, since they did not answer. */
  readonly unread: readonly { readonly id: string; readonly problem: string }[];
  /** The number of pipelines with offers that were not asked, since there are too many. */
  readonly unasked: number;
}

/** The output of `offers show -o json`. */
export interface PipelineOffers {
  readonly id: string;
  readonly kind: 'offers';
  readonly offers: readonly OfferDetails[];
  /** Deploys of the pipeline that change offers. */
  readonly changes: readonly {
    readonly release: number;
    readonly action: string;
    readonly offers: readonly string[];
  }[];
}

export interface OfferDetails extends Omit<OfferView, 'users'> {
  /** The deploy action that made it last. */
  readonly action: string | null;
  /** Null until it is made. */
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly to: readonly string[];
  /** The file of its pipeline no longer has it. */
  readonly withdrawing?: true;
  readonly users: readonly OfferUserDetails[];
}

export interface OfferUserDetails extends OfferUserView {
  /** Two while a deploy runs: its new tasks use the newer one. */
  readonly pins: readonly {
    readonly release: number;
    /** The number of the offer that it uses. */
    readonly seq: number;
    /** The range of versions that it wishes for. */
    readonly range: string | null;
    /** The parts of the value that it uses; an empty text is the whole value. */
    readonly parts: readonly string[];
    readonly behind: boolean;
  }[];
}

/** A wish of a pipeline file with the verdict of `offers check`. */
export interface WishCheck {
  /** The pipeline that wishes, and the one that is to offer. */
  readonly pipeline: string;
  readonly from: string;
  readonly offer: string;
  readonly range: string | null;
  readonly parts: readonly string[];
  readonly verdict: 'fits' | 'does-not-fit' | 'undecidable';
  /** Null if it fits. */
  readonly why: string | null;
  /** It does not fit, but was allowed. */
  readonly allowed: boolean;
}

export interface PipelineStatus extends PipelineSummary {
  readonly held: PipelineStopView | null;
  readonly frozen?: PipelineStopView | null;
  /** The actor that retired it; `apply` brings it back. */
  readonly retired?: PipelineStopView;
  readonly schedule?: ScheduleView;
  readonly groups?: readonly GroupView[];
  /** For deploy actions with `maxDeploys` in a window: the times at which the last ones began, oldest first. */
  readonly begun?: Readonly<Record<string, readonly string[]>>;
  /** The waits of queued releases, and of actions of running ones. */
  readonly waits?: readonly WaitView[];
  /** The latest artifact of each input from finders, webhooks or people. */
  readonly inputs?: readonly Artifact[];
  /** The finders of its inputs; missing if Temporal did not answer in time. */
  readonly finders?: readonly FinderView[];
  /** Its offers to other pipelines; missing if it has none, or they did not answer in time. */
  readonly offers?: readonly OfferView[];
  /** The broken offers of others that its deploys use; missing if there are none, or their pipelines did not answer in time. */
  readonly brokenUses?: readonly BrokenUseView[];
  /** Artifacts that arrived after a newer one, and started no release. */
  readonly late?: readonly { readonly artifact: string; readonly at: string; readonly behind: string }[];
  readonly knownBad: readonly { readonly artifact: string; readonly at: string; readonly reason: string }[];
  /** For each deploy action: the last version in production, and its release. */
  readonly lastGood: Readonly<Record<string, GoodView>>;
  /** Units left behind; nothing retries them automatically. */
  readonly behind?: readonly BehindView[];
  readonly releases: readonly ReleaseSummary[];
  /** The numbers of those that can run again now; missing if there are none. */
  readonly rerunnable?: readonly number[];
  readonly commands: readonly CommandRecord[];
  /** The actor and time of the last import of records from a file. */
  readonly imported?: { readonly actor: string; readonly at: string };
  /** Verbs with an input, such as `allow-artifact`, are accepted for some values of it. */
  readonly accepts?: AcceptedVerbs;
  readonly webUi: string;
  /** The page that lists it with its releases and deploys. */
  readonly webUiList?: string;
}

/** A wish of a deploy that has not begun. */
export interface PlannedWish extends WishView {
  /** Why it would wait; null if it is satisfied. */
  readonly why: string | null;
}

/** The output of `plan -o json`. */
export interface PlanView {
  readonly pipeline: string;
  readonly action: string;
  readonly pattern: string;
  /**
   * The place and the duration of the soak before it; the times of the phases do not include this. `for` is the former
   * name of `forMs`.
   */
  readonly soak?: SoakSpec & { readonly forMs: number };
  /** A release that waits in the queue for longer is cancelled; missing if releases never expire. */
  readonly expireAfterMs?: number;
  /** The times at which it may update; missing if always. */
  readonly windows?: readonly WindowSpec[];
  /** The blackouts that it would run into. */
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
  /** The offers of other pipelines that it needs, as they are at present; missing if it needs none, or Conveyor did not say. */
  readonly wishes?: readonly PlannedWish[];
  /** Users of its own offers that these will not fit, so that it waits for them; missing if there are none. Types of values do not count. */
  readonly unfit?: UnfitUsers;
  /** Every check in full, even if the file refers to a ready check. */
  readonly checks: readonly { readonly name: string; readonly rule: string }[];
  readonly finishesAt: string | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** A page of a long list of pipelines. */
export interface PipelinePage {
  readonly pipelines: readonly PipelineSummary[];
  /** Leads to the next page; null on the last. */
  readonly next: string | null;
  /** The number of pipelines on all pages; null if Temporal did not count them. */
  readonly total: number | null;
}

/** The number of entries that were left out of a list, by the name of the list. */
export type OmittedCounts = Readonly<Record<string, number>>;

/**
 * A finished release in `history`. Its artifacts have identities only; `omitted` counts the entries left out of its
 * lists.
 */
export interface HistoryRow extends ReleaseSummary {
  readonly durationMs: number | null;
  /** It ended while it waited to start. */
  readonly neverStarted?: true;
  /** It comes from an import: only the contents of the imported file are known about it. */
  readonly imported?: true;
  /** For a rerun: the number of the first release in its line, which is its place in the order. */
  readonly place?: number;
  readonly omitted?: OmittedCounts;
  /** For a follow-on: the units that it was to bring to the version of `trigger.of`. */
  readonly followOn?: { readonly action: string; readonly units: readonly string[]; readonly more?: number };
  readonly deploys: readonly DeployRow[];
}

/** How a deploy of a finished release ended. */
export interface DeployRow {
  readonly action: string;
  readonly outcome: DeployOutcome;
  readonly classification: Classification;
  readonly version: string;
  /** Units that it left out because they were unavailable. */
  readonly skipped?: readonly string[];
  readonly progress?: number;
  /** The actor of its revert (`health` or a person), and whether its version is known-bad; missing in old rows. */
  readonly reverted?: { readonly by: string; readonly bad: boolean };
  readonly overridden?: readonly Override[];
  readonly omitted?: OmittedCounts;
}
