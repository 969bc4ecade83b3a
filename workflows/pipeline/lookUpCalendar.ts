import { scheduled, unscheduled } from '../../domain/pipeline/openings';
import { calendarActivities } from '../proxies';
import type { PipelineRun } from './run';

/** Asks when the calendar opens for what has begun to wait. An activity: zones change, and a replay must not (ARCHITECTURE.md#time). */
export async function lookUpCalendar(run: PipelineRun): Promise<void> {
  if (run.state === null) return;
  const { calendar: line = '', timezone = 'UTC' } = run.state.spec.schedule;
  for (const each of unscheduled(run.state)) {
    const opensAtMs = await calendarActivities.nextTick({ calendar: line, timezone }, each.afterMs);
    run.decided((state) => scheduled(state, each, opensAtMs));
  }
}
