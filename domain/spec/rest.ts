import { isJsonObject, isText } from '../json';
import { lintPipeline } from './lint';
import { pipelineSchema, type PipelineSpec } from './pipeline';
import { nearestWord, type Finding } from './problem';

type Entries = Record<string, unknown>;
type Path = Finding['path'];

interface Rest {
  readonly value: unknown;
  /** The list items that were removed, in order, each by its index at that time. */
  readonly gone: Path[];
}

/**
 * The errors that lint finds in what is left without the values that are wrong, so that a misspelt key does not hide a cycle.
 * A missing value is filled in. Warnings would be about unchosen defaults. Nothing when too much is missing.
 */
export function lintTheRest(value: unknown, findings: readonly Finding[]): Finding[] {
  const rest: Rest = { value: copy(value), gone: [] };
  // From the back, so that the indices of lists hold.
  findings
    .filter(isTakenOut)
    .map(removedPath)
    .reverse()
    .forEach((path) => takeOut(rest, path));
  const spec = filledIn(rest);
  if (spec === null) return [];
  const broken = new Set(findings.flatMap(brokenKeys));
  const isOnlyForLack = ({ code }: Finding): boolean => (LACKS[code] ?? []).some((key) => broken.has(key));
  return lintPipeline(spec)
    .filter((finding) => finding.severity === 'error' && !isOnlyForLack(finding))
    .map((finding) => ({ ...finding, path: rest.gone.reduceRight(withItem, finding.path) }));
}

/** The path as it was before an item was taken out of its list. */
function withItem(path: Path, item: Path): Path {
  const at = item.length - 1;
  const isBehind = item.slice(0, at).every((key, index) => key === path[index]) && Number(path[at]) >= Number(item[at]);
  return isBehind ? path.with(at, Number(path[at]) + 1) : path;
}

/** An entry that others may name stays, and is filled in. */
const isTakenOut = ({ path, code }: Finding): boolean =>
  path.length !== 2 || code === 'invalid-name' || !NAMED_SECTIONS.includes(String(path[0]));

const NAMED_SECTIONS: readonly string[] = ['actions', 'artifacts', 'mutex'];

/** Without `uses` a check is not whole, so it goes as well. */
const removedPath = ({ path, code }: Finding): Path => (code === 'unknown-check' ? path.slice(0, -1) : path);

/** Undefined for what a TypeScript file may hold and no pipeline can, such as functions. */
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

/** The pipeline as it would be if nothing were missing; null when too much is. */
function filledIn(rest: Rest): PipelineSpec | null {
  const parsed = withoutIncomplete(rest);
  if (parsed.success) return parsed.data;
  const { value } = rest;
  if (!isJsonObject(value) || !isJsonObject(value['actions'])) return null;
  for (const { path } of parsed.error.issues) fillIn(value as Entries, String(path[0]), String(path[1]));
  return pipelineSchema.safeParse(value).data ?? null;
}

/** Parts that are now incomplete go too, but no more than necessary: a check without a metric, not its action. */
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
/** `actions`, its name, `with`, and what stands there. */
const OF_AN_ACTION = 3;

const incompleteAt = (root: unknown, path: Path): Path =>
  valueAt(root, path) === undefined ? path.slice(0, -1) : path;

/** A name that no pipeline has. */
const NAMELESS = 'the-pipeline-that-has-no-name-yet';
const STAND_INS: Readonly<Record<string, unknown>> = { pipeline: NAMELESS, owners: ['user:nobody'] };

function fillIn(root: Entries, section: string, name: string): void {
  const entries = root[section];
  if (!NAMED_SECTIONS.includes(section) || !isJsonObject(entries)) root[section] = STAND_INS[section];
  else if (section === 'actions') (entries as Entries)[name] = standIn(entries[name]);
  else (entries as Entries)[name] = section === 'artifacts' ? { finder: 'manual' } : {};
}

/** An action that is not whole, as far as it concerns the others. */
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

/** Errors that may come of nothing but what is taken out: of which keys. */
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

/** Which of these keys a finding leaves without their values; a word that is no key stands for the key that was meant. */
function brokenKeys({ path: [section, , key], path, code }: Finding): readonly string[] {
  if (path.length === 1) return [meantKey(String(section), code)];
  if (section !== 'actions') return code === 'invalid-name' ? [String(section)] : [];
  if (path.length === 2) return code === 'invalid-name' ? ['actions', ...EDGES] : [...EDGES, 'type'];
  return path.length === 3 || key !== 'with' ? [meantKey(String(key), code)] : [];
}

const meantKey = (word: string, code: string): string =>
  code === 'unknown-key' ? (nearestWord(word, [...NAMED_SECTIONS, ...EDGES]) ?? word) : word;
