import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { FinderView } from '../views';
import type { SweepCounts } from './sweep';

/** What Temporal knows of a finder without asking it, or a worker. Times are ms since the epoch. */
export interface FinderFacts {
  readonly finder: string;
  /** Null where no worker has made one. */
  readonly schedule: SweepSchedule | null;
  /** The newest sweep, if it is under way. */
  readonly underWay: UnderWay | null;
  /** What the newest sweep reported, if it has ended; null where that is not known. */
  readonly report: Pick<SweepCounts, 'calls' | 'said'> | null;
  /** Why the newest sweep failed, if it did. */
  readonly failure: string | null;
}

export interface SweepSchedule {
  /** What the person who paused it wrote; null where nobody has. */
  readonly pausedBecause: string | null;
  readonly nextAtMs: number | null;
  /** The last sweeps, oldest first. */
  readonly sweeps: readonly { readonly atMs: number; readonly status: 'running' | 'completed' | 'failed' }[];
}

export interface UnderWay {
  /** Whether a worker has taken it up. */
  readonly isTaken: boolean;
  /** What its last attempt failed with. */
  readonly failure: string | null;
  /** Null while it is being asked. */
  readonly nextTryMs: number | null;
}

/** A worker that is there takes up a sweep within a moment. */
const TAKEN_WITHIN_MS = 30_000;

/** Whether a finder answers, since when not, what it said and when it is asked next. */
export function finderView(facts: FinderFacts, nowMs: number): FinderView {
  const { finder: id, schedule, underWay, report } = facts;
  const known = { id, kind: 'finder', ...NOTHING } as const;
  if (schedule === null)
    return { ...known, state: 'unasked', reason: 'no worker has such a finder in its configuration' };
  const { sweeps, pausedBecause } = schedule;
  const answered = sweeps.findLastIndex(({ status }) => status === 'completed');
  const since = sweeps[answered + 1];
  const asked = {
    ...known,
    answeredAt: timeOf(sweeps[answered]?.atMs),
    nextAt: timeOf(underWay ? (underWay.nextTryMs ?? undefined) : (schedule.nextAtMs ?? undefined)),
    refused: report?.said ?? [],
  };
  const failure = underWay?.failure ?? facts.failure;
  if (since !== undefined && failure !== null)
    return { ...asked, state: 'failing', since: timeOf(since.atMs), reason: failure };
  if (since !== undefined && underWay?.isTaken === false && nowMs - since.atMs > TAKEN_WITHIN_MS)
    return { ...asked, state: 'unasked', since: timeOf(since.atMs), reason: 'no worker takes up its sweep' };
  if (pausedBecause !== null)
    return { ...asked, state: 'paused', nextAt: null, reason: pausedBecause || 'its Temporal Schedule is paused' };
  if (report?.calls === 0)
    return { ...asked, state: 'idle', answeredAt: null, reason: 'no pipeline wants anything of it' };
  return { ...asked, state: 'answers' };
}

/** Those that look for the inputs of a pipeline; `manual` looks for nothing. */
export const finderNames = ({ artifacts }: Pick<PipelineSpec, 'artifacts'>): string[] =>
  [...new Set(Object.values(artifacts).map(({ finder }) => finder))].filter((name) => name !== 'manual').sort();

/** What concerns one pipeline: a sweep says of each refusal whose it was. */
export const refusedFor = (pipeline: string, view: FinderView): FinderView => ({
  ...view,
  refused: view.refused.flatMap((said) =>
    said.startsWith(`${pipeline}, `) || said.startsWith(`${pipeline}: `) ? [said.slice(pipeline.length + 2)] : [],
  ),
});

const NOTHING = { answeredAt: null, since: null, reason: null, nextAt: null, refused: [] } as const;

const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : formatTime(ms));
