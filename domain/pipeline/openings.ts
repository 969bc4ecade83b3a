import { listUnscheduledDeploys } from './obstacles';
import { listUnscheduledReleases } from './queue';
import { nextExpiry } from './expiry';
import { thawsAtMs } from './freeze';
import type { PipelineState } from './state';

/** A time after which the calendar has to be looked up, and the release or action that waits. */
export interface CalendarLookup {
  readonly release: number;
  /** Null if the release itself waits to start. */
  readonly action: string | null;
  readonly afterMs: number;
}

/** The releases and actions that wait for the calendar and whose time is not known yet. */
export const listUnscheduled = (state: PipelineState): CalendarLookup[] => [
  ...listUnscheduledReleases(state).map(({ number, createdAt }) => ({
    release: number,
    action: null,
    afterMs: Date.parse(createdAt),
  })),
  ...listUnscheduledDeploys(state).map(({ release, action, readyAtMs = 0 }) => ({
    release,
    action,
    afterMs: readyAtMs,
  })),
];

/** Records the answer of the calendar for one of them; null: never. */
export function recordOpening(
  state: PipelineState,
  { release, action }: Pick<CalendarLookup, 'release' | 'action'>,
  opensAtMs: number | null,
): PipelineState {
  return action === null
    ? { ...state, active: state.active.map((each) => (each.number === release ? { ...each, opensAtMs } : each)) }
    : {
        ...state,
        ready: state.ready.map((each) =>
          each.release === release && each.action === action ? { ...each, opensAtMs } : each,
        ),
      };
}

/** After a change of the calendar all times are looked up again, from the beginning of each wait. */
export const clearOpenings = (state: PipelineState): PipelineState => ({
  ...state,
  active: state.active.map(({ opensAtMs: _, ...release }) => release),
  ready: state.ready.map(({ opensAtMs: _, ...ready }) => ready),
});

/** The next time at which the calendar admits something, in ms since the epoch; undefined if nothing waits for it. */
export function nextOpening({ active, ready }: PipelineState, nowMs: number): number | undefined {
  const queued = active.filter(({ state }) => state === 'queued');
  const times = [...queued, ...ready].flatMap(({ opensAtMs }) => (typeof opensAtMs === 'number' ? [opensAtMs] : []));
  const ahead = times.filter((time) => time > nowMs);
  return ahead.length > 0 ? Math.min(...ahead) : undefined;
}

/**
 * The next time at which something is due without a message, in ms since the epoch: a calendar opens, a freeze lifts itself, or a release
 * expires.
 */
export function nextWake(state: PipelineState, nowMs: number): number | undefined {
  const times = [nextOpening(state, nowMs), thawsAtMs(state), nextExpiry(state)].flatMap((time) => time ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}
