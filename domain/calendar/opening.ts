import { spanAt, type Blackout } from './blackout';
import { endKind } from './ends';
import { windowAt, type Window, type WindowState } from './window';

/** Whether something may begin or continue at a moment: the one rule for actions, deploys and plans. */
export interface Openings {
  /** It is open while any of them is; none: always … */
  readonly windows: readonly Window[];
  /** … but never in one of these. */
  readonly blackouts?: readonly Blackout[];
}

/** What never closes is said to close in some weeks, to be asked again then. */
const MOST_AHEAD_MS = 21 * 86_400_000;
/** More changes than there are in some years; what does not open in all that time is said to be closed until then. */
const MOST_STEPS = 1_000;

/** How it stands, and until when that stays so; of what a blackout keeps closed also the reason of that. */
export const openingAt = (times: Openings, nowMs: number): WindowState => foundAt(times, nowMs).state;

/** `isEndless`: nothing was found that ends its being closed. */
function foundAt(
  { windows, blackouts = [] }: Openings,
  nowMs: number,
): { readonly state: WindowState; readonly isEndless: boolean } {
  let isEndless = true;
  let atMs = nowMs;
  let why: string | undefined;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const blackout = blackouts.find((each) => isInForce(each, atMs));
    const window = windowsAt(windows, atMs);
    if (blackout !== undefined) {
      why ??= blackout.reason;
      atMs = spanAt(blackout, atMs)?.toMs ?? atMs;
    } else if (!window.open) atMs = window.opensAtMs;
    else if (atMs > nowMs) {
      isEndless = false;
      break;
    } else {
      const closesAtMs = Math.min(window.closesAtMs, ...blackouts.map((each) => beginOf(each, nowMs)));
      return { state: { open: true, closesAtMs }, isEndless: false };
    }
  }
  return { state: { open: false, opensAtMs: atMs, ...(why === undefined ? {} : { why }) }, isEndless };
}

/** Whether there is a time at which it is open; dates that pass keep nothing closed for ever. */
export function everOpens({ windows, blackouts = [] }: Openings, nowMs: number): boolean {
  const recurring = blackouts.filter(({ from, days }) => days !== undefined || endKind(from) === 'yearly');
  return !foundAt({ windows, blackouts: recurring }, nowMs).isEndless;
}

/** Those that keep something closed between two moments. */
export const blackoutsWithin = (blackouts: readonly Blackout[], fromMs: number, toMs: number): readonly Blackout[] =>
  blackouts.filter((each) => beginOf(each, fromMs) < toMs);

const isInForce = (blackout: Blackout, atMs: number): boolean => beginOf(blackout, atMs) <= atMs;

const beginOf = (blackout: Blackout, atMs: number): number => spanAt(blackout, atMs)?.fromMs ?? Infinity;

function windowsAt(windows: readonly Window[], nowMs: number): WindowState {
  const closesAtMs = windows.length === 0 ? nowMs + MOST_AHEAD_MS : lastClosing(windows, nowMs);
  if (closesAtMs > nowMs) return { open: true, closesAtMs };
  const states = windows.map((window) => windowAt(window, nowMs));
  return { open: false, opensAtMs: Math.min(...states.flatMap((state) => (state.open ? [] : [state.opensAtMs]))) };
}

/** When the last of those that are open, or open as another closes, closes; now when none is open. */
function lastClosing(windows: readonly Window[], nowMs: number): number {
  let untilMs = nowMs;
  for (;;) {
    const states = windows.map((window) => windowAt(window, untilMs));
    const nextMs = Math.max(untilMs, ...states.flatMap((state) => (state.open ? [state.closesAtMs] : [])));
    if (nextMs === untilMs || nextMs > nowMs + MOST_AHEAD_MS) return nextMs;
    untilMs = nextMs;
  }
}
