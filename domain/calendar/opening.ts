import { windowAt, type Window, type WindowState } from './window';

/** What may begin, or go on, at a moment: one rule for actions, deploys and plans (docs/adr/0011). */

/** However often windows follow each other, it is said to close before the next three weeks are over. */
const MOST_AHEAD_MS = 21 * 86_400_000;

/** Whether one of the windows is open, and until when that stays so: from one to the next where they touch or overlap. */
export function openingAt({ windows }: { readonly windows: readonly Window[] }, nowMs: number): WindowState {
  const closesAtMs = closingOf(windows, nowMs);
  if (closesAtMs > nowMs) return { open: true, closesAtMs };
  const openings = windows.map((window) => windowAt(window, nowMs));
  return { open: false, opensAtMs: Math.min(...openings.flatMap((state) => (state.open ? [] : [state.opensAtMs]))) };
}

/** When the last of those that are open, or open as another closes, closes; now when none is open. */
function closingOf(windows: readonly Window[], nowMs: number): number {
  let untilMs = nowMs;
  for (;;) {
    const closings = windows
      .map((window) => windowAt(window, untilMs))
      .map((state) => (state.open ? state.closesAtMs : 0));
    const nextMs = Math.max(untilMs, ...closings);
    if (nextMs === untilMs || nextMs > nowMs + MOST_AHEAD_MS) return nextMs;
    untilMs = nextMs;
  }
}
