import type { Problem } from '../../domain/spec/problem';
import { plural } from '../../domain/text';
import { paint, type View } from './paint';

/** `conveyor advise -o json`. */
export interface AdviceReport {
  readonly pipeline: string;
  /** Null where it was asked for by its name. */
  readonly file: string | null;
  readonly category: string;
  /** Since when ends of that category are looked at; null where no archive could be asked. */
  readonly since: string | null;
  readonly advice: readonly Advice[];
}

export interface Advice extends Pick<Problem, 'path'> {
  /** Null without a file. */
  readonly line: number | null;
  readonly column: number | null;
  /** Which recommendation it is: a kebab-case word. */
  readonly rule: string;
  readonly recommendation: string;
  readonly reason: string;
}

/** `file:line:column: rule: recommendation`, as lint has it, and why below. */
export function adviceText({ pipeline, file, advice, category, since }: AdviceReport, view: View): string {
  const colors = paint(view.color);
  const lines = advice.flatMap(({ line, column, rule, path, recommendation, reason }) => [
    `${colors.bold(file === null ? pipeline : `${file}:${line}:${column}`)}: ${colors.yellow(rule)} ${path === '' ? '' : `${path}: `}${recommendation}`,
    `    ${colors.dim(reason)}`,
  ]);
  const by = file === null ? 'by its spec' : 'by the file';
  const about = since === null ? `${by} alone` : `${by}, and by what ended in the category ${category}`;
  return [...lines, ...(lines.length === 0 ? [] : ['']), `${plural(advice.length, 'recommendation')} ${about}`].join(
    '\n',
  );
}
