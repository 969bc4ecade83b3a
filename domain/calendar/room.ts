import { getOpeningState, type Openings } from './opening';
import { findOpeningStart, windowAt, type Window, type WindowState } from './window';

/** Windows that admit only a limited number of deploys each time that they open. */

export type LimitedWindow = Window & { readonly maxDeploys?: number | undefined };

/** `full`: the limit is reached; for a window that is otherwise open. */
export type Room =
  | Extract<WindowState, { open: true }>
  | (Extract<WindowState, { open: false }> & { readonly full?: { readonly begun: number; readonly most: number } });

/**
 * Whether one more deploy may begin. A full window counts as closed until its next opening; another open window will do.
 * @param begunMs the times at which others began
 */
export function roomAt(
  { windows, blackouts = [] }: Omit<Openings, 'windows'> & { readonly windows: readonly LimitedWindow[] },
  begunMs: readonly number[],
  nowMs: number,
): Room {
  const full = windows.flatMap((window) => {
    const { maxDeploys: most = Infinity } = window;
    const fromMs = findOpeningStart(window, nowMs) ?? Infinity;
    const begun = begunMs.filter((atMs) => atMs >= fromMs).length;
    return begun >= most ? [{ window, begun, most }] : [];
  });
  const [first] = full;
  if (first === undefined) return getOpeningState({ windows, blackouts }, nowMs);
  const free = windows.filter((window) => !full.some((one) => one.window === window));
  const now = free.length > 0 ? getOpeningState({ windows: free, blackouts }, nowMs) : undefined;
  if (now?.open) return now;
  const next = full.map(({ window }) => opensAgain({ windows: [window], blackouts }, findWindowClose(window, nowMs)));
  const opensAtMs = Math.min(...next, now?.opensAtMs ?? Infinity);
  return { open: false, opensAtMs, full: { begun: first.begun, most: first.most } };
}

function findWindowClose(window: Window, nowMs: number): number {
  const state = windowAt(window, nowMs);
  return state.open ? state.closesAtMs : nowMs;
}

function opensAgain(times: Openings, fromMs: number): number {
  const state = getOpeningState(times, fromMs);
  return state.open ? fromMs : state.opensAtMs;
}
