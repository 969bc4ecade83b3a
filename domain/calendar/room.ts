import { openingAt, type Openings } from './opening';
import { openedAt, windowAt, type Window, type WindowState } from './window';

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
    const fromMs = openedAt(window, nowMs) ?? Infinity;
    const begun = begunMs.filter((atMs) => atMs >= fromMs).length;
    return begun >= most ? [{ window, begun, most }] : [];
  });
  const [first] = full;
  if (first === undefined) return openingAt({ windows, blackouts }, nowMs);
  const free = windows.filter((window) => !full.some((one) => one.window === window));
  const now = free.length > 0 ? openingAt({ windows: free, blackouts }, nowMs) : undefined;
  if (now?.open) return now;
  const next = full.map(({ window }) => opensAgain({ windows: [window], blackouts }, closingOf(window, nowMs)));
  const opensAtMs = Math.min(...next, now?.opensAtMs ?? Infinity);
  return { open: false, opensAtMs, full: { begun: first.begun, most: first.most } };
}

function closingOf(window: Window, nowMs: number): number {
  const state = windowAt(window, nowMs);
  return state.open ? state.closesAtMs : nowMs;
}

function opensAgain(times: Openings, fromMs: number): number {
  const state = openingAt(times, fromMs);
  return state.open ? fromMs : state.opensAtMs;
}
