import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { FinderView } from '../views';
import type { SweepReport } from './sweepLifetime';

/** The state of a finder that Temporal knows without asking the finder or a worker. Times are ms since the epoch. */
export interface FinderFacts {
  readonly finder: string;
  /** Null if no worker has created one. */
  readonly schedule: SweepSchedule | null;
  /** The newest workflow, if it is under way. */
  readonly underWay: UnderWay | null;
  /** The report of the last sweep that was answered; null if unknown. */
  readonly last: Pick<SweepReport, 'beganMs' | 'calls' | 'said'> | null;
  /** Why the newest workflow failed, if it did. */
  readonly failure: string | null;
}

export interface SweepSchedule {
  /** The reason given with the pause; null if it is not paused. */
  readonly pausedBecause: string | null;
  readonly nextAtMs: number | null;
  /** The last workflows that it started, oldest first; each sweeps for an hour. */
  readonly sweeps: readonly { readonly atMs: number; readonly status: 'running' | 'completed' | 'failed' }[];
}

export interface UnderWay {
  /** The time at which the unanswered or next sweep is due; null for the start of the workflow. */
  readonly dueMs: number | null;
  /** Whether a worker has picked it up. */
  readonly isTaken: boolean;
  /** The error of its last attempt. */
  readonly failure: string | null;
  /** Null while the finder is being asked. */
  readonly nextTryMs: number | null;
}

/** A running worker picks up a sweep within a moment. */
const TAKEN_WITHIN_MS = 30_000;

/** Whether a finder answers, since when it does not, its error, and the time of the next sweep. */
export function finderView(facts: FinderFacts, nowMs: number): FinderView {
  const { finder: id, schedule, underWay, last } = facts;
  const known = { id, kind: 'finder', ...NEVER_ANSWERED } as const;
  if (schedule === null)
    return { ...known, state: 'unasked', reason: 'no worker has such a finder in its configuration' };
  const { sweeps, pausedBecause } = schedule;
  const answered = sweeps.findLastIndex(({ status }) => status === 'completed');
  const nextMs = underWay ? underWay.nextTryMs : schedule.nextAtMs;
  const sinceMs = underWay?.dueMs ?? sweeps[answered + 1]?.atMs;
  const sinceAnswer = {
    ...known,
    answeredAt: formatTimeOrNull(last?.beganMs ?? sweeps[answered]?.atMs),
    nextAt: formatTimeOrNull(nextMs !== null && nextMs > nowMs ? nextMs : null),
    refused: last?.said ?? [],
  };
  const failure = underWay?.failure ?? facts.failure;
  if (sinceMs !== undefined && failure !== null)
    return { ...sinceAnswer, state: 'failing', since: formatTimeOrNull(sinceMs), reason: failure };
  if (sinceMs !== undefined && underWay?.isTaken === false && nowMs - sinceMs > TAKEN_WITHIN_MS)
    return {
      ...sinceAnswer,
      state: 'unasked',
      since: formatTimeOrNull(sinceMs),
      reason: 'no worker takes up its sweep',
    };
  if (pausedBecause !== null)
    return {
      ...sinceAnswer,
      state: 'paused',
      nextAt: null,
      reason: pausedBecause || 'its Temporal Schedule is paused',
    };
  if (last?.calls === 0) return { ...sinceAnswer, state: 'idle', answeredAt: null, reason: 'no pipeline uses it' };
  return { ...sinceAnswer, state: 'answers' };
}

/** The finders of a pipeline's inputs, without `manual`, which never looks. */
export const finderNames = ({ artifacts }: Pick<PipelineSpec, 'artifacts'>): string[] =>
  [...new Set(Object.values(artifacts).map(({ finder }) => finder))].filter((name) => name !== 'manual').sort();

/** Keeps the refusals of one pipeline: a sweep names the pipeline of each. */
export const refusalsFor = (pipeline: string, view: FinderView): FinderView => ({
  ...view,
  refused: view.refused.flatMap((said) =>
    said.startsWith(`${pipeline}, `) || said.startsWith(`${pipeline}: `) ? [said.slice(pipeline.length + 2)] : [],
  ),
});

const NEVER_ANSWERED = { answeredAt: null, since: null, reason: null, nextAt: null, refused: [] } as const;

const formatTimeOrNull = (ms: number | null | undefined): string | null => (ms == null ? null : formatTime(ms));
