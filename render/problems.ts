import type { Problem } from '../domain/spec/problem';
import { plural } from '../domain/text';
import { foldAll, paint, tint, type View } from './paint';

export interface CheckedFile {
  readonly file: string;
  readonly problems: readonly Problem[];
}

/** `file:line:column: error code: message`: editors and terminals turn the position into a link. */
export function renderProblems(files: readonly CheckedFile[], view: View): string {
  const colors = paint(view.color);
  const lines = files.flatMap(({ file, problems }) =>
    problems.length === 0
      ? [`${colors.green('✔')} ${file}`]
      : problems.flatMap((problem) => {
          const word = tint(colors, problem.severity === 'error' ? 'bad' : 'warn', problem.severity);
          const where = `${colors.bold(`${file}:${problem.line}:${problem.column}`)}: ${word} ${problem.code}`;
          const path = problem.path === '' ? '' : `${problem.path}: `;
          return [
            `${where}: ${path}${problem.message}`,
            ...(problem.hint === '' ? [] : [`    ${colors.dim(problem.hint)}`]),
          ];
        }),
  );
  const all = files.flatMap((one) => one.problems);
  const folded = foldAll(lines, view);
  if (all.length === 0) return folded.join('\n');
  const errors = all.filter((problem) => problem.severity === 'error').length;
  return [...folded, '', `${plural(errors, 'error')}, ${plural(all.length - errors, 'warning')}`].join('\n');
}

export const hasErrors = (files: readonly CheckedFile[]): boolean =>
  files.some((file) => file.problems.some((problem) => problem.severity === 'error'));
