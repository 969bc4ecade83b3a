import { classifyCadence } from '../../../domain/calendar/cadence';
import type { PipelineSpec } from '../../../domain/spec/pipeline';

const spec = (schedule: Partial<PipelineSpec['schedule']>, types: readonly string[] = ['build', 'deploy']) =>
  ({
    schedule: { mode: 'continuous', gates: 'deploys', ...schedule },
    actions: Object.fromEntries(types.map((type) => [type, { type }])),
  }) as unknown as PipelineSpec;
const on = (calendar: string) => spec({ mode: 'calendar', calendar, timezone: 'Europe/Berlin' });

test.each([
  [spec({}), 'continuous'],
  [spec({ mode: 'manual' }), 'manual-pick'],
  [spec({}, ['build', 'manual-pick', 'deploy']), 'manual-pick'],
  [on('* * * * *'), 'daily'],
  [on('0 9 * * *'), 'daily'],
  [on('0 9 * * 1-5'), 'daily'],
  [on('0 9 * * 1,4'), 'weekly'],
  [on('0 9 * * 1'), 'weekly'],
  [on('0 9 1,15 * *'), 'biweekly/monthly'],
  [on('0 9 1 * *'), 'biweekly/monthly'],
  [on('0 9 1 1 *'), 'biweekly/monthly'],
])('pipeline %# releases %s', (pipeline, cadence) => {
  expect(classifyCadence(pipeline)).toBe(cadence);
});
