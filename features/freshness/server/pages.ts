import { z } from 'zod';
import { PAGE_LIMITS } from '../../../domain/limits';
import { parseQuery } from '../../../server/body';
import { createPageRow, type ReadPage, type PageSource } from '../../../server/pages/page';
import type { FreshnessReport } from '../domain/report';
import { FRESHNESS_STATES, renderFreshnessPage } from '../pages/freshness';

const freshnessPageQuery = z.object({
  owner: z.string().trim().max(PAGE_LIMITS.filter.max).default(''),
  state: z.enum(['', ...FRESHNESS_STATES]).default(''),
  from: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
});

/** The report lists every pipeline, and changes with deploys and days. */
const REPORT_SHARED_MS = 10_000;

const readShared = ({ looks, client }: PageSource): Promise<FreshnessReport> =>
  looks.read('freshness', () => client.freshness(), REPORT_SHARED_MS);

export const FRESHNESS_PAGE: ReadPage = createPageRow(
  { link: 'Freshness', paths: ['/freshness', '/freshness.json'] },
  (source) => ({
    read: async (c) => {
      const { from, ...filters } = parseQuery(c, freshnessPageQuery);
      const { owner, state } = filters;
      const report = await readShared(source);
      const fitting = report.pipelines.filter(
        (one) => (owner === '' || one.owners.includes(owner)) && (state === '' || one.state === state),
      );
      const pipelines = fitting.slice(from, from + PAGE_LIMITS.rows.max);
      return { report: { ...report, pipelines }, total: fitting.length, filters, from };
    },
    render: renderFreshnessPage,
    twin: () => readShared(source),
  }),
);
