import type { Artifact } from '../artifact';
import type { Policy } from '../principals';
import type { Proofs } from '../proof';
import type { Settings } from '../settings';
import type { PipelineSpec } from '../spec/pipeline';
import { withReason } from '../text';
import type { CommandInput, CommandRecord } from '../verbs';
import { pickFittingShards, planShards, type ShardPlan } from './shards';
import { KEPT_FAILURES, type ShardReport } from './window';

export type ChildrenSpec = NonNullable<PipelineSpec['children']>;

/** The input of the fan-out of a successful release. */
export interface FanOutInput {
  readonly pipeline: string;
  readonly number: number;
  readonly children: ChildrenSpec;
  /** The artifacts for every child: those of `children.artifacts` that the release has. */
  readonly artifacts: readonly Artifact[];
  readonly policy: Policy;
  /** The person or program that started the release; for a child, the one that started its parent. */
  readonly startedBy?: string;
  readonly settings: Settings;
}

/** The children of a release: those that go before all others, and the others. */
export interface ChildSelection {
  readonly first: readonly string[];
  readonly rest: readonly string[];
}

/** The state of a fan-out; carried across continue-as-new. Names only in shards that have not started. */
export interface FanOutState {
  readonly stage: 'selecting' | 'first' | 'rest';
  readonly stageStartedAtMs: number;
  readonly shards: readonly ShardRecord[];
  /** Why nothing more is started. */
  readonly stop: { readonly by: 'command' | 'verdict' | 'nothing'; readonly reason: string } | null;
  readonly commands: readonly CommandRecord[];
  /** Proofs of accepted requests from holders of the platform's key. */
  readonly proofs?: Proofs;
}

export interface ShardRecord extends ShardPlan {
  readonly index: number;
  readonly stage: 'first' | 'rest';
  readonly size: number;
  readonly state: 'waiting' | 'running' | 'over';
  /** Whether it was asked to start nothing more. */
  readonly stopTold: boolean;
  /** Its last report; null before the first. */
  readonly report: ShardReport | null;
}

export const SELECTING: FanOutState = {
  stage: 'selecting',
  stageStartedAtMs: 0,
  shards: [],
  stop: null,
  commands: [],
};

/** The missing artifacts for the children; a release that did not make them has nothing to pass on. */
export const listMissingArtifacts = ({ children, artifacts }: FanOutInput): string[] =>
  children.artifacts.filter((wanted) => !artifacts.some(({ name }) => name === wanted));

/** There are no children to start. */
export const endWithoutChildren = (state: FanOutState, reason: string): FanOutState => ({
  ...state,
  stage: 'rest',
  stop: state.stop ?? { by: 'nothing', reason },
});

/**
 * Records the children once they are known. A first subset that is too small is a mistake, which is better found before any
 * change.
 */
export function withChildren(
  state: FanOutState,
  { first, rest }: ChildSelection,
  { first: wanted, maxConcurrent }: ChildrenSpec,
  nowMs: number,
): FanOutState {
  const shards = [
    ...planShards(first, maxConcurrent).map((plan) => ({ ...plan, stage: 'first' as const })),
    ...planShards(rest, maxConcurrent).map((plan) => ({ ...plan, stage: 'rest' as const })),
  ].map((plan, index): ShardRecord => ({ ...plan, index, size: plan.names.length, ...UNSTARTED }));
  const stage = first.length > 0 ? 'first' : 'rest';
  const next: FanOutState = { ...state, stage, stageStartedAtMs: nowMs, shards };
  if (shards.length === 0) return endWithoutChildren(next, 'no pipeline is a child of it');
  const atLeast = wanted?.atLeast ?? 0;
  if (first.length >= atLeast || state.stop !== null) return next;
  const reason = `the first ${atLeast} must succeed before the others start, but only ${first.length} of the children are among them; none was started`;
  return { ...next, stop: { by: 'verdict', reason } };
}

const UNSTARTED = { state: 'waiting', stopTold: false, report: null } as const;

/**
 * The step after the first subset has ended: if all of it succeeded, the others may begin; otherwise they never will.
 */
export function advanceStage(state: FanOutState, nowMs: number): FanOutState {
  const first = state.shards.filter(({ stage }) => stage === 'first');
  if (state.stage !== 'first' || state.stop !== null) return state;
  const failed = first.reduce((sum, { report }) => sum + (report ? report.failed + report.cancelled : 0), 0);
  if (failed > 0) {
    const size = first.reduce((sum, shard) => sum + shard.size, 0);
    const reason = `${failed} of the ${size} that go first did not succeed, so the others were not started`;
    return { ...state, stop: { by: 'verdict', reason } };
  }
  return first.every((shard) => shard.state === 'over') ? { ...state, stage: 'rest', stageStartedAtMs: nowMs } : state;
}

/** The shards to start now, within the limit of children that may run at once. */
export function startableShards({ stage, stop, shards }: FanOutState, { maxConcurrent }: ChildrenSpec): ShardRecord[] {
  if (stop !== null) return [];
  const waiting = shards.filter((shard) => shard.state === 'waiting' && shard.stage === stage);
  return pickFittingShards(waiting, shards.filter(isShardRunning), maxConcurrent);
}

/** The shards that still have to be stopped. */
export const toStop = ({ stop, shards }: FanOutState): ShardRecord[] =>
  stop === null ? [] : shards.filter((shard) => isShardRunning(shard) && !shard.stopTold);

/** Once a shard has started, it keeps its names itself. */
export const shardStarted = (state: FanOutState, index: number): FanOutState =>
  withShard(state, index, { state: 'running', names: [] });

export const withStopSent = (state: FanOutState, index: number): FanOutState =>
  withShard(state, index, { stopTold: true });

/** Records a shard's report; a late one, after its end, is ignored. */
export function shardReported(state: FanOutState, index: number, report: ShardReport, over: boolean): FanOutState {
  if (state.shards[index]?.state === 'over') return state;
  return withShard(state, index, { report, ...(over ? { state: 'over' as const } : {}) });
}

/** A terminated shard cannot report: its unreported children count as failed, because their fate is unknown. */
export function shardLost(state: FanOutState, index: number, workflowId: string): FanOutState {
  const shard = state.shards[index];
  if (shard === undefined || shard.state === 'over') return state;
  const known = shard.report ?? NOTHING_YET;
  const lost = shard.size - known.succeeded - known.failed - known.cancelled - known.notStarted;
  const reason = `this shard ended without a report: the fate of ${lost} of its children is unknown`;
  const failures = [{ id: workflowId, state: 'failed' as const, reason }, ...known.failures].slice(0, KEPT_FAILURES);
  const report = { ...known, waiting: 0, running: 0, failed: known.failed + lost, failures };
  return shardReported(state, index, report, true);
}

export function cancelFanOut(state: FanOutState, { actor = '', reason = '' }: CommandInput): FanOutState {
  return { ...state, stop: { by: 'command', reason: withReason(`cancelled by ${actor}`, reason) } };
}

export const whyNotCancel = ({ stop }: FanOutState): string | undefined =>
  stop === null ? undefined : `nothing more is started: ${stop.reason}`;

export const isFanOutOver = ({ stage, stop, shards }: FanOutState): boolean =>
  stage !== 'selecting' &&
  !shards.some(isShardRunning) &&
  (stop !== null || (stage === 'rest' && !shards.some(({ state }) => state === 'waiting')));

const NOTHING_YET: ShardReport = {
  waiting: 0,
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  notStarted: 0,
  failures: [],
};

const isShardRunning = ({ state }: ShardRecord): boolean => state === 'running';

const withShard = (state: FanOutState, index: number, patch: Partial<ShardRecord>): FanOutState => ({
  ...state,
  shards: state.shards.map((shard) => (shard.index === index ? { ...shard, ...patch } : shard)),
});
