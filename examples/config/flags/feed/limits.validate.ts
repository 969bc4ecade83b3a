import { invariant } from 'conveyor/config';
import { limits } from './limits.schema';

export const softBelowHard = invariant(
  limits,
  ({ soft, hard }) => soft <= hard || `soft ${soft} is above hard ${hard}`,
);
