import type { ApprovalAsk } from '../access/approvals';
import type { Artifact } from '../artifact';
import type { Brought, KeptUnits } from '../brought';
import { formatAmount, type Amount } from '../fleet/amount';
import type { Verdict } from '../health/verdict';
import type { Policy } from '../principals';
import type { Settings } from '../settings';
import type { DeploySpec } from '../spec/deploy';
import type { ActionSpec } from '../spec/pipeline';
import { formatTime } from '../text';
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
import type { HeldUnits, Restored } from './held';
import type { DeployPlan } from './plan';
import type { Inheritance, Sent } from './planRevert';
import type { Snapshot, SnapshotUnit } from './snapshot';
import { accrue, NO_TIME } from './spans';
import type { UnlistedUnits } from './unlisted';

/** What a deploy is started with. */
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
  /** A rollback of an ended release: one phase, no waiting. */
  readonly rollback: boolean;
  /** Of a rollback: what it restores. */
  readonly restores?: Restored;
  /** When updates may start, as in the pipeline file; not of a rollback or an emergency. */
  readonly window?: ActionSpec['window'];
  /** When nothing is updated even so: those of the action and of its pipeline. */
  readonly blackouts?: ActionSpec['blackouts'];
  /** An emergency push: what was unhealthy before does not count, and it need not bake. */
  readonly emergency?: { readonly skipBake: boolean; readonly byAdmin?: true };
  /** A follow-on: only these units, in one phase. What is unavailable again is left for the next. */
  readonly followOn?: { readonly units: readonly string[] };
  /** What deploys that were overtaken or cancelled left behind: a revert goes back to what was before. */
  readonly inherited?: Inheritance;
  /** A canary: a few tasks of each unit for a while, always undone at its end (docs/reference/pipelines.md#canaries). */
  readonly canary?: CanaryInput;
  /** Who approved what, by which the rules of the platform are asked again once its units are known; missing if nobody has to. */
  readonly approvals?: ApprovalAsk;
  /** Its release wants its pauses reported. */
  readonly tellsPauses?: true;
  readonly policy: Policy;
  readonly actor: string;
  readonly settings: Settings;
}

export interface CanaryInput {
  /** Of each unit's tasks. */
  readonly amount: Amount;
  readonly bakeMs: number;
  /** It is kept after its bake until the release sends `canary-keep-over`. */
  readonly keepUntil: boolean;
}

/** What a deploy ends with; the release and its history keep it. */
export interface DeployResult {
  readonly outcome: DeployOutcome;
  readonly classification: Classification;
  readonly version: string;
  /** One sentence: why it ended like this. */
  readonly reason: string;
  /** Set when it was reverted: by whom (`health` or a person), and whether the version is now known-bad. */
  readonly reverted: { readonly by: string; readonly bad: boolean } | null;
  readonly spans: Spans;
  /** Set when another release took its place. */
  readonly cause?: Overtaken['why'];
  /** How far it had got when it failed, from 0 to 1; left out where it succeeded or had one phase. */
  readonly progress?: number;
  /** It found every task on its version. */
  readonly unchanged?: true;
  /** Units that it left out since they were unavailable. */
  readonly skipped?: readonly string[];
  /** Of one that succeeded: which units it held. */
  readonly held?: HeldUnits;
  /** What it leaves behind, for the next deploy. */
  readonly leaves?: Inheritance;
  /** Of the first that succeeded: the one version that the fleet ran before, where it was one. */
  readonly before?: string;
  /** Of the same: which units ran which, where they ran several. */
  readonly beforeEach?: string;
  /** Checks that a person let pass although they were unhealthy. */
  readonly overridden?: readonly Override[];
  /** Of a bad failure: what it failed by. */
  readonly blame?: string;
}

/** The units that a deploy is about, as they were when it was planned. */
export interface Fleet {
  readonly units: number;
  readonly tasks: number;
  readonly snapshot: Snapshot;
  /** As they are in the completion: whoever has joined since belongs to it, whoever is gone does not. */
  readonly now?: Snapshot;
  /** Some units, of which each rule of the platform that was about any is about one. */
  readonly ofRules?: readonly string[];
  /** Of many units, these and those that it leaves to other pipelines (domain/unitMarks.ts). */
  readonly marks?: string;
  /** Units of which nobody knows what they could go back to; of many some, and of each phase that reaches any one at least. */
  readonly withoutPast: readonly SnapshotUnit[];
  /** The one version that all units ran; null where there were several, or none. */
  readonly ran?: string | null;
  /** Where units go back to several versions, which go where. */
  readonly ranEach?: string;
  /** How much of all tasks is on the version after each phase, from 0 to 1. */
  readonly shares: readonly number[];
  readonly pattern?: Pattern;
  /** The push type gives its units in pages, and takes updates in parts. */
  readonly inPages: boolean;
}

/** All that a deploy knows; every change goes through the functions below, which keep the accounts of time. */
export interface DeployRecord {
  readonly stage: DeployState;
  readonly startedAtMs: number;
  /** Up to when the spans are accounted for. */
  readonly accountedMs: number;
  readonly spans: Spans;
  readonly control: Control;
  readonly service: string | null;
  /** Of the lock that it holds; missing before it does, and in a canary, which holds none. */
  readonly fence?: number;
  /** What other pipelines have brought to the service since this action last brought something, as far as is known. */
  readonly since?: readonly Brought[];
  /** Units that run what those pipelines brought, and are left to them. */
  readonly keptUnits?: KeptUnits;
  /** Units that the push type no longer lists; null if all missing units came back. */
  readonly unlisted?: UnlistedUnits | null;
  /** Null before it is planned. */
  readonly fleet: Fleet | null;
  readonly plan: DeployPlan | null;
  /** What is missing of the completion, and who accepted that: `2 tasks, accepted by user:alice: …`. */
  readonly missing: string | null;
  /** Units that are left out because they are unavailable (`onUnitUnavailable: skip`). */
  readonly skipped: readonly string[];
  /** Where updates were sent to. */
  readonly sent: readonly Sent[];
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
  /** Parallel mode: what health keeps paused by itself. */
  readonly pausedGroups: readonly PausedGroup[];
  /** While it waits for its window: when that opens. */
  readonly windowUntil: string | null;
  /** The reason of the blackout that keeps its window closed, if one does. */
  readonly windowWhy?: string;
  /** A canary that has baked, and that its release still wants. */
  readonly kept: boolean;
  /** Before its completion: the canaries that it waits for. */
  readonly waitsForGuests: readonly string[];
  /** What is run before or after a phase right now, for people. */
  readonly step: string | null;
  /** In the order in which they began. */
  readonly standing: readonly StepToUndo[];
  readonly verdict: Verdict | null;
  /** Why it reverts by itself, from the verdict on: updates may have to be given up first. */
  readonly unhealthy?: string;
  readonly health: readonly HealthRow[];
  /** Of each check the first. */
  readonly overridden: readonly Override[];
  readonly commands: readonly CommandRecord[];
  /** Of what it has taken from whoever holds the platform's key. */
  readonly proofs?: Proofs;
  readonly timeline: readonly TimelineEntry[];
  readonly revert: RevertView | null;
  /** A revert whose tasks do not come up; only then may a person end it. */
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

/** Changes the record at a moment, putting the time since the last change on the account that it was spent on. */
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

/** Changes one phase's view. */
export function withPhase(record: DeployRecord, index: number, patch: Partial<PhaseView>): DeployRecord {
  return { ...record, phases: record.phases.map((phase) => (phase.index === index ? { ...phase, ...patch } : phase)) };
}

export const withHealth = (record: DeployRecord, verdict: Verdict, rows: readonly HealthRow[]): DeployRecord => ({
  ...record,
  verdict,
  health: worstRows(rows),
});

/** The rows that people look at: the worst first, no more than they can read. */
export function worstRows(rows: readonly HealthRow[]): readonly HealthRow[] {
  const order: readonly Verdict[] = ['unhealthy', 'errored', 'inconclusive', 'healthy'];
  return [...rows].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict)).slice(0, MAX_HEALTH_ROWS);
}

/** Null before the first phase, between two and after the last. */
export function phaseUnderWay({ phases, plan, cursor }: DeployRecord): DeploySituation['phase'] {
  const view = phases[cursor];
  const phase = view?.state === 'running' ? plan?.phases[cursor] : undefined;
  if (phase === undefined || phase.kind === 'revert') return null;
  return { kind: phase.kind, name: phase.name, baked: (view?.bakedAt ?? null) !== null };
}

/** What the rules about verbs look at. */
export function situationOf(record: DeployRecord, spec: Pick<DeploySpec, 'healthChecks'>): DeploySituation {
  return {
    control: record.control,
    ended: record.stage === 'ended',
    reverting: record.stage === 'reverting' || record.unhealthy !== undefined,
    revertStuck: record.revertStuck,
    // Until 0.3 such a revert had not begun, and took a pause.
    withoutPast: record.revertStuck && record.revert !== null && record.control.paused?.by === 'unit',
    phase: phaseUnderWay(record),
    atWindow: record.stage === 'waiting-window',
    completing: record.plan?.phases[record.cursor]?.kind === 'completion',
    checks: spec.healthChecks.map((check) => check.name),
    ...(record.fleet?.ranEach === undefined ? {} : { ranEach: record.fleet.ranEach }),
  };
}

/** A `pre` step that has begun and not been undone; what it did is there until the deploy has ended. */
export interface StepToUndo {
  /** Indices of its phase and of itself. */
  readonly phase: number;
  readonly step: number;
  /** How often it was tried to undo it. */
  readonly tries: number;
  /** It could not be undone, and is not tried again. */
  readonly failed: boolean;
  /** Units that were left out when it began, of which its undo knows nothing either. */
  readonly skipped?: readonly string[];
}
