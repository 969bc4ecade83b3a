import { formatTime } from '../text';
import type { CommandInput } from '../verbs';
import type { PipelineStopRecord, PipelineState } from './state';

/** Freezes with an end: the pipeline lifts them itself. */

/** The time at which the freeze lifts itself; undefined if a person has to lift it, or there is no freeze. */
export function thawsAtMs({ frozen }: Pick<PipelineState, 'frozen'>): number | undefined {
  const atMs = Date.parse(frozen?.until ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}

export const isThawing = (state: PipelineState, nowMs: number): boolean => (thawsAtMs(state) ?? Infinity) <= nowMs;

/** The reason why nothing begins, and the end if it is known; undefined without a freeze. */
export function whyFrozen(state: Pick<PipelineState, 'frozen'>): { why: string; untilMs?: number } | undefined {
  const { frozen } = state;
  if (frozen === null) return undefined;
  const untilMs = thawsAtMs(state);
  return {
    why: `the pipeline is frozen by ${frozen.actor}: ${frozen.reason}`,
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

/** `frozen by user:alice until 2026-12-27T06:00:00.000Z`, for output that does not show the end elsewhere. */
export const describeFreeze = ({ actor, until }: Pick<PipelineStopRecord, 'actor' | 'until'>): string =>
  `frozen by ${actor}${until === undefined ? '' : ` until ${until}`}`;

/**
 * The reason why a pipeline cannot be frozen with this end; undefined if it can. Another freeze with a different end
 * moves the end.
 */
export function whyNotFreeze({ frozen }: PipelineState, { until }: CommandInput, nowMs: number): string | undefined {
  const untilMs = until === undefined ? Infinity : Date.parse(until);
  if (Number.isNaN(untilMs)) return `${until} is not a time; write it like 2026-12-27T06:00:00Z`;
  if (untilMs <= nowMs) return `${until} is already over`;
  if (frozen === null || (until !== undefined && formatFreezeEnd(until) !== frozen.until)) return undefined;
  return `${frozen.actor} has already frozen it: ${frozen.reason}`;
}

/** The end as it is stored: in UTC, from any input. */
export const formatFreezeEnd = (until: string): string => formatTime(Date.parse(until));
