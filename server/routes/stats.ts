import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { conveyorError } from '../../domain/errors';
import type { StatsReport } from '../../domain/stats/report';
import { STATS_MS, type Grouping } from '../../domain/stats/tallies';
import { readStats } from '../../archive/stats';
import { lookRoute, type ApiRoute } from '../apiRoute';
import type { ServerDeps } from '../deps';
import { statsAnswer, statsQuery } from '../statsSchemas';

export const STATS_ROUTE: ApiRoute = lookRoute(SERVER_QUESTIONS.stats.route, {
  summary: 'Statistics of releases and deploys, as `conveyor stats` shows them',
  ...{ answer: statsAnswer, query: statsQuery },
  run: ({ deps, query }) => {
    const { since, by } = query();
    return readStatsReport(deps, { sinceMs: since === undefined ? undefined : Date.parse(since), by });
  },
});

interface StatsPeriod {
  /** ms since the epoch; 21 days ago if it is undefined. */
  readonly sinceMs: number | undefined;
  readonly by: Grouping;
}

/** @throws ConveyorError `not-found` without an archive */
export function readStatsReport(
  { archive, now }: Pick<ServerDeps, 'archive' | 'now'>,
  { sinceMs, by }: StatsPeriod,
): Promise<StatsReport> {
  if (archive === undefined)
    throw conveyorError('not-found', { what: 'archive: conveyor.config.yaml of the server has no archive section' });
  const untilMs = now();
  return readStats(archive, { sinceMs: sinceMs ?? untilMs - STATS_MS, untilMs, by });
}
