import { recordOpening, listUnscheduled, type CalendarLookup } from '../../domain/pipeline/openings';
import type { PipelineState } from '../../domain/pipeline/state';
import { calendarActivities } from '../proxies';
import { BackgroundTasks, waitFor } from '../waitFor';
import type { PipelineRun } from './run';

/**
 * Asks when the calendar opens for the actions that have begun to wait. This is an activity, because time zones change and a replay must not
 * (ARCHITECTURE.md#time).
 */
export async function lookUpCalendar(run: PipelineRun): Promise<void> {
  if (run.state === null || run.lookups.size > 0) return;
  const wanted = listUnscheduled(run.state);
  if (wanted.length > 0) await run.look(run.lookups, learnOpenings(run, run.state, wanted));
}

/** If the calendar has changed by the time of the answer, the answer is dropped. */
async function learnOpenings(
  run: PipelineRun,
  { spec }: PipelineState,
  wanted: readonly CalendarLookup[],
): Promise<void> {
  const { calendar = '', timezone = 'UTC' } = spec.schedule;
  const isOutdated = (): boolean => {
    const { schedule } = run.known().spec;
    return schedule.calendar !== spec.schedule.calendar || schedule.timezone !== spec.schedule.timezone;
  };
  for (const each of wanted) {
    const ask = () => calendarActivities.nextTick({ calendar, timezone }, each.afterMs);
    const answer = await waitFor(new BackgroundTasks(), ask, { wake: isOutdated });
    if (answer.kind !== 'done') return;
    run.decided((state) => recordOpening(state, each, answer.value));
  }
}
