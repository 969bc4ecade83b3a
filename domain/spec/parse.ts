import { LineCounter, parseDocument, type Document, type YAMLError } from 'yaml';
import { excessText, over } from '../excess';
import { SPEC_LIMITS } from '../limits';
import { plural } from '../text';
import type { Excess } from '../unfit';
import { withCalendars, type CalendarReader } from './calendars';
import { expandActions, type Expansion } from './expand/expand';
import { explainIssues, listKnownKeys } from './explain';
import { lintPipeline } from './lint';
import { measureExpansion } from './expansionSize';
import { locate, toPosition, type Position } from './locate';
import { withOrder } from './order';
import { pipelineSchema, type PipelineSpec } from './pipeline';
import { errorAt, formatPath, type Finding, type Problem } from './problem';
import { lintWithoutInvalidValues } from './rest';
import { rewrittenNumbers } from './rewritten';

export type { Problem } from './problem';

/** A pipeline file in the form that Conveyor runs, with all errors and warnings; `spec` is null if there is an error. */
export interface ParsedPipeline {
  readonly spec: PipelineSpec | null;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
}

/** Findings in a pipeline that the schema accepts. */
export type PipelineRules = (spec: PipelineSpec) => readonly Finding[];

/**
 * Reads the text of a pipeline file. `calendars` reads the calendar files that it names, and `rules` are those of lint or others. It never
 * throws: every mistake is a problem, and all of them are reported at once.
 */
export function parsePipeline(
  text: string,
  calendars?: CalendarReader,
  rules: PipelineRules = lintPipeline,
): ParsedPipeline {
  const large = over(SPEC_LIMITS.file, text.length);
  if (large) return result(null, [tooLarge(large)]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false });
  const faults = [...document.errors, ...document.warnings].map((error) => syntaxProblem(error, lines));
  // The parser may run out of its stack at several places of one nest.
  const deep = faults.find(({ message }) => message === TOO_DEEP);
  const syntax = deep ? [deep] : faults;
  const { values, dangling: unknown, repeated } = measureExpansion(document);
  const excess = over(SPEC_LIMITS.fileValues, values);
  if (excess) return result(null, [tooLarge(excess)]);
  const twice = repeated.slice(0, MAX_SHOWN).map((offset): Problem => {
    const [message, hint] = ['this key is written twice', 'write each key once'];
    return { severity: 'error', code: 'duplicate-key', ...toPosition(lines, offset), path: '', message, hint };
  });
  const dangling = unknown.map(({ name, offset }): Problem => {
    const message = `*${name} refers to no anchor that ends above it`;
    const hint = `write &${name} where it is defined, before it is used`;
    return { severity: 'error', code: 'unknown-anchor', ...toPosition(lines, offset), path: '', message, hint };
  });
  const unreadable = document.errors.length + dangling.length > 0;
  if (unreadable) return result(null, [...syntax, ...dangling, ...twice]);
  const value = toValue(document);
  if (!value.ok) return result(null, [...syntax, problem(errorAt([], 'syntax', value.why, SYNTAX_HINT), TOP_OF_FILE)]);
  const { spec, findings } = check(value.value, calendars, rules);
  const { shown, more } = worthReading(findings, { line: lines.lineStarts.length, column: 1 });
  const placed = shown.map((finding) => problem(finding, locate(document, lines, finding)));
  return result(spec, [...syntax, ...twice, ...placed, ...more, ...rewritten(document, lines)]);
}

/** Like `parsePipeline`, for the export of a TypeScript file. There is no text with places, so every problem is at 1:1. */
export function parsePipelineValue(
  value: unknown,
  calendars?: CalendarReader,
  rules: PipelineRules = lintPipeline,
): ParsedPipeline {
  const { spec, findings } = check(value, calendars, rules);
  const { shown, more } = worthReading(findings, TOP_OF_FILE);
  return result(spec, [...shown.map((finding) => problem(finding, TOP_OF_FILE)), ...more]);
}

/** The number of problems that a person reads; a file may have one for each of its keys. */
const MAX_SHOWN = 100;

/** Errors first; if there are too many problems, the rest is only counted. */
function worthReading(
  findings: readonly Finding[],
  end: Position,
): { shown: readonly Finding[]; more: readonly Problem[] } {
  if (findings.length <= MAX_SHOWN) return { shown: findings, more: [] };
  const isError = ({ severity }: Finding): boolean => severity === 'error';
  const sorted = [...findings.filter(isError), ...findings.filter((finding) => !isError(finding))];
  const [shown, rest] = [sorted.slice(0, MAX_SHOWN), sorted.slice(MAX_SHOWN)];
  const severity = rest.some(isError) ? 'error' : 'warning';
  const message = `${plural(rest.length, 'more problem')} of this file not shown`;
  const hint = 'mend these first, then lint it again';
  return { shown, more: [{ severity, code: 'more-problems', ...end, path: '', message, hint }] };
}

const tooLarge = (excess: Excess): Problem =>
  problem(errorAt([], 'too-large', excessText(excess), SIZE_HINT), TOP_OF_FILE);

const SIZE_HINT = 'docs/reference/limits.md has all limits; templates and matrices repeat actions';

interface SpecCheckResult {
  readonly spec: PipelineSpec | null;
  readonly findings: readonly Finding[];
}

function check(value: unknown, calendars: CalendarReader | undefined, rules: PipelineRules): SpecCheckResult {
  if (value === null || value === undefined) {
    const hint = 'conveyor init writes a first pipeline.yaml';
    return { spec: null, findings: [errorAt([], 'empty-file', 'the file describes no pipeline', hint)] };
  }
  const expansion = expandActions(value);
  const dated = withCalendars(expansion.value, calendars);
  const { spec, findings } = checkExpanded(dated.value, expansion, rules);
  const made = [...dated.findings, ...findings.map(dated.placed)];
  return { spec, findings: [...expansion.findings, ...placeFindings(made, expansion.originOf)] };
}

function checkExpanded(value: unknown, { isWhole }: Expansion, rules: PipelineRules): SpecCheckResult {
  const parsed = pipelineSchema.safeParse(value, { error: listKnownKeys });
  if (parsed.success) {
    const spec = withOrder(parsed.data, value);
    return { spec, findings: isWhole ? rules(spec) : [] };
  }
  const findings = explainIssues(parsed.error.issues, value);
  return { spec: null, findings: [...findings, ...(isWhole ? lintWithoutInvalidValues(value, findings) : [])] };
}

/**
 * Adds the place of each finding. A mistake that is written once is reported once, even if many actions are generated
 * from it.
 */
function placeFindings(findings: readonly Finding[], originOf: Expansion['originOf']): Finding[] {
  const seen = new Set<string>();
  return findings.flatMap((finding) => {
    const path = originOf(finding.path);
    const at = formatPath(path);
    if (at === formatPath(finding.path)) return [finding];
    const key = `${finding.code} ${at}`;
    return seen.has(key) || !seen.add(key) ? [] : [{ ...finding, path }];
  });
}

/** Anchors are allowed, but must not turn a small file into a huge one. */
const MAX_ALIASES = 1000;

function toValue(document: Document): { ok: true; value: unknown } | { ok: false; why: string } {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    return { ok: false, why: inWords(error instanceof Error ? error.message : String(error)) };
  }
}

const rewritten = (document: Document, lines: LineCounter): Problem[] =>
  rewrittenNumbers(document).map(({ source, value, path, offset }) => {
    const message = `${source} is the number ${value}, and that is what is handed on`;
    const hint = `write '${source}' where it is meant as it stands, as versions are, else ${value}`;
    return { severity: 'warning', code: 'number-rewritten', ...toPosition(lines, offset), path, message, hint };
  });

const TOO_DEEP = 'nested too deep';

/** The parser and the checks recurse at each level of nesting. */
const inWords = (message: string, before = ''): string =>
  message.startsWith('Maximum call stack') ? TOO_DEEP : `${before}${message}`;

const TOP_OF_FILE = { line: 1, column: 1 };

const problem = (finding: Finding, position: { line: number; column: number }): Problem => {
  const { severity, code, path, message, hint } = finding;
  return { severity, code, ...position, path: formatPath(path), message, hint };
};

const SYNTAX_MESSAGES: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here',
};

const SYNTAX_HINT = 'quote text that contains any of : { } [ ] , & * # ? | - < > = ! % @ `';
const SYNTAX_HINTS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_INDENT: 'indent entries of one mapping or list equally',
  MULTIPLE_DOCS: 'one pipeline a file: remove the line ---',
  MISSING_CHAR: 'something that was opened is not closed',
};

function syntaxProblem(error: YAMLError, lines: LineCounter): Problem {
  return {
    severity: error.name === 'YAMLWarning' ? 'warning' : 'error',
    code: 'syntax',
    ...toPosition(lines, error.pos[0]),
    path: '',
    message: SYNTAX_MESSAGES[error.code] ?? inWords(error.message, 'not valid YAML: '),
    hint: SYNTAX_HINTS[error.code] ?? SYNTAX_HINT,
  };
}

/** In the order of the file; problems that an anchor repeats are reported once. */
function result(spec: PipelineSpec | null, problems: readonly Problem[]): ParsedPipeline {
  const seen = new Set<string>();
  const once = problems.filter(({ line, column, code, message }) => {
    const key = `${line}:${column} ${code} ${message}`;
    return !seen.has(key) && seen.add(key);
  });
  const sorted = once.sort((a, b) => a.line - b.line || a.column - b.column);
  return { spec: sorted.some(({ severity }) => severity === 'error') ? null : spec, problems: sorted };
}
