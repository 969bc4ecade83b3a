import type { Context } from 'hono';
import { z } from 'zod';
import { PAGE_LIMITS } from '../../domain/limits';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { StatsReport } from '../../domain/stats/report';
import { formatTime } from '../../domain/text';
import { renderAuditPage } from '../../pages/audit';
import { renderStatsPage } from '../../pages/stats';
import { auditQuery } from '../auditSchemas';
import { parseQuery, parseWithSchema } from '../body';
import { readAuditPage } from '../routes/audit';
import { readStatsReport } from '../routes/stats';
import { statsQuery } from '../statsSchemas';
import { pageFilter } from './looks';
import { createPageRow, findReader, type PageSource } from './page';
import { sinceField, toSinceMs } from './since';

/** Statistics read the whole archive, so all readers of a minute share one report. */
const STATS_SHARED_MS = MINUTE_MS / 2;
const DEFAULT_PERIOD = '21d';

const statsPageQuery = statsQuery.extend({ since: sinceField, category: pageFilter });

const readStatsQuery = (c: Context) => {
  const { since, by, category } = parseQuery(c, statsPageQuery);
  return { since: since.trim() === '' ? DEFAULT_PERIOD : since.trim(), by, category };
};

/** @throws ConveyorError `invalid-request`; `not-found` without an archive */
function readSharedStats(source: PageSource, { since, by }: ReturnType<typeof readStatsQuery>): Promise<StatsReport> {
  toSinceMs(since, source.now());
  const read = async () => readStatsReport(source, { sinceMs: toSinceMs(since, source.now()), by });
  return source.looks.read(`stats ${by} ${since}`, read, STATS_SHARED_MS);
}

export const STATS_PAGE = createPageRow({ link: 'Statistics', paths: ['/stats', '/stats.json'] }, (source) => ({
  read: async (c) => {
    const filters = readStatsQuery(c);
    return { filters, report: source.archive === undefined ? null : await readSharedStats(source, filters) };
  },
  render: renderStatsPage,
  twin: async (c) => readSharedStats(source, readStatsQuery(c)),
}));

/** The form sends empty fields. */
const auditPageQuery = z.object({
  ...{ pipeline: z.string().trim().default(''), actor: z.string().trim().default('') },
  ...{ outcome: z.string().default(''), since: sinceField, before: z.string().default('') },
  limit: auditQuery.shape.limit.default(PAGE_LIMITS.rows.max),
});

export const AUDIT_PAGE = createPageRow({ link: 'Audit', paths: ['/audit', '/audit.json'] }, (source) => ({
  read: async (c) => {
    const { query, filters } = readAuditQuery(c, source);
    const caller = await findReader(c, source);
    const isLater = query.before !== undefined;
    if (source.audit === undefined) return { filters, records: null, next: null, isLater };
    const { records, next } = await readAuditPage(source, caller, query);
    return { filters, records, next: next === null ? null : `${next.changes},${next.refusals}`, isLater };
  },
  render: renderAuditPage,
  twin: async (c) => readAuditPage(source, await findReader(c, source), readAuditQuery(c, source).query),
}));

function readAuditQuery(c: Context, { now }: PageSource) {
  const { limit, since, ...words } = parseQuery(c, auditPageQuery);
  const { before: _, ...filters } = { ...words, since };
  const sinceMs = toSinceMs(since, now());
  const given = Object.entries({ ...words, since: sinceMs === undefined ? '' : formatTime(sinceMs) }).filter(
    ([, value]) => value !== '',
  );
  return { query: parseWithSchema({ ...Object.fromEntries(given), limit }, auditQuery), filters };
}
