import { isJsonObject, isText } from '../json';
import { lintPipeline } from './lint';
import { pipelineSchema, type PipelineSpec } from './pipeline';
import { nearestWord, type Finding } from './problem';

type Entries = Record<string, unknown>;
type Path = Finding['path'];

interface Rest {
  readonly value: unknown;
  /** The removed list items, in order, each with its index at that time. */
  readonly gone: Path[];
}

/**
 * Lint errors in the rest of the file after invalid values are removed, so that a misspelt key does not hide a cycle. Missing values
 * are filled in. There are no warnings, since they could be about defaults that the author did not choose. Empty if too much is
 * missing.
 */
export function lintWithoutInvalidValues(value: unknown, findings: readonly Finding[]): Finding[] {
  const rest: Rest = { value: copy(value), gone: [] };
  // From the end, so that the indices of lists stay valid.
  findings
    .filter(isTakenOut)
    .map(pickRemovedPath)
    .reverse()
    .forEach((path) => takeOut(rest, path));
  const spec = fillInMissing(rest);
  if (spec === null) return [];
  const broken = new Set(findings.flatMap(listBrokenKeys));
  const isOnlyForLack = ({ code }: Finding): boolean => (LACKS[code] ?? []).some((key) => broken.has(key));
  return lintPipeline(spec)
    .filter((finding) => finding.severity === 'error' && !isOnlyForLack(finding))
    .map((finding) => ({ ...finding, path: rest.gone.reduceRight(withItem, finding.path) }));
}

/** The original path, from before an item was removed from its list. */
function withItem(path: Path, item: Path): Path {
  const at = item.length - 1;
  const isBehind = item.slice(0, at).every((key, index) => key === path[index]) && Number(path[at]) >= Number(item[at]);
  return isBehind ? path.with(at, Number(path[at]) + 1) : path;
}

/** An entry that others may name stays, and is completed. */
const isTakenOut = ({ path, code }: Finding): boolean =>
  path.length !== 2 || code === 'invalid-name' || !NAMED_SECTIONS.includes(String(path[0]));

const NAMED_SECTIONS: readonly string[] = ['actions', 'artifacts', 'mutex'];

/** Without `uses` a check is incomplete, so the whole check is removed. */
const pickRemovedPath = ({ path, code }: Finding): Path => (code === 'unknown-check' ? path.slice(0, -1) : path);

/** Undefined for values that a TypeScript file may contain but no pipeline can, such as functions. */
function copy(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}

/** A phase with a wrong scope is still a phase with a name. */
function takeOut(rest: Rest, path: Path): void {
  const isScope = path.at(-1) === 'scope' && path.at(-3) === 'phases';
  const phase = isScope ? valueAt(rest.value, path.slice(0, -1)) : undefined;
  if (isJsonObject(phase)) (phase as Entries)['scope'] = '*';
  else removeAt(rest, path);
}

const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, step) => (at as Record<string | number, unknown> | null | undefined)?.[step], root);

function removeAt({ value, gone }: Rest, path: Path): void {
  const key = path.at(-1);
  const parent = valueAt(value, path.slice(0, -1));
  if (key === undefined || typeof parent !== 'object' || parent === null) return;
  if (!Array.isArray(parent)) delete (parent as Record<string | number, unknown>)[key];
  else if (parent.splice(Number(key), 1).length > 0) gone.push(path);
}

/** The pipeline with missing parts filled in; null if too much is missing. */
function fillInMissing(rest: Rest): PipelineSpec | null {
  const parsed = withoutIncomplete(rest);
  if (parsed.success) return parsed.data;
  const { value } = rest;
  if (!isJsonObject(value) || !isJsonObject(value['actions'])) return null;
  for (const { path } of parsed.error.issues) fillIn(value as Entries, String(path[0]), String(path[1]));
  return pipelineSchema.safeParse(value).data ?? null;
}

/** Removes parts that are now incomplete, but no more than necessary: a check without a metric, not its action. */
function withoutIncomplete(rest: Rest): ReturnType<typeof pipelineSchema.safeParse> {
  for (let rounds = 0; ; rounds += 1) {
    const parsed = pipelineSchema.safeParse(rest.value);
    const within = parsed.error?.issues.map(({ path }) => incompleteAt(rest.value, path as Path)) ?? [];
    if (rounds >= MAX_ROUNDS || within.length === 0 || within.some(({ length }) => length <= OF_AN_ACTION))
      return parsed;
    within.reverse().forEach((path) => removeAt(rest, path));
  }
}

const MAX_ROUNDS = 4;
/** The length of a path of `actions`, a name, and `with`. */
const OF_AN_ACTION = 3;

const incompleteAt = (root: unknown, path: Path): Path =>
  valueAt(root, path) === undefined ? path.slice(0, -1) : path;

/** A name that no other pipeline has. */
const NAMELESS = 'the-pipeline-that-has-no-name-yet';
const STAND_INS: Readonly<Record<string, unknown>> = { pipeline: NAMELESS, owners: ['user:nobody'] };

function fillIn(root: Entries, section: string, name: string): void {
  const entries = root[section];
  if (!NAMED_SECTIONS.includes(section) || !isJsonObject(entries)) root[section] = STAND_INS[section];
  else if (section === 'actions') (entries as Entries)[name] = standIn(entries[name]);
  else (entries as Entries)[name] = section === 'artifacts' ? { finder: 'manual' } : {};
}

/** A stand-in for an incomplete action, with the fields that matter to the other actions. */
function standIn(action: unknown): Entries {
  const { type, needs, inputs, outputs, runIf, join } = isJsonObject(action) ? action : {};
  const names = (list: unknown) => (Array.isArray(list) ? list.filter(isText) : []);
  return {
    ...(type === 'deploy' ? { type, with: { pushType: 'unknown' } } : { type: 'build' }),
    ...{ needs: names(needs), inputs: names(inputs), outputs: names(outputs) },
    ...(runIf === 'failure' || runIf === 'always' ? { runIf } : {}),
    ...(join === 'any' ? { join } : {}),
  };
}

const EDGES = ['needs', 'inputs', 'outputs', 'runIf', 'join'];

/** Errors that may be due to the removal of values, with the keys concerned. */
const LACKS: Readonly<Record<string, readonly string[]>> = {
  'no-inputs': ['inputs'],
  'no-actions': ['actions'],
  'unknown-action': ['actions'],
  'unknown-artifact': ['artifacts', 'outputs'],
  'unknown-mutex': ['mutex'],
  'ambiguous-artifact': EDGES,
  'undecided-condition': EDGES,
  'unreachable-action': EDGES,
  'kept-by-deploy': EDGES,
  'soaks-later': EDGES,
  'soaks-another': EDGES,
  'soaks-nowhere': ['type'],
};

/** The keys whose values a finding makes invalid; a misspelt key counts as the intended one. */
function listBrokenKeys({ path: [section, , key], path, code }: Finding): readonly string[] {
  if (path.length === 1) return [meantKey(String(section), code)];
  if (section !== 'actions') return code === 'invalid-name' ? [String(section)] : [];
  if (path.length === 2) return code === 'invalid-name' ? ['actions', ...EDGES] : [...EDGES, 'type'];
  return path.length === 3 || key !== 'with' ? [meantKey(String(key), code)] : [];
}

const meantKey = (word: string, code: string): string =>
  code === 'unknown-key' ? (nearestWord(word, [...NAMED_SECTIONS, ...EDGES]) ?? word) : word;
