import type { Problem } from '../domain/spec/problem';
import { plural } from '../domain/text';
import { paint, type View } from './paint';

/** `conveyor advise -o json`. */
export interface AdviceReport {
  readonly pipeline: string;
  /** Null if the advice was requested by the name of the pipeline. */
  readonly file: string | null;
  readonly category: string;
  /** The beginning of the examined period; null if no archive could be read. */
  readonly since: string | null;
  readonly advice: readonly Advice[];
}

export interface Advice extends Pick<Problem, 'path'> {
  /** Null without a file. */
  readonly line: number | null;
  readonly column: number | null;
  /** The kind of recommendation: a kebab-case word. */
  readonly rule: string;
  readonly recommendation: string;
  readonly reason: string;
}

/** `file:line:column: rule: recommendation`, as lint prints it, with the reason below. */
export function adviceText({ pipeline, file, advice, category, since }: AdviceReport, view: View): string {
  const colors = paint(view.color);
  const lines = advice.flatMap(({ line, column, rule, path, recommendation, reason }) => [
    `${colors.bold(file === null ? pipeline : `${file}:${line}:${column}`)}: ${colors.yellow(rule)} ${path === '' ? '' : `${path}: `}${recommendation}`,
    `    ${colors.dim(reason)}`,
  ]);
  const by = file === null ? 'by its spec' : 'by the file';
  const about = since === null ? `${by} alone` : `${by} and the releases that ended in the category ${category}`;
  return [...lines, ...(lines.length === 0 ? [] : ['']), `${plural(advice.length, 'recommendation')} ${about}`].join(
    '\n',
  );
}
