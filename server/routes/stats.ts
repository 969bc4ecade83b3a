import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { conveyorError } from '../../domain/errors';
import { STATS_MS } from '../../domain/stats/tallies';
import { readStats } from '../../archive/stats';
import { lookRoute, type ApiRoute } from '../apiRoute';
import { statsAnswer, statsQuery } from '../statsSchemas';

export const STATS_ROUTE: ApiRoute = lookRoute(SERVER_QUESTIONS.stats.route, {
  summary: 'Statistics of releases and deploys, as `conveyor stats` shows them',
  ...{ answer: statsAnswer, query: statsQuery },
  run: ({ deps: { archive, now }, query }) => {
    if (archive === undefined)
      throw conveyorError('not-found', { what: 'archive: conveyor.config.yaml of the server has no archive section' });
    const { since, by } = query();
    const untilMs = now();
    const sinceMs = since === undefined ? untilMs - STATS_MS : Date.parse(since);
    return readStats(archive, { sinceMs, untilMs, by });
  },
});
