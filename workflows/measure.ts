import { metricMeter } from '@temporalio/workflow';
import { recordMeasures, type MeasuredValue } from '../domain/metrics';

/** Records counts and times once: nothing during a replay. It is not a command, so histories do not contain it. */
export const measure = (...measures: readonly MeasuredValue[]): void => recordMeasures(metricMeter, measures);
