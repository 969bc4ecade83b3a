import type { UnitProgress } from '../fleet/unit';
import type { UnitCounts } from '../views';

/** What people see of a unit's progress. */
export const toCounts = ({ id, targeted, updated, live }: UnitProgress): UnitCounts => ({
  id,
  targeted,
  updated,
  live,
});
