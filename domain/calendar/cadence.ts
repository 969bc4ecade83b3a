import type { Cadence } from '../archive/row';
import { DAY_MS } from '../milliseconds';
import type { PipelineSpec } from '../spec/pipeline';
import { nextTick } from './ticks';

/**
 * The class of a pipeline's schedule (Conveyor §6.2). It is manual if releases or deploys are by hand, or a pick comes before a deploy. Otherwise
 * the longest interval of its calendar decides, which for "every working day" is a weekend.
 */
export function classifyCadence(spec: Pick<PipelineSpec, 'schedule' | 'actions'>): Cadence {
  const { mode, calendar, timezone = 'UTC' } = spec.schedule;
  if (mode === 'manual' || Object.values(spec.actions).some(({ type }) => type === 'manual-pick')) return 'manual-pick';
  if (mode === 'continuous' || calendar === undefined) return 'continuous';
  const longest = longestGapMs(calendar, timezone);
  if (longest <= LONG_WEEKEND_MS) return 'daily';
  return longest <= LONG_WEEK_MS ? 'weekly' : 'biweekly/monthly';
}

/** One more hour, since clocks are turned back within some of them. */
const SPARE_MS = DAY_MS / 24;
const LONG_WEEKEND_MS = 3 * DAY_MS + SPARE_MS;
const LONG_WEEK_MS = 7 * DAY_MS + SPARE_MS;
/** Any quarter will do, if it is always the same one. */
const FROM_MS = Date.UTC(2024, 0, 1);
const UNTIL_MS = FROM_MS + 91 * DAY_MS;

function longestGapMs(calendar: string, timezone: string): number {
  let longest = 0;
  let tick = nextTick(calendar, timezone, FROM_MS);
  while (tick !== null && tick < UNTIL_MS) {
    const next = nextTick(calendar, timezone, tick);
    if (next === null) return Infinity;
    longest = Math.max(longest, next - tick);
    // A calendar that fires every minute need not be followed for a quarter.
    tick = Math.max(next, tick + DAY_MS / 2);
  }
  return tick === null ? Infinity : longest;
}
