import type { JobFailure } from '../job';
import { NoImport, type Loader } from './loader';

/** What a program or validator threw, which may be anything of another realm. */
export function failureOf(error: unknown, loader: Loader): JobFailure {
  if (error instanceof NoImport)
    return { kind: 'import', from: error.from, specifier: error.specifier, why: error.message };
  return { kind: 'threw', why: wordsOf(error), where: attempt(() => placeOf(error, loader)) ?? null };
}

export const wordsOf = (error: unknown): string => attempt(() => words(error)) ?? 'it threw what has no words';

/** What somebody throws may throw when it is looked at. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function words(error: unknown): string {
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown };
  if (typeof message !== 'string') return `it threw ${String(error)}`.slice(0, 500);
  return `${typeof name === 'string' && name !== 'Error' ? `${name}: ` : ''}${message}`.slice(0, 500);
}

/** `feed/limits.config.ts:3`: the first line of the tree that the stack names. */
function placeOf(error: unknown, loader: Loader): string | null {
  const { stack } = (error ?? {}) as { readonly stack?: unknown };
  if (typeof stack !== 'string') return null;
  const places = [...stack.matchAll(/\/([\w./-]+\.ts):(\d+)/g)];
  const [, file, line] = places.find(([, path = '']) => loader.has(path)) ?? [];
  return file === undefined ? null : `${file}:${line}`;
}

/** What a schema says of a value that does not fit: `hard: expected number, received string`. Null for any other error. */
export function misfitOf(error: unknown): string | null {
  const issues = attempt(() => ((error ?? {}) as { readonly issues?: unknown }).issues);
  if (!Array.isArray(issues)) return null;
  const all = issues as readonly { readonly path?: readonly PropertyKey[]; readonly message?: string }[];
  const lines = all
    .slice(0, 5)
    .map(({ path = [], message = '' }) => `${path.map(String).join('.') || 'the value'}: ${message}`);
  return all.length > lines.length ? `${lines.join('; ')}; and ${all.length - lines.length} more` : lines.join('; ');
}
