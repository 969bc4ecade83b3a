import { Hono } from 'hono';
import { conveyorError } from '../../domain/errors';
import { STATS_MS } from '../../domain/stats/tallies';
import { readStats } from '../../platform/archive/stats';
import { parseQuery } from '../body';
import type { ServerDeps } from '../deps';
import { statsQuery } from '../statsSchemas';

/** `/v1/stats`, for readers. */
export function statsRoutes({ archive, now }: Pick<ServerDeps, 'archive' | 'now'>): Hono {
  const app = new Hono();
  app.get('/', async (c) => {
    if (archive === undefined)
      throw conveyorError('not-found', { what: 'archive: conveyor.config.yaml of the server has no archive section' });
    const { since, by } = parseQuery(c, statsQuery);
    const untilMs = now();
    const sinceMs = since === undefined ? untilMs - STATS_MS : Date.parse(since);
    return c.json(await readStats(archive, { sinceMs, untilMs, by }));
  });
  return app;
}
