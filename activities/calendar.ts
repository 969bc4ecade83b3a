import { Context } from '@temporalio/activity';
import type { Blackout } from '../domain/calendar/blackout';
import { getOpeningState } from '../domain/calendar/opening';
import { nextSpreadTick } from '../domain/calendar/spread';
import type { Window, WindowState } from '../domain/calendar/window';
import type { Settings } from '../domain/settings';
import type { Clock } from './clock';

interface CalendarPorts {
  readonly clock: Clock;
  readonly registry: { readonly settings: Pick<Settings, 'calendarSpreadMs'> };
}

export type CalendarActivities = ReturnType<typeof createCalendarActivities>;

/**
 * Windows and calendars, which need the time zone data of this machine (ARCHITECTURE.md#time). Times in ms; the caller asks again when the time has
 * come.
 */
export function createCalendarActivities({ clock, registry }: CalendarPorts) {
  return {
    /** The state of one or more windows, of which any may be open, minus blackouts. */
    windowState: async (
      windows: Window | readonly Window[],
      blackouts: readonly Blackout[] = [],
    ): Promise<WindowState> => getOpeningState({ windows: [windows].flat(), blackouts }, await clock.now()),

    /**
     * The next time that the calendar fires, strictly after `afterMs`; null if it never does again. Each pipeline has its own share of the spread.
     */
    nextTick: async (
      { calendar, timezone }: { readonly calendar: string; readonly timezone: string },
      afterMs: number,
    ): Promise<number | null> => {
      const { workflowExecution } = Context.current().info;
      const of = workflowExecution?.workflowId ?? '';
      return nextSpreadTick({ calendar, timezone, of }, registry.settings.calendarSpreadMs, afterMs);
    },
  };
}
