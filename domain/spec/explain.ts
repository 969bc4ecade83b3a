import type { z } from 'zod';
import { errorAt, formatPath, nearestWord, suggest, type Finding, type Path } from './problem';

type Issue = z.core.$ZodIssue;

/**
 * For `safeParse`: if an object has unknown keys, the issue's message lists the known ones, since that is the only part
 * of an issue that a schema can write. `explainIssues` reads it.
 */
export function listKnownKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const def = issue.inst?._zod.def as { shape?: object } | undefined;
  return Object.keys(def?.shape ?? {}).join(' ');
}

/** Messages for people in place of the issues of a schema. `root` is the parsed value. */
export function explainIssues(issues: readonly Issue[], root: unknown, base: Path = []): Finding[] {
  const findings = issues.flatMap((issue) => explainIssue(issue, root, [...base, ...toPathKeys(issue.path)]));
  return findings.filter(
    (finding) => finding.code !== 'missing-key' || !findings.some((other) => isMisspelling(other, finding)),
  );
}

/** `pipline` while `pipeline` is missing: this is one mistake, not two. */
function isMisspelling(typo: Finding, absent: Finding): boolean {
  const sameParent = formatPath(typo.path.slice(0, -1)) === formatPath(absent.path.slice(0, -1));
  return (
    typo.code === 'unknown-key' &&
    sameParent &&
    typo.hint === suggest(String(typo.path.at(-1)), [String(absent.path.at(-1))])
  );
}

function explainIssue(issue: Issue, root: unknown, path: Path): Finding[] {
  const value = valueAt(root, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(path, key, issue.message.split(' ')));
    case 'invalid_key':
      return [notAName(path, issue.issues[0]?.message ?? 'expected another name')];
    case 'invalid_union':
      return !('note' in issue) || issue.note === undefined
        ? explainUnion(issue, root, path, value)
        : [notAnOption(issue, path, value)];
    case 'invalid_value':
      return [
        value === undefined
          ? reportMissingKey(path, describeChoices(issue.values))
          : reportUnlistedValue(path, value, issue.values),
      ];
    case 'custom':
      if (typeof issue.params?.['hint'] === 'string')
        return [errorAt(path, String(issue.params['code'] ?? 'invalid-value'), issue.message, issue.params['hint'])];
      return [reportInvalidValue(path, value, issue.message)];
    default:
      return [
        value === undefined
          ? reportMissingKey(path, describeExpected(issue))
          : reportInvalidValue(path, value, describeExpected(issue)),
      ];
  }
}

function unknownKey(path: Path, key: string, known: readonly string[]): Finding {
  return { ...errorAt([...path, key], 'unknown-key', `unknown key ${key}`, suggest(key, known)), at: 'key' };
}

function notAName(path: Path, expected: string): Finding {
  return { ...errorAt(path, 'invalid-name', `${describeValue(path.at(-1))} is not a name`, expected), at: 'key' };
}

const reportMissingKey = (path: Path, expected: string): Finding => ({
  ...errorAt(path, 'missing-key', `${lastKey(path)} is missing`, expected),
  at: 'key',
});

function reportInvalidValue(path: Path, value: unknown, expected: string): Finding {
  return errorAt(path, 'invalid-value', `${lastKey(path)} cannot be ${describeValue(value)}`, expected);
}

function reportUnlistedValue(path: Path, value: unknown, values: readonly unknown[]): Finding {
  const meant = typeof value === 'string' ? nearestWord(value, values.map(String)) : undefined;
  return reportInvalidValue(path, value, meant === undefined ? describeChoices(values) : `did you mean ${meant}?`);
}

/** A `type` that does not exist. */
function notAnOption(issue: Issue, path: Path, value: unknown): Finding {
  if (value === undefined) return reportMissingKey(path, issue.message);
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
  const meant = typeof value === 'string' ? nearestWord(value, options) : undefined;
  return reportInvalidValue(path, value, meant === undefined ? issue.message : `did you mean ${meant}?`);
}

/** The problems of the branch that was most likely intended, or of the union as a whole if that is unclear. */
function explainUnion(issue: Issue & { code: 'invalid_union' }, root: unknown, path: Path, value: unknown): Finding[] {
  if (value === undefined) return [reportMissingKey(path, issue.message)];
  const fitting = issue.errors.filter((branch) => !branch.some(isAnotherKind));
  const ranked = [...fitting].sort((a, b) => countUnknownKeys(a) - countUnknownKeys(b));
  const [best, second] = ranked;
  if (best && (second === undefined || countUnknownKeys(best) < countUnknownKeys(second)))
    return explainIssues(best, root, path);
  const strangers = keysUnknownToAll(fitting);
  const known = [...new Set(fitting.flatMap((branch) => branch.flatMap(parseKnownKeys)))];
  const typos = strangers.filter((key) => nearestWord(key, known) !== undefined);
  if (typos.length > 0) return typos.map((key) => unknownKey(path, key, known));
  if (fitting.length === 0) return [reportInvalidValue(path, value, issue.message)];
  return [errorAt(path, 'invalid-value', `${lastKey(path)} does not have the right entries`, issue.message)];
}

/** The branch expects another type altogether: a text in place of a mapping. */
const isAnotherKind = (issue: Issue): boolean => issue.path.length === 0 && issue.code !== 'unrecognized_keys';

const countUnknownKeys = (branch: readonly Issue[]): number =>
  branch.reduce((total, issue) => total + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);

function keysUnknownToAll(branches: readonly (readonly Issue[])[]): string[] {
  const unknownTo = branches.map(
    (branch) => new Set(branch.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []))),
  );
  return [...(unknownTo[0] ?? [])].filter((key) => unknownTo.every((keys) => keys.has(key)));
}

const parseKnownKeys = (issue: Issue): string[] => (issue.code === 'unrecognized_keys' ? issue.message.split(' ') : []);

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

/** The correct form: the text of the schema or, for messages that zod generates, the same in plain words. */
function describeExpected(issue: Issue): string {
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input'))
    return `expected ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_small' && issue.message.startsWith('Too small'))
    return formatBound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
  if (issue.code === 'too_big' && issue.message.startsWith('Too big'))
    return formatBound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
  return issue.message;
}

function formatBound(origin: string, how: string, limit: number | bigint): string {
  if (origin === 'array') return `expected ${how} ${limit === 1 ? 'one entry' : `${limit} entries`}`;
  if (origin === 'string') return how === 'at most' ? `expected at most ${limit} characters` : 'expected some text';
  return `expected ${how} ${limit}`;
}

const describeChoices = (values: readonly unknown[]): string =>
  values.length === 1 ? `expected ${String(values[0])}` : `expected one of ${values.map(String).join(', ')}`;

const toPathKeys = (path: readonly PropertyKey[]): (string | number)[] =>
  path.map((key) => (typeof key === 'symbol' ? String(key) : key));

const lastKey = (path: Path): string => {
  const key = path.at(-1);
  return key === undefined ? 'the file' : typeof key === 'number' ? formatPath(path.slice(-2)) : key;
};

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined,
    root,
  );
}

/** A value as its author wrote it, short. */
function describeValue(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
