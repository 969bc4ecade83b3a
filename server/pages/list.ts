import { BUG_PAGES } from '../../features/bugs/server/pages';
import { FRESHNESS_PAGE } from '../../features/freshness/server/pages';
import type { PagePlace } from '../../pages/frame';
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

/** The way around leads to these, in the order of the list. */
export const PAGE_PLACES: readonly PagePlace[] = PAGE_ROWS.flatMap(({ paths: [path], link }) =>
  path === undefined || link === undefined ? [] : [[path, link] as const],
);
