import type { Openings } from './calendar/opening';
import type { WindowState } from './calendar/window';
import { whyFrozen } from './pipeline/freeze';
import { toOpenTimes, withBlackout, withBlackouts } from './release/openTimes';
import { isUrgent } from './release/urgent';
import type { PipelineSpec } from './spec/pipeline';
import { formatTime } from './text';
import type { PipelineStatus } from './views';

/** The reason why a release that was just started does not deploy yet, as far as its pipeline and its file show it. */
export interface WaitAhead {
  readonly by: 'freeze' | 'hold' | 'calendar' | 'window';
  /** The waiting action; null if the release or all its deploys wait. */
  readonly action: string | null;
  readonly why: string;
  readonly until: string | null;
  /** The command that ends the wait; null if only time does. */
  readonly next: string | null;
}

/** Finds the wait of a release or of its deploys that the pipeline knows; null for none, and for an ended release. */
export function pipelineWait(pipeline: PipelineStatus, number: number): WaitAhead | null {
  const { id, frozen = null, held, waits = [], releases } = pipeline;
  const release = releases.find((one) => one.number === number);
  if (release === undefined || release.endedAt !== null) return null;
  const found = whyFrozen({ frozen });
  if (found) {
    const until = frozen?.until ?? null;
    return { by: 'freeze', action: null, why: found.why, until, next: `conveyor unfreeze ${id} --reason "…"` };
  }
  if (isUrgent(release.trigger)) return null;
  const calendar = waits.find((wait) => wait.release === number && wait.action === null && CALENDAR.test(wait.why));
  if (calendar) return { by: 'calendar', action: null, why: calendar.why, until: calendar.until, next: null };
  if (held === null) return null;
  const why = `the pipeline is held by ${held.actor}: ${held.reason}`;
  return { by: 'hold', action: null, why, until: null, next: `conveyor unhold ${id} --reason "…"` };
}

const CALENDAR = /^(?:waiting for )?the calendar/;

/** Whether a file has windows or blackouts. */
export const hasClosedTimes = (spec: PipelineSpec): boolean =>
  Object.values(spec.actions).some((action) => toOpenTimes(withBlackouts(spec, action)) !== undefined);

/** The first action with a closed window or a present blackout; null for none. */
export function windowWait(
  spec: PipelineSpec,
  release: string,
  nowMs: number,
  openingAt: (times: Openings, nowMs: number) => WindowState,
): WaitAhead | null {
  for (const [action, one] of Object.entries(spec.actions)) {
    const times = toOpenTimes(withBlackouts(spec, one));
    const state = times && openingAt(times, nowMs);
    if (state === undefined || state.open) continue;
    return {
      ...{ by: 'window', action, why: withBlackout('its window is closed', state.why ?? '') },
      until: formatTime(state.opensAtMs),
      next: `conveyor skip-window ${release}/${action} --reason "…"`,
    };
  }
  return null;
}
