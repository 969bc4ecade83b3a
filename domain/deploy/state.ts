import type { ApprovalAsk } from '../access/approvals';
import type { Artifact } from '../artifact';
import type { BroughtVersion, KeptUnits } from '../broughtVersions';
import { formatAmount, type Amount } from '../fleet/amount';
import type { Verdict } from '../health/verdict';
import type { GrantedOffer } from '../offers/judge';
import type { Policy } from '../principals';
import type { Settings } from '../settings';
import type { DeploySpec } from '../spec/deploy';
import type { ActionSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import { uniteMarks } from '../unitMarks';
import type { Proofs } from '../proof';
import type { CommandRecord } from '../verbs';
import type {
  Classification,
  DeployOutcome,
  DeployState,
  HealthRow,
  Override,
  PausedGroup,
  PhaseView,
  RevertView,
  Spans,
  TimelineEntry,
} from '../views';
import { NO_COMMANDS, type Control, type Overtaken, type DeploySituation } from './control';
import type { Pattern } from './pattern';
import type { HeldUnits, RestoredDeploy } from './heldUnits';
import type { DeployPlan } from './plan';
import type { Inheritance, SentPhasePart } from './planRevert';
import type { Snapshot, SnapshotUnit } from './snapshot';
import { accrue, NO_TIME } from './spans';
import type { UnlistedUnits } from './unlistedUnits';

/** The input of a deploy. */
export interface DeployInput {
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly attempt: number;
  readonly spec: DeploySpec;
  readonly artifacts: readonly Artifact[];
  readonly version: string;
  /** The version that this action last brought to production, for units that run several. */
  readonly lastGood: string | null;
  /** A rollback of an ended release: one phase, without waiting. */
  readonly rollback: boolean;
  /** For a rollback: the release that it restores. For a removal: the units that its pipeline is known to have. */
  readonly restores?: RestoredDeploy;
  /** The times at which updates may start, as in the pipeline file; not for a rollback or an emergency. */
  readonly window?: ActionSpec['window'];
  /** The times at which nothing is updated even so: the blackouts of the action and of its pipeline. */
  readonly blackouts?: ActionSpec['blackouts'];
  /** An emergency push: checks that were unhealthy before do not count, and it may skip its bake. */
  readonly emergency?: { readonly skipBake: boolean; readonly byAdmin?: true };
  /** A follow-on: only these units, in one phase. Units that are unavailable again are left for the next follow-on. */
  readonly followOn?: { readonly units: readonly string[] };
  /** The versions that overtaken or cancelled deploys left behind: a revert goes back to the versions before those. */
  readonly inherited?: Inheritance;
  /** It removes its units: its pipeline is undeployed. */
  readonly removal?: true;
  /** A canary: a few tasks of each unit for a while, always undone at its end (docs/reference/pipelines.md#canaries). */
  readonly canary?: CanaryInput;
  /** The approvals, by which the rules of the platform are checked again once its units are known; missing if none are needed. */
  readonly approvals?: ApprovalAsk;
  /** The offers of other pipelines that it uses; their values are in its configuration. */
  readonly wishes?: readonly GrantedOffer[];
  /** Its release wants reports of its pauses. */
  readonly tellsPauses?: true;
  /** Its release pages a person, and wants reports of its alarms and of the persons who act on it. */
  readonly tellsAlarms?: true;
  readonly policy: Policy;
  readonly actor: string;
  readonly settings: Settings;
}

/** Whether it leaves units alone that another pipeline has updated since; other deploys bring their version to all units. */
export const leavesToOthers = ({ rollback, followOn, removal }: DeployInput): boolean =>
  rollback || followOn !== undefined || removal === true;

export interface CanaryInput {
  /** The amount of each unit's tasks. */
  readonly amount: Amount;
  readonly bakeMs: number;
  /** After its bake it is kept until the release sends `canary-keep-over`. */
  readonly keepUntil: boolean;
}

/** The result of a deploy; the release and its history keep it. */
export interface DeployResult {
  readonly outcome: DeployOutcome;
  readonly classification: Classification;
  readonly version: string;
  /** The reason for this end, in one sentence. */
  readonly reason: string;
  /** Set if it was reverted: by whom (`health` or a person), and whether the version is now known-bad. */
  readonly reverted: { readonly by: string; readonly bad: boolean } | null;
  readonly spans: Spans;
  /** Set if another release took its place. */
  readonly cause?: Overtaken['why'];
  /** The progress at its failure, from 0 to 1; left out if it succeeded or had one phase. */
  readonly progress?: number;
  /** It found every task on its version already. */
  readonly unchanged?: true;
  /** Units that it left out because they were unavailable. */
  readonly skipped?: readonly string[];
  /** The units that it held, if it succeeded. */
  readonly held?: HeldUnits;
  /** The inheritance for the next deploy. */
  readonly leaves?: Inheritance;
  /** For the first success only: the one version that the fleet ran before, if it was one. */
  readonly before?: string;
  /** For the first success only: the version of each unit before, if there were several. */
  readonly beforeEach?: string;
  /** Checks that a person let pass although they were unhealthy. */
  readonly overridden?: readonly Override[];
  /** For a bad failure: its cause. */
  readonly blame?: string;
}

/** The units of a deploy, as they were when it was planned. */
export interface Fleet {
  readonly units: number;
  readonly tasks: number;
  readonly snapshot: Snapshot;
  /** The units at the completion: it includes units that have joined since, and excludes those that are gone. */
  readonly now?: Snapshot;
  /** A sample of units with at least one for each rule of the platform that was about any of them. */
  readonly ofRules?: readonly string[];
  /**
   * If there are many units: the marks of these and of those that it leaves to other pipelines (domain/unitMarks.ts). For a removal: always those of
   * the units to remove, and of those that have no task any more.
   */
  readonly marks?: string;
  /** Units whose earlier version is unknown. If there are many, a sample, with at least one for each phase that reaches any. */
  readonly withoutPast: readonly SnapshotUnit[];
  /** The one version that all units ran; null if there were several, or none. */
  readonly ran?: string | null;
  /** If units go back to several versions: the version of each. */
  readonly ranEach?: string;
  /** The share of all tasks that is on the version after each phase, from 0 to 1. */
  readonly shares: readonly number[];
  readonly pattern?: Pattern;
  /** The push type returns its units in pages, and takes updates in parts. */
  readonly inPages: boolean;
}

/** All facts that a deploy knows. The functions below make every change, and keep the time accounts. */
export interface DeployRecord {
  readonly stage: DeployState;
  readonly startedAtMs: number;
  /** The time up to which the spans are accounted for. */
  readonly accountedMs: number;
  readonly spans: Spans;
  readonly control: Control;
  readonly service: string | null;
  /** The fence of the lock that it holds. Missing before it holds the lock, and for a canary, which holds none. */
  readonly fence?: number;
  /**
   * The versions that other pipelines have brought to the service since this action last brought one, as far as known.
   */
  readonly since?: readonly BroughtVersion[];
  /** Units that run the versions of those pipelines, and are left to them. */
  readonly keptUnits?: KeptUnits;
  /** The marks of the units that a removal has removed (domain/unitMarks.ts). */
  readonly removed?: string;
  /** Units that the push type no longer lists; null if all missing units came back. */
  readonly unlisted?: UnlistedUnits | null;
  /** Null before it is planned. */
  readonly fleet: Fleet | null;
  readonly plan: DeployPlan | null;
  /** The missing tasks of the completion, and the person who accepted that: `2 tasks, accepted by user:alice: …`. */
  readonly missing: string | null;
  /** Units that are left out because they are unavailable (`onUnitUnavailable: skip`). */
  readonly skipped: readonly string[];
  /** The parts to which updates were sent. */
  readonly sent: readonly SentPhasePart[];
  /** The sets of units that were left out when updates were sent. */
  readonly leftOutSets: readonly (readonly string[])[];
  /** Index of the phase under way; -1 before the first. */
  readonly cursor: number;
  readonly phases: readonly PhaseView[];
  /** A phase found tasks that were not on its version. */
  readonly outdated?: true;
  /** Update ids sent forward, in order. */
  readonly updates: readonly string[];
  /** When the first update went out; the time before it is the baseline. */
  readonly firstUpdateMs: number | null;
  readonly lastUpdateMs: number | null;
  /** The push type has said that it takes no prefetches. */
  readonly prefetches?: false;
  /** Parallel mode: the groups that health keeps paused by themselves. */
  readonly pausedGroups: readonly PausedGroup[];
  /** The time at which its window opens, while it waits for that. */
  readonly windowUntil: string | null;
  /** The reason of the blackout that keeps its window closed, if there is one. */
  readonly windowWhy?: string;
  /** The canary has baked, and its release still wants it. */
  readonly kept: boolean;
  /** Before its completion: the canaries that it waits for. */
  readonly waitsForGuests: readonly string[];
  /** The step before or after a phase that runs now, for people. */
  readonly step: string | null;
  /** The steps that are not undone, in the order in which they began. */
  readonly standing: readonly StepToUndo[];
  readonly verdict: Verdict | null;
  /** The reason for its automatic revert, set from the verdict on, since updates may have to be given up first. */
  readonly unhealthy?: string;
  readonly health: readonly HealthRow[];
  /** The first override of each check. */
  readonly overridden: readonly Override[];
  readonly commands: readonly CommandRecord[];
  /** The proofs of the messages that it has taken from holders of the platform's key. */
  readonly proofs?: Proofs;
  readonly timeline: readonly TimelineEntry[];
  readonly revert: RevertView | null;
  /** The tasks of the revert do not come up; only then may a person end it. */
  readonly revertStuck: boolean;
  readonly result: DeployResult | null;
  readonly endedAtMs: number | null;
}

export const MAX_TIMELINE = 200;
const MAX_HEALTH_ROWS = 100;

export function newDeploy(nowMs: number): DeployRecord {
  return {
    stage: 'planning',
    startedAtMs: nowMs,
    accountedMs: nowMs,
    spans: NO_TIME,
    control: NO_COMMANDS,
    service: null,
    fleet: null,
    plan: null,
    missing: null,
    skipped: [],
    sent: [],
    leftOutSets: [],
    cursor: -1,
    phases: [],
    updates: [],
    firstUpdateMs: null,
    lastUpdateMs: null,
    pausedGroups: [],
    windowUntil: null,
    kept: false,
    waitsForGuests: [],
    step: null,
    standing: [],
    verdict: null,
    health: [],
    overridden: [],
    commands: [],
    timeline: [],
    revert: null,
    revertStuck: false,
    result: null,
    endedAtMs: null,
  };
}

/** Changes the record at a moment, and adds the time since the last change to the right account. */
export function change(record: DeployRecord, nowMs: number, patch: Partial<DeployRecord>): DeployRecord {
  return { ...record, spans: accrue(record, nowMs), accountedMs: Math.max(nowMs, record.accountedMs), ...patch };
}

export function note(record: DeployRecord, nowMs: number, kind: string, text: string): DeployRecord {
  return { ...record, timeline: [...record.timeline, { at: formatTime(nowMs), kind, text }].slice(-MAX_TIMELINE) };
}

export function withPlan(record: DeployRecord, plan: DeployPlan, fleet: Fleet): DeployRecord {
  const phases = plan.phases.map((phase, index): PhaseView => ({
    index,
    name: phase.name,
    scope: phase.scope,
    amount: formatAmount(phase.amount),
    state: 'waiting',
    units: [],
    startedAt: null,
    updatedAt: null,
    bakedAt: null,
    bakeUntil: null,
    skipped: null,
  }));
  return { ...record, plan, fleet, phases };
}

/** Adds units that are removed. Those listed by an older worker are not known. */
export const withRemoved = (record: DeployRecord, { marks }: Pick<Fleet, 'marks'>): DeployRecord =>
  marks === undefined ? record : { ...record, removed: uniteMarks(record.removed ?? '', marks) };

/** Changes the view of one phase. */
export function withPhase(record: DeployRecord, index: number, patch: Partial<PhaseView>): DeployRecord {
  return { ...record, phases: record.phases.map((phase) => (phase.index === index ? { ...phase, ...patch } : phase)) };
}

export const withHealth = (record: DeployRecord, verdict: Verdict, rows: readonly HealthRow[]): DeployRecord => ({
  ...record,
  verdict,
  health: worstRows(rows),
});

/** The rows that people see: the worst first, and only as many as they can read. */
export function worstRows(rows: readonly HealthRow[]): readonly HealthRow[] {
  const order: readonly Verdict[] = ['unhealthy', 'errored', 'inconclusive', 'healthy'];
  return [...rows].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict)).slice(0, MAX_HEALTH_ROWS);
}

/** Null before the first phase, between two phases and after the last. */
export function phaseUnderWay({ phases, plan, cursor }: DeployRecord): DeploySituation['phase'] {
  const view = phases[cursor];
  const phase = view?.state === 'running' ? plan?.phases[cursor] : undefined;
  if (phase === undefined || phase.kind === 'revert') return null;
  return { kind: phase.kind, name: phase.name, baked: (view?.bakedAt ?? null) !== null };
}

/** The facts that the rules about verbs need. */
export function toDeploySituation(
  record: DeployRecord,
  {
    spec,
    removal,
    canary,
  }: Pick<DeployInput, 'removal' | 'canary'> & { readonly spec: Pick<DeploySpec, 'healthChecks'> },
): DeploySituation {
  return {
    control: record.control,
    ended: record.stage === 'ended',
    reverting: record.stage === 'reverting' || record.unhealthy !== undefined,
    revertStuck: record.revertStuck,
    withoutPast: record.revertStuck && record.control.paused?.by === 'unit',
    phase: phaseUnderWay(record),
    atWindow: record.stage === 'waiting-window',
    completing: record.plan?.phases[record.cursor]?.kind === 'completion',
    checks: removal ? [] : spec.healthChecks.map((check) => check.name),
    ...(record.fleet?.ranEach === undefined ? {} : { ranEach: record.fleet.ranEach }),
    ...(removal ? { removal } : {}),
    ...(canary ? { canary: true } : {}),
    ...(record.revert?.by === CANARY_OVER ? { canaryOver: true } : {}),
  };
}

/** The reverting principal of a canary whose time is over. */
export const CANARY_OVER = 'canary';

/** A `pre` step that has begun and has not been undone. Its effects remain until the deploy has ended. */
export interface StepToUndo {
  /** The indexes of its phase and of the step. */
  readonly phase: number;
  readonly step: number;
  /** The number of tries to undo it. */
  readonly tries: number;
  /** It could not be undone, and is not tried again. */
  readonly failed: boolean;
  /** Units that were left out when it began; its undo leaves them out too. */
  readonly skipped?: readonly string[];
}
