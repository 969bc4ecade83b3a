import { metricMeter } from '@temporalio/workflow';
import { recordMeasures, type MeasuredValue } from '../domain/metrics';

/** Counts and times, once: nothing while a history is replayed. It is not a command, so that no history knows of it. */
export const measure = (...measures: readonly MeasuredValue[]): void => recordMeasures(metricMeter, measures);
