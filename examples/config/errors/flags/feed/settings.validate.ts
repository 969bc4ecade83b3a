import { invariant } from 'conveyor/config';
import { settings } from './settings.schema';

export const softBelowHard = invariant(
  settings,
  ({ soft, hard }) => soft <= hard || `soft ${soft} is above hard ${hard}`,
);
