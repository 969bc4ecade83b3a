import type { ApiRoute } from '../apiRoute';
import { AUDIT_ROUTES } from './audit';
import { BUG_ROUTES } from '../../features/bugs/server/routes';
import { CALLER_ROUTES } from './callers';
import { CONFIG_ROUTES } from './configuration';
import { EXAMINATION_ROUTE } from './examination';
import { FRESHNESS_ROUTE } from '../../features/freshness/server/routes';
import { LIST_ROUTES } from './lists';
import { PIPELINE_ROUTES } from './pipelines';
import { RELEASE_ROUTES } from './releases';
import { RUN_ROUTES } from './runs';
import { STATS_ROUTE } from './stats';
import { WEBHOOK_ROUTES } from './webhooks';
import { WHERE_ROUTE } from './where';

/** Every route of `/v1`, in the order of its description. */
export const API_ROUTES: readonly ApiRoute[] = [
  ...WEBHOOK_ROUTES,
  ...CALLER_ROUTES,
  EXAMINATION_ROUTE,
  ...AUDIT_ROUTES,
  STATS_ROUTE,
  ...CONFIG_ROUTES,
  ...PIPELINE_ROUTES,
  ...RUN_ROUTES,
  FRESHNESS_ROUTE,
  ...BUG_ROUTES,
  WHERE_ROUTE,
  ...LIST_ROUTES,
  ...RELEASE_ROUTES,
];
