import type { WindowState } from '../calendar/window';

/** The times at which updates of a deploy may start, and the treatment of running updates at closing. */
export interface UpdateWindow {
  readonly onClose: 'pause' | 'finish-phase' | 'finish';
  /** The state of the window at a moment, in ms since 1970. Calendars are handled elsewhere. */
  readonly stateAt: (atMs: number) => WindowState;
}

/** The duration of a phase if nothing goes wrong, in ms. A phase that finds nothing to update takes no time. */
export interface PhaseLength {
  readonly updateMs: number;
  readonly bakeMs: number;
}

/** The times when a phase begins, when its updates are live, and when its bake is over; in ms since 1970. */
export interface PhaseTimes {
  readonly startsAtMs: number;
  readonly updatedAtMs: number;
  readonly bakedAtMs: number;
}

/**
 * The times of consecutive phases, by the rules of docs/design/deploy.md#phases: a phase begins, and its updates start, only while the window is
 * open. At closing, updates halt until it opens again (`onClose: pause`), or finish (`finish-phase`); with `finish` only the first phase waits for
 * the window. Bakes ignore the window. An update that takes exactly until closing is in time.
 */
export function estimate(
  phases: readonly PhaseLength[],
  startMs: number,
  window: UpdateWindow | undefined,
): PhaseTimes[] {
  const times: PhaseTimes[] = [];
  let atMs = startMs;
  for (const [index, { updateMs, bakeMs }] of phases.entries()) {
    const startsAtMs = index > 0 && window?.onClose === 'finish' ? atMs : opensFrom(window, atMs);
    const updatedAtMs = computeUpdateEnd(window, startsAtMs, updateMs);
    atMs = updatedAtMs + bakeMs;
    times.push({ startsAtMs, updatedAtMs, bakedAtMs: atMs });
  }
  return times;
}

function opensFrom(window: UpdateWindow | undefined, atMs: number): number {
  if (window === undefined) return atMs;
  const state = window.stateAt(atMs);
  return state.open ? atMs : state.opensAtMs;
}

/** Begins at a moment at which the window is open. */
function computeUpdateEnd(window: UpdateWindow | undefined, startsAtMs: number, updateMs: number): number {
  if (window?.onClose !== 'pause') return startsAtMs + updateMs;
  let [atMs, leftMs] = [startsAtMs, updateMs];
  for (;;) {
    const state = window.stateAt(atMs);
    if (!state.open) atMs = state.opensAtMs;
    else if (atMs + leftMs <= state.closesAtMs) return atMs + leftMs;
    else {
      leftMs -= state.closesAtMs - atMs;
      atMs = state.closesAtMs;
    }
  }
}
