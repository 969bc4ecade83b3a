import type { Problem } from '../../domain/spec/problem';
import { plural } from '../../domain/text';
import { paint, type View } from './paint';

/** `conveyor advise -o json`. */
export interface AdviceReport {
  readonly file: string;
  readonly category: string;
  /** Since when ends of that category are looked at; null where no archive could be asked. */
  readonly since: string | null;
  readonly advice: readonly Advice[];
}

export interface Advice extends Pick<Problem, 'line' | 'column' | 'path'> {
  /** Which recommendation it is: a kebab-case word. */
  readonly rule: string;
  readonly recommendation: string;
  readonly reason: string;
}

/** `file:line:column: rule: recommendation`, as lint has it, and why below. */
export function adviceText({ file, advice, category, since }: AdviceReport, view: View): string {
  const colors = paint(view.color);
  const lines = advice.flatMap(({ line, column, rule, path, recommendation, reason }) => [
    `${colors.bold(`${file}:${line}:${column}`)}: ${colors.yellow(rule)} ${path === '' ? '' : `${path}: `}${recommendation}`,
    `    ${colors.dim(reason)}`,
  ]);
  const about = since === null ? 'by the file alone' : `by the file, and by what ended in the category ${category}`;
  return [...lines, ...(lines.length === 0 ? [] : ['']), `${plural(advice.length, 'recommendation')} ${about}`].join(
    '\n',
  );
}
