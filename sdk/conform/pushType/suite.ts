import type { Check } from '../check';
import { COMMANDING } from './commands';
import { HEALTH } from './health';
import { LOCKSTEP } from './lockstep';
import { LOOKING } from './looking';
import { PAGES } from './pages';
import { REVERTING } from './reverting';
import { UPDATING } from './updating';
import type { PushTypeSubject } from './world';

/** What every push type owes; each check wants a subject of its own. */
export const PUSH_TYPE_CHECKS: readonly Check<PushTypeSubject>[] = [
  ...LOOKING,
  ...UPDATING,
  ...COMMANDING,
  ...REVERTING,
  ...PAGES,
  ...LOCKSTEP,
  ...HEALTH,
];
