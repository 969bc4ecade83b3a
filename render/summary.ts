import type { Classification, HistoryRow, ReleaseState } from '../domain/views';
import { plural } from '../domain/text';
import { table } from './columns';
import { foldAll, paint, tint, type View } from './paint';
import { clock } from './times';
import { RELEASE_SYMBOLS } from './words';

/** `history --summary -o json`: the ends of the releases that a pipeline remembers. */
export interface HistorySummary {
  readonly pipeline: string;
  /** The ended releases, on which `percent` is based. */
  readonly releases: number;
  readonly running: number;
  /** When the first of them started; null if there are none. */
  readonly since: string | null;
  readonly ends: readonly {
    readonly state: ReleaseState;
    /** `reverted` for a failure with a reverted deploy; null without more details. */
    readonly cause: string | null;
    readonly count: number;
    readonly percent: number;
  }[];
  /** How the deploys of these releases were classified (docs/design/deploy.md#ends). */
  readonly deploys: Readonly<Record<Classification, number>>;
  /** The progress of unsuccessful deploys, from 0 to 1, in order (Conveyor §6.4). */
  readonly failedAt: readonly number[];
}

/** Counts the ends of releases by state and cause, the most frequent first. */
export function summarizeHistory(pipeline: string, rows: readonly HistoryRow[]): HistorySummary {
  const ended = rows.filter(({ endedAt }) => endedAt !== null);
  const counts = new Map<string, { state: ReleaseState; cause: string | null; count: number }>();
  for (const row of ended) {
    const cause = findFailureCause(row);
    const key = `${row.state} ${cause ?? ''}`;
    counts.set(key, { state: row.state, cause, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const deploys = ended.flatMap((row) => row.deploys);
  const classified = (as: Classification) => deploys.filter(({ classification }) => classification === as).length;
  const starts = ended.map(({ startedAt }) => startedAt).sort();
  return {
    pipeline,
    releases: ended.length,
    running: rows.length - ended.length,
    since: starts[0] ?? null,
    ends: [...counts.values()]
      .sort((a, b) => b.count - a.count || a.state.localeCompare(b.state))
      .map((end) => ({ ...end, percent: Math.round((end.count / ended.length) * 1000) / 10 })),
    deploys: {
      success: classified('success'),
      'good-failure': classified('good-failure'),
      'bad-failure': classified('bad-failure'),
    },
    failedAt: deploys.flatMap(({ progress }) => progress ?? []).sort((a, b) => a - b),
  };
}

export function renderHistorySummary(summary: HistorySummary, view: View): string {
  const { pipeline, releases, running, since, ends } = summary;
  const colors = paint(view.color);
  const cells = ends.map(({ state, cause, count, percent }) => {
    const { glyph, tone } = RELEASE_SYMBOLS[state];
    return [tint(colors, tone, `${glyph} ${state}`), cause ?? '–', String(count), `${percent.toFixed(1)}%`];
  });
  const more = running === 0 ? '' : `; ${running} ${running === 1 ? 'has' : 'have'} not ended yet`;
  const from = since === null ? '' : `, the first of ${clock(since, view)}`;
  return [
    table(['STATE', 'CAUSE', 'RELEASES', 'SHARE'], cells, 'no release has ended yet', view),
    '',
    ...foldAll(
      [`${plural(releases, 'release')} of ${pipeline} that ended${from}${more}`, ...deploySummaryLines(summary)].map(
        (line) => colors.dim(line),
      ),
      view,
    ),
  ].join('\n');
}

function deploySummaryLines({ deploys, failedAt }: HistorySummary): string[] {
  const total = Object.values(deploys).reduce((sum, count) => sum + count, 0);
  if (total === 0) return [];
  const good = (deploys.success + deploys['good-failure']) / total;
  const failures = `${plural(deploys['good-failure'], 'good failure')}, ${plural(deploys['bad-failure'], 'bad failure')}`;
  const counted = `${plural(total, 'deploy')}: ${deploys.success} succeeded, ${failures}`;
  const percent = (share: number): string => `${Math.round(share * 100)}%`;
  return [
    `${counted}; ${(good * 100).toFixed(1)}% success or good failure`,
    ...(failedAt.length === 0 ? [] : [`failed after ${failedAt.map(percent).join(', ')} of the tasks`]),
  ];
}

function findFailureCause({ cause, deploys }: HistoryRow): string | null {
  if (cause !== null) return cause;
  return deploys.find(({ outcome }) => outcome !== 'succeeded')?.outcome ?? null;
}
