import { z } from 'zod';
import { PAGE_LIMITS } from '../../../domain/limits';
import { parseQuery } from '../../../server/body';
import { describeKept } from '../../../server/pages/looks';
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

const shareReport = ({ client }: PageSource) =>
  ['freshness', (): Promise<FreshnessReport> => client.freshness(), REPORT_SHARED_MS] as const;

export const FRESHNESS_PAGE: ReadPage = createPageRow(
  { link: 'Freshness', paths: ['/freshness', '/freshness.json'] },
  (source) => ({
    read: async (c) => {
      const { from, ...filters } = parseQuery(c, freshnessPageQuery);
      const { owner, state } = filters;
      const { answer: report, ...age } = await source.looks.readKept(...shareReport(source));
      const fitting = report.pipelines.filter(
        (one) => (owner === '' || one.owners.includes(owner)) && (state === '' || one.state === state),
      );
      const pipelines = fitting.slice(from, from + PAGE_LIMITS.rows.max);
      return { report: { ...report, pipelines }, total: fitting.length, filters, from, kept: describeKept(age) };
    },
    render: renderFreshnessPage,
    twin: () => source.looks.read(...shareReport(source)),
  }),
);
