import type { HistoryRow } from '../../domain/views';
import type { Tallies } from '../../domain/stats/tallies';
import type { Sql, SqlRow } from './database';
import type { StatsQuery } from './port';

/** Counts in the database, where a year is a million rows; only what deployed comes out row by row. */
export async function readTallies(sql: Sql, { sinceMs, untilMs, by }: StatsQuery, exists: boolean): Promise<Tallies> {
  const params = [sinceMs, untilMs] as const;
  const grouped = by === 'all' ? `'all'` : 'category';
  const ask = async <T>(text: string): Promise<readonly T[]> =>
    exists ? ((await sql.all(`${pipelines(grouped)} ${text}`, params)).map(plain) as readonly T[]) : [];
  const count = 'count(*)::double precision as count';
  const from = (kind: string) =>
    `from conveyor_outcomes join pipelines using (pipeline) where kind = '${kind}' and ended_ms >= $1 and ended_ms < $2`;
  const histories = await ask<{ category: string; detail: string }>(
    `select pipelines.category as category, detail ${from('release')} and detail is not null`,
  );
  return {
    cadences: await ask(`select category, cadence, ${count} from pipelines group by 1, 2`),
    sizes: await ask(`select category, parts as actions, ${count} from pipelines group by 1, 2`),
    actionTypes: await ask(
      `select pipelines.category as category, type, count(distinct pipeline)::double precision as count ${from('action')} group by 1, 2`,
    ),
    releases: await ask(
      `select pipelines.category as category, state, cause, ${count} ${from('release')} group by 1, 2, 3`,
    ),
    failures: await ask(
      `select pipelines.category as category, type, ${count} ${from('release')} and state = 'failed' group by 1, 2`,
    ),
    checks: await ask(`select pipelines.category as category, type, ${count} ${from('check')} group by 1, 2`),
    progress: await ask(
      `select pipelines.category as category, least(9, floor(progress * 10))::integer as tenth, ${count} ${from('deploy')} and progress is not null group by 1, 2`,
    ),
    deploys: await ask(
      `select pipelines.category as category, state, classification, ${count} ${from('deploy')} group by 1, 2, 3`,
    ),
    blames: await ask(
      `select pipelines.category as category, cause as blame, ${count} ${from('deploy')} and classification = 'bad-failure' group by 1, 2`,
    ),
    patterns: await ask(
      `select category, pattern, ${count} from (select distinct on (pipeline, name) pipelines.category as category, pattern ${from('deploy')} and pattern is not null order by pipeline, name, ended_ms desc) as last group by 1, 2`,
    ),
    bugs: await ask(
      `select name as bug, ${count} ${from('release')} and cause = 'bad-package' and name is not null group by 1`,
    ),
    spans: await ask(
      `select pipelines.category as category, ${['update', 'bake', 'pre', 'post'].map((span) => `coalesce(sum(${span}_ms), 0)::double precision as "${span}Ms"`).join(', ')} ${from('deploy')} group by 1`,
    ),
    times: await ask(
      `select pipelines.category as category, ${count}, ${percentile(0.5, 'ended_ms - started_ms')} as "p50Ms", ${percentile(0.99, 'ended_ms - started_ms')} as "p99Ms" ${from('deploy')} and state = 'succeeded' group by 1`,
    ),
    leads: await ask(
      `select category, ${count}, ${percentile(0.5, 'lead_ms')} as "p50Ms" from (select pipelines.category as category, max(o.ended_ms) - min(r.started_ms) as lead_ms from conveyor_outcomes o join conveyor_outcomes r on r.kind = 'release' and r.pipeline = o.pipeline and r.release = o.release join pipelines on pipelines.pipeline = o.pipeline where o.kind = 'deploy' and o.state = 'succeeded' and o.ended_ms >= $1 and o.ended_ms < $2 group by pipelines.category, o.pipeline, o.release) as leads group by 1`,
    ),
    restores: await ask(
      `select pipelines.category as category, ${count}, ${percentile(0.5, 'coalesce(revert_ms, ended_ms - started_ms)')} as "p50Ms" from conveyor_outcomes join pipelines using (pipeline) where ended_ms >= $1 and ended_ms < $2 and ((kind = 'deploy' and state = 'reverted') or (kind = 'release' and trigger = 'rollback' and state = 'succeeded')) group by 1`,
    ),
    histories: histories.map(({ category, detail }) => ({ category, row: JSON.parse(detail) as HistoryRow })),
  };
}

/** Each pipeline as its last release knew it; one of its own spec, where there was any. */
const pipelines = (grouped: string): string =>
  `with pipelines as (select distinct on (pipeline) pipeline, ${grouped} as category, cadence, parts from conveyor_outcomes where kind = 'release' and ended_ms >= $1 and ended_ms < $2 order by pipeline, (trigger in ('rollback', 'emergency', 'follow-on')), ended_ms desc)`;

/** In whole ms, so that all databases say the same. */
const percentile = (share: number, of: string): string =>
  `floor((percentile_cont(${share}) within group (order by ${of}))::double precision + 0.5)`;

/** Counts that a driver gives as bigint. */
const plain = (row: SqlRow): SqlRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  );
