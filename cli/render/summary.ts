import type { HistoryRow, ReleaseState } from '../../domain/views';
import { plural } from '../../domain/text';
import { paint, table, tint, type View } from './paint';
import { clock, RELEASE_SIGNS } from './words';

/** `history --summary -o json`: how the releases ended that a pipeline remembers. */
export interface HistorySummary {
  readonly pipeline: string;
  /** Those that ended; `percent` is of them. */
  readonly releases: number;
  readonly running: number;
  /** When the first of them started; null without any. */
  readonly since: string | null;
  readonly ends: readonly {
    readonly state: ReleaseState;
    /** Of a failure `reverted` when a deploy was; null when there is no more to say. */
    readonly cause: string | null;
    readonly count: number;
    readonly percent: number;
  }[];
}

/** Counts the ends of releases by state and cause, the most frequent first. */
export function summaryOf(pipeline: string, rows: readonly HistoryRow[]): HistorySummary {
  const ended = rows.filter(({ endedAt }) => endedAt !== null);
  const counts = new Map<string, { state: ReleaseState; cause: string | null; count: number }>();
  for (const row of ended) {
    const cause = causeOf(row);
    const key = `${row.state} ${cause ?? ''}`;
    counts.set(key, { state: row.state, cause, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const starts = ended.map(({ startedAt }) => startedAt).sort();
  return {
    pipeline,
    releases: ended.length,
    running: rows.length - ended.length,
    since: starts[0] ?? null,
    ends: [...counts.values()]
      .sort((a, b) => b.count - a.count || a.state.localeCompare(b.state))
      .map((end) => ({ ...end, percent: Math.round((end.count / ended.length) * 1000) / 10 })),
  };
}

export function renderSummary({ pipeline, releases, running, since, ends }: HistorySummary, view: View): string {
  const colors = paint(view.color);
  const cells = ends.map(({ state, cause, count, percent }) => {
    const { glyph, tone } = RELEASE_SIGNS[state];
    return [tint(colors, tone, `${glyph} ${state}`), cause ?? '–', String(count), `${percent.toFixed(1)}%`];
  });
  const more = running === 0 ? '' : `; ${running} not over yet`;
  const from = since === null ? '' : `, the first of ${clock(since, view)}`;
  return [
    table(['STATE', 'CAUSE', 'RELEASES', 'SHARE'], cells, 'no release has ended yet', view),
    '',
    colors.dim(`${plural(releases, 'release')} of ${pipeline} that ended${from}${more}`),
  ].join('\n');
}

function causeOf({ cause, deploys }: HistoryRow): string | null {
  if (cause !== null) return cause;
  return deploys.find(({ outcome }) => outcome !== 'succeeded')?.outcome ?? null;
}
