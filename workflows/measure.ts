import { metricMeter } from '@temporalio/workflow';
import { measure as measureBy, type Measure } from '../domain/metrics';

/** Counts and times, once: nothing while a history is replayed. It is no command, so that no history knows of it. */
export const measure = (...measures: readonly Measure[]): void => measureBy(metricMeter, measures);
