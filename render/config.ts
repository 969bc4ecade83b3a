import {
  findWhereabouts,
  whereaboutsText,
  type ChangeRelease,
  type Whereabouts,
} from '../configerator/domain/whereabouts';
import { plural } from '../domain/text';
import { formatBytes } from '../domain/size';
import { alignRows, type ListTexts } from './columns';
import { foldAll, paint, type View } from './paint';
import { clock } from './times';

interface ConfigProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

interface CompiledValues {
  readonly values: readonly { readonly path: string; readonly file: string; readonly text: string }[];
  readonly problems: readonly ConfigProblem[];
}

/** Values in the order of their paths, then the problems. */
export function renderCompiled({ values, problems }: CompiledValues, view: View): readonly string[] {
  const colors = paint(view.color);
  const rows = values.map(({ path, file, text }) => [
    `${colors.green('✔')} ${path}`,
    file,
    formatBytes(Buffer.byteLength(text)),
  ]);
  const wrong = problems.length === 0 ? '' : `, ${plural(problems.length, 'problem')}: none of it can be proposed`;
  const lines = [
    ...alignRows(rows),
    ...renderConfigProblems(problems, view),
    `${plural(values.length, 'value')}${wrong}`,
  ];
  return foldAll(lines, view);
}

export function renderConfigProblems(problems: readonly ConfigProblem[], view: View): readonly string[] {
  const colors = paint(view.color);
  const lines = problems.flatMap(({ code, message, hint }) => [
    `${colors.red('✗')} ${code}: ${message}`,
    `    ${colors.dim(hint)}`,
  ]);
  return foldAll(lines, view);
}

interface Why {
  readonly path: string;
  readonly files: readonly string[];
  readonly contributesTo: readonly string[];
}

export function renderWhy({ path, files, contributesTo }: Why): readonly string[] {
  const [own, ...others] = files;
  return [
    ...(own === undefined
      ? []
      : [`${path} is made by ${own}${others.length === 0 ? '' : ', from'}`, ...others.map((file) => `  ${file}`)]),
    ...(contributesTo.length === 0 ? [] : [`${path} contributes to`, ...contributesTo.map((value) => `  ${value}`)]),
  ];
}

interface Diff {
  readonly files: readonly string[];
  readonly deleted: readonly string[];
  readonly values: readonly { readonly path: string; readonly before: string | null; readonly after: string | null }[];
  readonly problems: readonly ConfigProblem[];
}

/** Each changed value, with its changed lines. */
export function renderDiff({ files, deleted, values, problems }: Diff, view: View): readonly string[] {
  if (files.length === 0 && values.length === 0 && problems.length === 0) return ['nothing changes'];
  const colors = paint(view.color);
  const shown = values.flatMap(({ path, before, after }) => {
    const [old, now] = [splitLines(before), splitLines(after)];
    const word = before === null ? 'new' : after === null ? 'gone' : 'changed';
    return [
      `${colors.bold(path)} ${word}`,
      ...old.filter((line) => !now.includes(line)).map((line) => colors.red(`  - ${line}`)),
      ...now.filter((line) => !old.includes(line)).map((line) => colors.green(`  + ${line}`)),
    ];
  });
  return [
    ...foldAll(shown, view),
    ...renderDeleted(deleted, view),
    ...renderConfigProblems(problems, view),
    `${plural(files.length, 'file')} and ${plural(values.length, 'value')} change`,
  ];
}

/** Lines that must not be overlooked; all other edits look alike. */
export function renderDeleted(files: readonly string[], view: View): readonly string[] {
  if (files.length === 0) return [];
  const colors = paint(view.color);
  const lines = [
    colors.red(`deletes ${plural(files.length, 'file')}:`),
    ...files.map((file) => colors.red(`  - ${file}`)),
  ];
  return foldAll(lines, view);
}

const splitLines = (text: string | null): readonly string[] => (text === null ? [] : text.trimEnd().split('\n'));

/** A change with its state, for a terminal and for a page. */
export type LocatedChange = Whereabouts & ChangeFacts;

interface ChangeFacts {
  readonly change: number;
  readonly commit: string;
  readonly author: string;
  readonly at: string;
  readonly message: string;
  readonly landed: string | null;
}

/** Each change with the release that has it. */
export const locateChanges = (
  changes: readonly ChangeFacts[],
  releases: readonly ChangeRelease[],
): readonly LocatedChange[] => changes.map((one) => ({ ...one, ...findWhereabouts(one, releases) }));

export function configChangeTexts(changes: readonly LocatedChange[], view: View): ListTexts {
  const colors = paint(view.color);
  return {
    heading: ['CHANGE', 'STATE', 'AUTHOR', 'AT', 'MESSAGE'],
    rows: changes.map(({ change, author, at, message, landed, ...is }) => [
      String(change),
      landed === null ? whereaboutsText(is) : colors.green(`landed ${landed.slice(0, 12)}`),
      author,
      clock(at, view),
      message.split(' ⏎ ')[0] ?? '',
    ]),
    empty: 'no change has been proposed yet',
  };
}

export const renderChanges = (changes: readonly LocatedChange[], view: View): readonly string[] =>
  foldRows(configChangeTexts(changes, view), view);

export interface LandedCommit {
  readonly commit: string;
  readonly author: string;
  readonly at: string;
  readonly subject: string;
  readonly change: number | null;
}

export function commitTexts(commits: readonly LandedCommit[], view: View): ListTexts {
  const colors = paint(view.color);
  return {
    heading: ['COMMIT', 'BY', 'AUTHOR', 'AT', 'SUBJECT'],
    rows: commits.map(({ commit, author, at, subject, change }) => [
      colors.yellow(commit.slice(0, 12)),
      change === null ? 'pushed' : `change ${change}`,
      author,
      clock(at, view),
      subject,
    ]),
    empty: 'nothing has landed yet',
  };
}

export const renderLog = (commits: readonly LandedCommit[], view: View): readonly string[] =>
  foldRows(commitTexts(commits, view), view);

/** Rows without a heading. */
const foldRows = ({ rows, empty }: ListTexts, view: View): readonly string[] =>
  rows.length === 0 ? [empty] : foldAll(alignRows(rows), view);
