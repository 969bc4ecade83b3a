import { CONFIG_LIMITS } from '../limits';

/** The finder that never looks: a person or a script starts the release. */
export const MANUAL = 'manual';

/** The finder for the outputs of another pipeline's releases. */
export const PIPELINE_OUTPUT = 'pipeline-output';

/** The finder for changes of an offer of another pipeline. */
export const OFFER = 'offer';

/** Finders that workers serve themselves, so they need no service. */
export const WORKER_FINDERS: readonly string[] = [PIPELINE_OUTPUT, OFFER];

/** Keys whose value is a list of texts; all other values are texts. */
export const LISTS: ReadonlySet<string> = new Set(['paths']);

/** The maximum number of texts in a list. */
const { max: MOST } = CONFIG_LIMITS.ownedPaths;

/** The standard artifact finders and the keys of their `with`: one of these sets (docs/reference/pipelines.md#finders). */
export const STANDARD_FINDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  [MANUAL]: [[]],
  commits: [['repository', 'branch']],
  'tagged-executables': [['package', 'tag']],
  'latest-build': [['target'], ['package']],
  'model-versions': [['model']],
  'config-changes': [['path'], ['repository', 'paths']],
  [PIPELINE_OUTPUT]: [['pipeline', 'artifact']],
  [OFFER]: [['pipeline', 'offer']],
};

/**
 * The reason why a standard finder cannot use this `with`; undefined if it can. Also undefined for other finders, which
 * define their own `with`.
 */
export function whyCannotFind(finder: string, given: Readonly<Record<string, unknown>>): string | undefined {
  const choices = Object.hasOwn(STANDARD_FINDERS, finder) ? STANDARD_FINDERS[finder] : undefined;
  if (choices === undefined || choices.some((keys) => hasExactly(keys, given))) return undefined;
  const wanted = choices.map(formatWithKeys).join(' or ');
  const wrong = Object.entries(given).find(([key, value]) => !isFit(key, value));
  if (wrong)
    return `with.${wrong[0]} is not ${LISTS.has(wrong[0]) ? `a list of 1 to ${MOST} texts` : 'a text'}; ${finder} takes ${wanted}`;
  const keys = Object.keys(given);
  return `${finder} takes ${wanted}, and was given ${keys.length === 0 ? 'nothing' : `{ ${keys.join(', ')} }`}`;
}

const hasExactly = (keys: readonly string[], given: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(given).length === keys.length && keys.every((key) => isFit(key, given[key]));

const isFit = (key: string, value: unknown): boolean =>
  LISTS.has(key)
    ? Array.isArray(value) && value.length > 0 && value.length <= MOST && value.every(isWritten)
    : isWritten(value);

const isWritten = (value: unknown): boolean => typeof value === 'string' && value !== '';

const formatWithKeys = (keys: readonly string[]): string =>
  keys.length === 0 ? 'no with' : `with: { ${keys.join(', ')} }`;
