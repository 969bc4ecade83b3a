import { groupBy } from '../domain/groupBy';
import { REQUEST_LIMITS } from '../domain/limits';
import { formatDuration, plural } from '../domain/text';
import type { WhereDeploy, WhereRelease, WhereSearched, WhereStage, WhereView } from '../domain/where/view';
import { LEAST_DIGITS } from '../domain/where/words';
import { listTable, table } from './columns';
import { foldAll, paint, tint, type Colors, type View } from './paint';
import { ago, clock, until, untilWords } from './times';
import { percent, RELEASE_SYMBOLS, UNDONE_SYMBOL, PAUSED_SYMBOL, type StatusSymbol } from './words';

export const STAGE_SYMBOLS: Readonly<Record<WhereStage, StatusSymbol>> = {
  building: RELEASE_SYMBOLS.running,
  testing: RELEASE_SYMBOLS.running,
  waiting: RELEASE_SYMBOLS.queued,
  deploying: RELEASE_SYMBOLS.running,
  paused: PAUSED_SYMBOL,
  reverting: UNDONE_SYMBOL,
  running: RELEASE_SYMBOLS.running,
  everywhere: RELEASE_SYMBOLS.succeeded,
  replaced: RELEASE_SYMBOLS.succeeded,
  succeeded: RELEASE_SYMBOLS.succeeded,
  undone: UNDONE_SYMBOL,
  reverted: UNDONE_SYMBOL,
  superseded: RELEASE_SYMBOLS.cancelled,
  cancelled: RELEASE_SYMBOLS.cancelled,
  failed: RELEASE_SYMBOLS.failed,
};

/** `conveyor where`: the releases that contain a revision, and the way of each into production. */
export function whereText(found: WhereView, view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  if (found.candidates.length > 0) return candidateText(found, view);
  if (found.releases.length === 0)
    return foldAll(
      [`No release contains ${found.asked}.`, ...whereSearchedLines(found, view).map(colors.dim)],
      view,
    ).join('\n');
  const heading = ['RELEASE', 'STATE', 'SHARE', 'EVERYWHERE', 'CONTAINS', 'STARTED', ...(wide ? ['NEXT'] : [])];
  const cells = found.releases.map((row) => [
    colors.bold(row.id),
    whereStageText(row, colors),
    whereShareText(row),
    whereEndText(row, view),
    whereContainsText(row),
    ago(row.startedAt, view),
    ...(wide ? [row.next] : []),
  ]);
  const below = [
    ...found.releases.flatMap((row) => whereWaitLines(row, view, colors)),
    ...whereMoreLines(found),
    ...nextLines(found, colors),
  ];
  return [
    ...foldAll([whereHeadline(found, colors)], view),
    listTable({ heading, rows: cells, empty: '', wide, below }, view),
    ...foldAll(whereGapLines(found.searched).map(colors.dim), view),
  ].join('\n');
}

function candidateText({ asked, candidates, total }: WhereView, view: View): string {
  const rows = candidates.map(({ revision, release }) => [revision, release]);
  return [
    ...foldAll(
      [`${asked} may mean several revisions, in ${plural(total, 'release')}; ask for one of them with more digits:`],
      view,
    ),
    table(['REVISION', 'NEWEST RELEASE'], rows, '', view),
  ].join('\n');
}

export function whereHeadline({ asked, revision, total, underWay, succeeded }: WhereView, colors: Colors): string {
  const ended = total - underWay - succeeded;
  const parts = [
    ...(underWay > 0 ? [`${underWay} under way`] : []),
    ...(succeeded > 0 ? [`${succeeded} succeeded`] : []),
    ...(ended > 0 ? [`${ended} ended otherwise`] : []),
  ];
  return `${colors.bold(revision ?? asked)} is in ${plural(total, 'release')}: ${parts.join(', ')}`;
}

/** `◌ deploying, phase half (2 of 5)`. */
export function whereStageText(row: WhereRelease, colors: Colors): string {
  const { glyph, tone } = STAGE_SYMBOLS[row.stage];
  const phase = row.deploys.find((deploy) => deploy.phase !== null)?.phase;
  return [
    tint(colors, tone, `${glyph} ${row.stage}`),
    ...(phase ? [`phase ${phase.n} of ${phase.of}`] : []),
    ...(row.by === null ? [] : [`${BY_WORDS[row.stage] ?? ''}${row.by.replace(`${row.pipeline}/`, '#')}`]),
    ...(row.knownBad.length > 0 ? [colors.red('known-bad')] : []),
    ...(row.problem === undefined ? [] : [colors.yellow('last known')]),
  ].join(', ');
}

const BY_WORDS: Readonly<Partial<Record<WhereStage, string>>> = {
  replaced: 'by ',
  superseded: 'by ',
  undone: 'by ',
  everywhere: 'being undone by ',
  succeeded: 'being undone by ',
};

export function whereShareText({ share, deploys }: WhereRelease): string {
  if (share !== null) return percent(share);
  return (
    deploys
      .filter(isShareKnown)
      .map((deploy) => `${deploy.action} ${percent(deploy.share ?? 0)}`)
      .join(', ') || '–'
  );
}

const isShareKnown = ({ share }: WhereDeploy): boolean => share !== null;

/** When it will be everywhere if all goes well. */
export const whereEndText = ({ everywhereAt, stage }: WhereRelease, view: View): string =>
  everywhereAt === null ? (stage === 'everywhere' ? 'now' : '–') : until(everywhereAt, view);

export const whereContainsText = ({ contains }: WhereRelease): string =>
  contains.by === 'ancestor' ? `${contains.artifact}, which is newer` : contains.artifact;

export function whereWaitLines(
  { id, wait, everywhereAt, problem }: WhereRelease,
  view: View,
  colors: Colors,
): string[] {
  const end = everywhereAt === null ? [] : [`everywhere at ${clock(everywhereAt, view)} if all goes well`];
  const held = wait === null ? [] : [`${wait.why}${wait.until === null ? '' : `, ${untilWords(wait.until, view)}`}`];
  const lines = [...held, ...end];
  return [
    ...(lines.length === 0 ? [] : [`${colors.bold(id)}  ${lines.join('; ')}`]),
    ...(problem === undefined ? [] : [colors.yellow(`⚠ ${id}: ${problem}`)]),
  ];
}

/** A server lists no more than so many at once. */
const whereMoreLines = ({ total, releases }: WhereView): string[] =>
  total > releases.length
    ? [`${plural(total - releases.length, 'release')} more: --limit ${Math.min(total, REQUEST_LIMITS.rows.max)}`]
    : [];

const nextLines = (found: WhereView, colors: Colors): string[] => [
  colors.bold('Next'),
  ...nextWhereCommands(found).map((command) => `  ${colors.cyan(command)}`),
];

/** The next command of the newest release of each pipeline; of a few only. */
export function nextWhereCommands({ releases }: Pick<WhereView, 'releases'>): readonly string[] {
  const newest = groupBy(releases, ({ pipeline }) => pipeline).flatMap(([, [first]]) => (first ? [first] : []));
  return [...new Set(newest.slice(0, NEXT_SHOWN).map(({ next }) => next))];
}

const NEXT_SHOWN = 3;

/** The places that were searched, for an answer that finds nothing. */
export function whereSearchedLines({ asked, searched }: WhereView, view: View): string[] {
  const { retentionMs, repositories, archive } = searched;
  const ended = retentionMs === null ? 'all that have ended' : `those that ended within ${formatDuration(retentionMs)}`;
  const names = repositories.filter(({ problem }) => problem === null).map(({ name }) => name);
  const since = retentionMs === null ? '' : ` (since ${clock(new Date(view.now - retentionMs).toISOString(), view)})`;
  return [
    `Searched: releases under way, and ${ended}${since}${archive?.problem === null ? ', and the archive for older ones' : ''}.`,
    'Not searched: releases that wait in the queue of their pipeline.',
    ...(names.length > 0 ? [`Also searched: newer revisions that contain it, in ${names.join(', ')}.`] : []),
    ...(SHORT_HEX.test(asked) ? [`A commit needs ${LEAST_DIGITS} digits or more.`] : []),
    ...whereGapLines(searched),
  ];
}

const SHORT_HEX = /^[0-9a-f]{1,6}$/i;

/** The parts that could not be seen. */
export function whereGapLines({ older, repositories, archive }: WhereSearched): string[] {
  const silent = repositories.filter(({ problem }) => problem !== null);
  return [
    ...(older !== null && older.count > older.read
      ? [
          `${plural(older.count, 'release')} began before their revisions were listed; the newest ${older.read} of them were read.`,
        ]
      : []),
    ...silent.map(({ name, problem }) => `The repository ${name} was not asked for newer revisions: ${problem ?? ''}`),
    ...(archive?.problem == null ? [] : [`The archive was not searched: ${archive.problem}`]),
  ];
}
