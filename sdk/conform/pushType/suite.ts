import type { ConformCheck } from '../check';
import { COMMAND_CHECKS } from './commands';
import { HEALTH_CHECKS } from './health';
import { LOCKSTEP_CHECKS } from './lockstep';
import { LOOK_CHECKS } from './lookChecks';
import { PAGE_CHECKS } from './pages';
import { REMOVAL_CHECKS } from './removalChecks';
import { REVERT_CHECKS } from './revertChecks';
import { UPDATE_CHECKS } from './updateChecks';
import type { PushTypeSubject } from './world';

/** The obligations of every push type; each check needs its own subject. */
export const PUSH_TYPE_CHECKS: readonly ConformCheck<PushTypeSubject>[] = [
  ...LOOK_CHECKS,
  ...UPDATE_CHECKS,
  ...COMMAND_CHECKS,
  ...REVERT_CHECKS,
  ...PAGE_CHECKS,
  ...LOCKSTEP_CHECKS,
  ...REMOVAL_CHECKS,
  ...HEALTH_CHECKS,
];
