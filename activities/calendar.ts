import { Context } from '@temporalio/activity';
import type { Blackout } from '../domain/calendar/blackout';
import { openingAt } from '../domain/calendar/opening';
import { nextSpreadTick } from '../domain/calendar/spread';
import type { Window, WindowState } from '../domain/calendar/window';
import type { Settings } from '../domain/settings';
import type { Clock } from './clock';

interface CalendarPorts {
  readonly clock: Clock;
  readonly registry: { readonly settings: Pick<Settings, 'calendarSpreadMs'> };
}

export type CalendarActivities = ReturnType<typeof createCalendarActivities>;

/** Windows and calendars, which need the zone data of this machine (ARCHITECTURE.md#time). Times in ms; whoever waits asks again when it is over. */
export function createCalendarActivities({ clock, registry }: CalendarPorts) {
  return {
    /** Of one window or several, of which any may be open, but for blackouts. */
    windowState: async (
      windows: Window | readonly Window[],
      blackouts: readonly Blackout[] = [],
    ): Promise<WindowState> => openingAt({ windows: [windows].flat(), blackouts }, await clock.now()),

    /** The next time that it fires, strictly after; null when it never does again. That of a pipeline, whose share of the spread it has. */
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
