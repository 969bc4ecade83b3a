import type { BlackoutSpec } from '../spec/times';
import { DATE_ONLY, endKind, needsZone } from './ends';
import { windowAt, type Window } from './window';
import { firstInstantFrom, lastInstantBefore, wallAt } from './zone';
import { DAY_MS } from '../milliseconds';

/** Blackouts: times at which nothing that a window would gate begins or continues. If the ends are days, both belong to it. */

export type Blackout = BlackoutSpec;

/** From one instant to another, which does not belong to it; ms. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The span that contains a moment, else the next one; undefined once the blackout is over permanently. */
export function spanAt(blackout: Blackout, nowMs: number): Span | undefined {
  const { days, from, to, timezone = 'UTC' } = blackout;
  if (days !== undefined) return weekly({ days, from, to, timezone }, nowMs);
  const spans = endKind(from) === 'yearly' ? yearly(blackout, nowMs) : [toDatedSpan(blackout)];
  return spans.find(({ toMs }) => nowMs < toMs);
}

function weekly(window: Window, nowMs: number): Span {
  const state = windowAt(window, nowMs);
  if (state.open) return { fromMs: nowMs, toMs: state.closesAtMs };
  const then = windowAt(window, state.opensAtMs);
  return { fromMs: state.opensAtMs, toMs: then.open ? then.closesAtMs : state.opensAtMs };
}

/** `12-24` to `01-02` ends in the next year. */
function yearly({ from, to, timezone = 'UTC', ...rest }: Blackout, nowMs: number): Span[] {
  const year = new Date(wallAt(timezone, nowMs)).getUTCFullYear();
  const turns = to < from ? 1 : 0;
  return [year - 1, year, year + 1].map((first) =>
    toDatedSpan({ ...rest, timezone, from: `${first}-${from}`, to: `${first + turns}-${to}` }),
  );
}

/** If clocks show a time twice, the span is from the first `from` to the last `to`. */
function toDatedSpan({ from, to, timezone = 'UTC' }: Blackout): Span {
  return {
    fromMs: needsZone(from) ? firstInstantFrom(timezone, wallEnd(from)) : Date.parse(from),
    toMs: needsZone(to) ? lastInstantBefore(timezone, wallEnd(to) + (DATE_ONLY.test(to) ? DAY_MS : 0)) : Date.parse(to),
  };
}

/** A time as if clocks showed UTC. */
const wallEnd = (end: string): number => Date.parse(DATE_ONLY.test(end) ? `${end}T00:00Z` : `${end}Z`);
