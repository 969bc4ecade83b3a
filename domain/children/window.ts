import { releaseId } from '../ids';
import type { ChildFailure } from '../views';
import { computeJitter } from './jitter';
import type { ShardPlan } from './shards';

/** The plan by which a shard starts its children: in a sliding window, each not before its time. */
export interface WindowPlan extends ShardPlan {
  /** The parent's release: `inference/3`. */
  readonly parent: string;
  readonly jitterMs: number;
  /** When the first child may start, ms since the epoch. */
  readonly originMs: number;
  /** As soon as one child does not succeed, no other is started; set for the subset that goes first. */
  readonly stopOnFailure: boolean;
}

/** The state of a shard's children. It has names only of those that wait or run; carried across continue-as-new. */
export interface ShardState {
  /** In the order of their moments. */
  readonly waiting: readonly string[];
  /** The number is null until the child's pipeline has answered. */
  readonly running: readonly { readonly pipeline: string; readonly number: number | null }[];
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly notStarted: number;
  /** The first failed children. */
  readonly failures: readonly ChildFailure[];
}

/** How one child ended. */
export interface ChildEnd {
  readonly pipeline: string;
  /** Null if it was refused. */
  readonly number: number | null;
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  /** Why it failed, if more is known than its state. */
  readonly reason?: string;
}

/** The report of a shard to its fan-out: numbers, so that the fan-out of ten thousand stays small. */
export interface ShardReport extends Omit<ShardState, 'waiting' | 'running'> {
  readonly waiting: number;
  readonly running: number;
}

/** Failures that are kept with their reasons; the others are counted. */
export const KEPT_FAILURES = 20;

export function newWindow(plan: WindowPlan): ShardState {
  const moments = new Map(plan.names.map((name) => [name, computeJitter(plan.parent, name, plan.jitterMs)]));
  const waiting = [...plan.names].sort(
    (a, b) => (moments.get(a) ?? 0) - (moments.get(b) ?? 0) || (a < b ? -1 : Number(a > b)),
  );
  return { waiting, running: [], succeeded: 0, failed: 0, cancelled: 0, notStarted: 0, failures: [] };
}

/** The children whose time has come and for which there is room. */
export function due(state: ShardState, plan: WindowPlan, nowMs: number): readonly string[] {
  const room = state.waiting.slice(0, Math.max(0, plan.share - state.running.length));
  const early = room.findIndex((name) => startMoment(plan, name) > nowMs);
  return early === -1 ? room : room.slice(0, early);
}

/**
 * The time at which the next child may start if nothing else happens; undefined if only the end of another makes room.
 */
export function wakeAtMs(state: ShardState, plan: WindowPlan): number | undefined {
  const [next] = state.waiting;
  return next === undefined || state.running.length >= plan.share ? undefined : startMoment(plan, next);
}

export const childBegun = (state: ShardState, pipeline: string): ShardState => ({
  ...state,
  waiting: state.waiting.filter((name) => name !== pipeline),
  running: [...state.running, { pipeline, number: null }],
});

/** Records the answer of the child's pipeline; a child that ended before its answer came stays ended. */
export const recordChildNumber = (state: ShardState, pipeline: string, number: number): ShardState => ({
  ...state,
  running: state.running.map((child) => (child.pipeline === pipeline ? { pipeline, number } : child)),
});

/** Records an end once, although both the child and a look at it may report it. */
export function childEnded(state: ShardState, end: ChildEnd, { stopOnFailure }: WindowPlan): ShardState {
  const child = state.running.find(({ pipeline }) => pipeline === end.pipeline);
  const isOther = child?.number != null && end.number !== null && child.number !== end.number;
  if (child === undefined || isOther) return state;
  const booked: ShardState = {
    ...state,
    running: state.running.filter((other) => other !== child),
    [end.state]: state[end.state] + 1,
    failures: failuresAfter(state.failures, end),
  };
  return stopOnFailure && end.state !== 'succeeded' ? withoutNewStarts(booked) : booked;
}

/** Starts nothing more; running children continue. */
export const withoutNewStarts = (state: ShardState): ShardState => ({
  ...state,
  waiting: [],
  notStarted: state.notStarted + state.waiting.length,
});

export const isShardIdle = ({ waiting, running }: ShardState): boolean => waiting.length + running.length === 0;

export const shardReport = (state: ShardState): ShardReport => ({
  ...state,
  waiting: state.waiting.length,
  running: state.running.length,
});

const startMoment = ({ originMs, parent, jitterMs }: WindowPlan, name: string): number =>
  originMs + computeJitter(parent, name, jitterMs);

function failuresAfter(failures: readonly ChildFailure[], end: ChildEnd): readonly ChildFailure[] {
  const { pipeline, number, state, reason } = end;
  if (state === 'succeeded' || failures.length >= KEPT_FAILURES) return failures;
  const id = number === null ? pipeline : releaseId(pipeline, number);
  const why = reason ?? (state === 'failed' ? 'its release failed' : 'its release was cancelled');
  return [...failures, { id, state: number === null ? 'refused' : state, reason: why }];
}
