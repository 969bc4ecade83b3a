import { describeNamedOnly } from '../../../domain/release/bugNotice';
import { isInForce, revisionWords, type Bug, type BugHit, type BugSearch } from '../domain/bug';
import { conjugate, plural } from '../../../domain/text';
import { listTable, type ListTexts } from '../../../render/columns';
import { foldAll, paint, type View } from '../../../render/paint';
import { ago } from '../../../render/times';

/** `bugs list`; `wide` cuts no cell. */
export const bugTable = (rows: readonly Bug[], view: View, wide: boolean = false): string =>
  listTable({ ...bugTexts(rows, view), wide }, view);

export function bugTexts(rows: readonly Bug[], view: View): ListTexts {
  const colors = paint(view.color);
  const cells = rows.map((bug) => [
    colors.bold(bug.id),
    describeBugState(bug),
    bug.target,
    formatBugRevisions(bug),
    describeSearch(bug),
    ago(bug.at, view),
    bug.reason,
  ]);
  const heading = ['BUG', 'STATE', 'TARGET', 'REVISIONS', 'FOUND', 'REPORTED', 'REASON'];
  return { heading, rows: cells, empty: 'no bugs' };
}

/** `bugs show`. */
export const bugText = (bug: Bug, view: View): string => foldAll(bugLines(bug, view), view).join('\n');

export function bugLines(bug: Bug, view: View): readonly string[] {
  const colors = paint(view.color);
  const { closed, search } = bug;
  const ended = closed === null ? [] : [`  closed by ${closed.by} ${ago(closed.at, view)}: ${closed.reason}`];
  const found =
    search === null
      ? ['  searching for the releases that contain it']
      : search.problem === null
        ? [
            ...hitLines(releaseHits(search.affected), search.affected, search.releases),
            ...hitLines(pipelineHits(search.exposed), search.exposed, search.deployed),
            ...unreadLines(search.unread),
            ...formatNamedOnly(search.namedOnly),
          ]
        : [`  ${colors.red('cannot determine which releases contain it')}: ${search.problem}`];
  return [
    `${colors.bold(bug.id)} ${describeBugState(bug)}: ${bug.target}, ${formatBugRevisions(bug)}: ${bug.reason}`,
    `  reported by ${bug.reportedBy} ${ago(bug.at, view)}`,
    ...ended,
    ...(bug.advisory?.unheld ?? []).map((why) => `  ${colors.yellow('not searched for')}: ${why}`),
    ...found,
  ];
}

const unreadLines = (unread: BugSearch['unread']): string[] =>
  unread === undefined
    ? []
    : [`  unreadable: ${plural(unread.count, 'SBOM')}, each of which may contain it: ${unread.why}`];

const formatNamedOnly = (count: BugSearch['namedOnly']): string[] =>
  count === undefined ? [] : [`  ${describeNamedOnly(count)}`];

export const describeBugState = (bug: Bug): string =>
  bug.closed === null ? 'open' : isInForce(bug) ? 'fixed' : 'none';

const formatBugRevisions = (bug: Bug): string =>
  bug.advisory === undefined ? `${bug.from} to ${bug.to ?? 'now'}` : revisionWords(bug);

function describeSearch({ search }: Bug): string {
  if (search === null) return 'searching';
  if (search.problem !== null) return 'unknown';
  return `${plural(search.affected, 'release')}, ${search.exposed} deployed`;
}

/** A search concerns the releases that ran when the bug was reported; most of them are cancelled by the time a person reads this. */
const releaseHits = (count: number): string => {
  const found = `${plural(count, 'release')} that ${count === 1 ? 'was' : 'were'} under way ${conjugate(count, 'contain')} it`;
  return count === 0 ? found : `${found}: cancelled unless deploying`;
};
const pipelineHits = (count: number): string => `${plural(count, 'pipeline')} ${conjugate(count, 'run')} it`;

const hitLines = (what: string, count: number, shown: readonly BugHit[]): string[] => [
  `  ${what}`,
  ...shown.map(
    ({ release, owners, artifact, path }) => `    ${release} (${owners.join(', ')}): ${artifact} by ${path}`,
  ),
  ...(count > shown.length ? [`    and ${count - shown.length} more`] : []),
];
