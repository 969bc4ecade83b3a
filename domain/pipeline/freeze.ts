import { formatTime } from '../text';
import type { CommandInput } from '../verbs';
import type { Held, PipelineState } from './state';

/** Freezes with an end: the pipeline lifts them itself. */

/** When the freeze lifts itself; undefined where a person has to, or nothing is frozen. */
export function thawsAtMs({ frozen }: Pick<PipelineState, 'frozen'>): number | undefined {
  const atMs = Date.parse(frozen?.until ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}

export const isThawing = (state: PipelineState, nowMs: number): boolean => (thawsAtMs(state) ?? Infinity) <= nowMs;

/** Why nothing begins, and until when if that is known; undefined while it is not frozen. */
export function whyFrozen(state: Pick<PipelineState, 'frozen'>): { why: string; untilMs?: number } | undefined {
  const { frozen } = state;
  if (frozen === null) return undefined;
  const untilMs = thawsAtMs(state);
  return {
    why: `the pipeline is frozen by ${frozen.actor}: ${frozen.reason}`,
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

/** `frozen by user:alice until 2026-12-27T06:00:00.000Z`, for output that does not show the end otherwise. */
export const frozenWords = ({ actor, until }: Pick<Held, 'actor' | 'until'>): string =>
  `frozen by ${actor}${until === undefined ? '' : ` until ${until}`}`;

/** Why a pipeline cannot be frozen so; undefined when it can. Freezing once more with another end moves the end. */
export function whyNotFreeze({ frozen }: PipelineState, { until }: CommandInput, nowMs: number): string | undefined {
  const untilMs = until === undefined ? Infinity : Date.parse(until);
  if (Number.isNaN(untilMs)) return `${until} is not a time; write it like 2026-12-27T06:00:00Z`;
  if (untilMs <= nowMs) return `${until} is over already`;
  if (frozen === null || (until !== undefined && endOf(until) !== frozen.until)) return undefined;
  return `${frozen.actor} has frozen it already: ${frozen.reason}`;
}

/** As it is kept: UTC, whatever it was written in. */
export const endOf = (until: string): string => formatTime(Date.parse(until));
