import type { HistoryRow } from '../domain/views';
import { UNCATEGORISED } from '../domain/health/statistics';
import { ARCHIVE_LIMITS } from '../domain/limits';
import { OTHER_CATEGORIES, type Grouping, type Tallies } from '../domain/stats/tallies';
import type { Sql, SqlRow } from './database';
import type { StatsQuery } from './port';

/** Counts in the database, because a year has a million rows; only service levels are read row by row. */
export async function readTallies(sql: Sql, { sinceMs, untilMs, by }: StatsQuery, exists: boolean): Promise<Tallies> {
  const ask = async <T>(text: string): Promise<readonly T[]> =>
    exists ? ((await sql.all(`${ENDED[by]} ${text}`, [sinceMs, untilMs])).map(toPlainRow) as readonly T[]) : [];
  const [first] = exists ? await sql.all('select min(ended_ms)::double precision as first from conveyor_outcomes') : [];
  const histories = await ask<{ category: string; detail: string }>(
    `select own as category, detail from ended where kind = 'release' and detail is not null`,
  );
  return {
    firstMs: (first?.['first'] as number | null | undefined) ?? null,
    unread: await ask(`select own as category, ${COUNT} from ended where kind = 'unread' group by 1`),
    cadences: await ask(`select own as category, cadence, ${COUNT} from pipelines where released group by 1, 2`),
    sizes: await ask(`select own as category, parts as actions, ${COUNT} from pipelines where released group by 1, 2`),
    actionTypes: await ask(
      `select own as category, type, count(distinct pipeline)::double precision as count from ended where kind = 'action' and released group by 1, 2`,
    ),
    ...(await releaseTallies(ask)),
    ...(await deployTallies(ask)),
    histories: histories.map(({ category, detail }) => ({ category, row: JSON.parse(detail) as HistoryRow })),
  };
}

type TallyQuery = <T>(text: string) => Promise<readonly T[]>;

const COUNT = 'count(*)::double precision as count';

const releaseTallies = async (ask: TallyQuery) => ({
  releases: await ask<Tallies['releases'][number]>(
    `select own as category, state, cause, ${COUNT} from ended where kind = 'release' group by 1, 2, 3`,
  ),
  failures: await ask<Tallies['failures'][number]>(
    `select own as category, type, ${COUNT} from ended where kind = 'release' and state = 'failed' group by 1, 2`,
  ),
  bugs: await ask<Tallies['bugs'][number]>(
    `select name as bug, ${COUNT} from ended where kind = 'release' and cause = 'bad-package' and name is not null group by 1`,
  ),
  // An unended release has no row with its start.
  leads: await ask<Tallies['leads'][number]>(
    `select category, ${COUNT}, ${percentile(0.5, 'lead_ms')} as "p50Ms" from (select own as category, max(o.ended_ms) - min(r.started_ms) as lead_ms from ended o join conveyor_outcomes r on r.kind = 'release' and r.pipeline = o.pipeline and r.release = o.release where o.kind = 'deploy' and o.state = 'succeeded' group by own, o.pipeline, o.release) as leads group by 1`,
  ),
  restores: await ask<Tallies['restores'][number]>(
    `select own as category, ${COUNT}, ${percentile(0.5, 'coalesce(revert_ms, ended_ms - started_ms)')} as "p50Ms" from ended where (kind = 'deploy' and state = 'reverted') or (kind = 'release' and trigger = 'rollback' and state = 'succeeded') group by 1`,
  ),
});

const deployTallies = async (ask: TallyQuery) => ({
  checks: await ask<Tallies['checks'][number]>(
    `select own as category, type, ${COUNT} from ended where kind = 'check' group by 1, 2`,
  ),
  progress: await ask<Tallies['progress'][number]>(
    `select own as category, least(9, floor(progress * 10))::integer as tenth, ${COUNT} from ended where kind = 'deploy' and progress is not null group by 1, 2`,
  ),
  deploys: await ask<Tallies['deploys'][number]>(
    `select own as category, state, classification, ${COUNT} from ended where kind = 'deploy' group by 1, 2, 3`,
  ),
  blames: await ask<Tallies['blames'][number]>(
    `select own as category, cause as blame, ${COUNT} from ended where kind = 'deploy' and classification = 'bad-failure' group by 1, 2`,
  ),
  patterns: await ask<Tallies['patterns'][number]>(
    `select category, pattern, ${COUNT} from (select distinct on (pipeline, name) own as category, pattern from ended where kind = 'deploy' and pattern is not null order by pipeline, name, ended_ms desc) as last group by 1, 2`,
  ),
  spans: await ask<Tallies['spans'][number]>(
    `select own as category, ${['update', 'bake', 'pre', 'post'].map((span) => `coalesce(sum(${span}_ms), 0)::double precision as "${span}Ms"`).join(', ')} from ended where kind = 'deploy' group by 1`,
  ),
  times: await ask<Tallies['times'][number]>(
    `select own as category, ${COUNT}, ${percentile(0.5, 'ended_ms - started_ms')} as "p50Ms", ${percentile(0.99, 'ended_ms - started_ms')} as "p99Ms" from ended where kind = 'deploy' and state = 'succeeded' group by 1`,
  ),
});

/**
 * `pipelines`: the category and cadence of each pipeline, from its last release in the period, or else from its last one ever; a rollback, emergency
 * or follow-on counts only if there is no other release. `ended`: the runs that ended in the period, also of a pipeline without an ended release.
 */
const withEnded = (own: string, unknown: string): string => {
  const inTime = 'ended_ms >= $1 and ended_ms < $2';
  const last = `select distinct on (pipeline) pipeline, coalesce(category, '${UNCATEGORISED}') as own, cadence, parts, ${inTime} as released from conveyor_outcomes where kind = 'release' order by pipeline, released desc, (trigger in ('rollback', 'emergency', 'follow-on')), ended_ms desc`;
  const named = `select own from last group by own order by count(*) filter (where released) desc, own limit ${ARCHIVE_LIMITS.categories.max}`;
  const pipelines = `select pipeline, ${own} as own, cadence, parts, released from last`;
  const ended = `select o.*, coalesce(pipelines.own, '${unknown}') as own, coalesce(released, false) as released from conveyor_outcomes o left join pipelines using (pipeline) where ${inTime}`;
  return `with last as (${last}), named as (${named}), pipelines as (${pipelines}), ended as (${ended})`;
};

const ENDED: Readonly<Record<Grouping, string>> = {
  all: withEnded(`'all'`, 'all'),
  category: withEnded(
    `case when own in (select own from named) then own else '${OTHER_CATEGORIES}' end`,
    UNCATEGORISED,
  ),
};

/** In whole ms, so that all databases give the same result. */
const percentile = (share: number, of: string): string =>
  `floor((percentile_cont(${share}) within group (order by ${of}))::double precision + 0.5)`;

/** Counts that a driver gives as bigint. */
const toPlainRow = (row: SqlRow): SqlRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  );
