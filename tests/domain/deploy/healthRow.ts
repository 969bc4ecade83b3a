import type { HealthRow } from '../../../domain/views';

/** A check of the unit `x` as a deploy shows it, with no numbers. */
export const healthRow = (check: string, verdict: HealthRow['verdict']): HealthRow => ({
  unit: 'x',
  check,
  verdict,
  observed: null,
  reference: null,
  threshold: null,
  samples: 0,
  reason: '',
});
