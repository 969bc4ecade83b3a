import { nextTick } from '../domain/calendar/ticks';
import type { Blackout } from '../domain/calendar/blackout';
import { openingAt } from '../domain/calendar/opening';
import type { Window, WindowState } from '../domain/calendar/window';
import type { Clock } from './clock';

export type CalendarActivities = ReturnType<typeof createCalendarActivities>;

/** Windows and calendars, which need the zone data of this machine (ARCHITECTURE.md#time). Times in ms; whoever waits asks again when it is over. */
export function createCalendarActivities({ clock }: { clock: Clock }) {
  return {
    /** Of one window or several, of which any may be open, but for blackouts. */
    windowState: async (
      windows: Window | readonly Window[],
      blackouts: readonly Blackout[] = [],
    ): Promise<WindowState> => openingAt({ windows: [windows].flat(), blackouts }, await clock.now()),

    /** The next time that it fires, strictly after; null when it never does again. */
    nextTick: async (
      { calendar, timezone }: { readonly calendar: string; readonly timezone: string },
      afterMs: number,
    ): Promise<number | null> => nextTick(calendar, timezone, afterMs),
  };
}
