import { spanAt, type Blackout } from './blackout';
import { endKind } from './ends';
import { windowAt, type Window, type WindowState } from './window';

/** Whether something may begin or continue at a moment: the single rule for actions, deploys and plans. */
export interface Openings {
  /** It is open while any of these is open; always if there are none … */
  readonly windows: readonly Window[];
  /** … but never in one of these. */
  readonly blackouts?: readonly Blackout[];
}

/** If something never closes, the answer is a closing time in some weeks, so that the caller asks again then. */
const MOST_AHEAD_MS = 21 * 86_400_000;
/** More changes than some years have. If nothing opens in all that time, the answer is "closed until then". */
const MOST_STEPS = 1_000;

/** The state at a moment, and the time until which it lasts; if a blackout keeps it closed, also its reason. */
export const getOpeningState = (times: Openings, nowMs: number): WindowState => searchOpening(times, nowMs).state;

/** `isEndless`: no end of the closed time was found. */
function searchOpening(
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
      const closesAtMs = Math.min(window.closesAtMs, ...blackouts.map((each) => getBlackoutStart(each, nowMs)));
      return { state: { open: true, closesAtMs }, isEndless: false };
    }
  }
  return { state: { open: false, opensAtMs: atMs, ...(why === undefined ? {} : { why }) }, isEndless };
}

/** Whether it is open at any time; dates that pass keep nothing closed for ever. */
export function everOpens({ windows, blackouts = [] }: Openings, nowMs: number): boolean {
  const recurring = blackouts.filter(({ from, days }) => days !== undefined || endKind(from) === 'yearly');
  return !searchOpening({ windows, blackouts: recurring }, nowMs).isEndless;
}

/** The blackouts that close something between two moments. */
export const blackoutsWithin = (blackouts: readonly Blackout[], fromMs: number, toMs: number): readonly Blackout[] =>
  blackouts.filter((each) => getBlackoutStart(each, fromMs) < toMs);

const isInForce = (blackout: Blackout, atMs: number): boolean => getBlackoutStart(blackout, atMs) <= atMs;

const getBlackoutStart = (blackout: Blackout, atMs: number): number => spanAt(blackout, atMs)?.fromMs ?? Infinity;

function windowsAt(windows: readonly Window[], nowMs: number): WindowState {
  const closesAtMs = windows.length === 0 ? nowMs + MOST_AHEAD_MS : lastClosing(windows, nowMs);
  if (closesAtMs > nowMs) return { open: true, closesAtMs };
  const states = windows.map((window) => windowAt(window, nowMs));
  return { open: false, opensAtMs: Math.min(...states.flatMap((state) => (state.open ? [] : [state.opensAtMs]))) };
}

/** The last closing time of the windows that are open, or that open as another closes; now if none is open. */
function lastClosing(windows: readonly Window[], nowMs: number): number {
  let untilMs = nowMs;
  for (;;) {
    const states = windows.map((window) => windowAt(window, untilMs));
    const nextMs = Math.max(untilMs, ...states.flatMap((state) => (state.open ? [state.closesAtMs] : [])));
    if (nextMs === untilMs || nextMs > nowMs + MOST_AHEAD_MS) return nextMs;
    untilMs = nextMs;
  }
}
