import { BUG_PAGES } from '../../features/bugs/server/pages';
import { FRESHNESS_PAGE } from '../../features/freshness/server/pages';
import { CALENDAR_PAGE } from './calendar';
import { CONFIG_PAGES } from './config';
import type { ReadPage } from './page';
import { AUDIT_PAGE, STATS_PAGE } from './records';
import { SETTINGS_PAGE } from './settings';
import { WHERE_PAGE } from './where';

/** The pages besides those of pipelines, releases and deploys. */
export const PAGE_ROWS: readonly ReadPage[] = [
  WHERE_PAGE,
  CALENDAR_PAGE,
  STATS_PAGE,
  ...BUG_PAGES,
  FRESHNESS_PAGE,
  ...CONFIG_PAGES,
  AUDIT_PAGE,
  SETTINGS_PAGE,
];
