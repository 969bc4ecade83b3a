import type { JobFailure } from '../job';
import { formatBytes } from '../../../domain/size';
import { PROGRAM_OUTPUT_CHARS } from '../job';
import type { Loader } from './loader';

/** Describes an error thrown by a program or validator. It may be any value of another realm. */
export function toJobFailure(error: unknown, loader: Loader): JobFailure {
  return (
    findFlood(loader) ??
    parseImportFailure(attempt(() => loader.realm.importIn(error))) ?? {
      kind: 'threw',
      why: describeThrown(error),
      where: attempt(() => locateThrow(error, loader)) ?? null,
    }
  );
}

/** It exceeded the output limit, and may have caught that error. */
export function findFlood({ realm }: Loader): JobFailure | null {
  if (!realm.isFlooded()) return null;
  return { kind: 'threw', why: `it wrote more than ${formatBytes(PROGRAM_OUTPUT_CHARS)}`, where: null };
}

function parseImportFailure(about: unknown): JobFailure | null {
  if (typeof about !== 'string' || about === '') return null;
  const parts: unknown = attempt(() => JSON.parse(about) as unknown);
  const [from, specifier, why] = Array.isArray(parts) ? (parts as readonly unknown[]).map(String) : [];
  if (from === undefined || specifier === undefined || why === undefined) return null;
  return { kind: 'import', from, specifier, why };
}

export const describeThrown = (error: unknown): string =>
  attempt(() => formatThrown(error)) ?? 'it threw what has no words';

/** A thrown value may itself throw when it is inspected. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function formatThrown(error: unknown): string {
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown };
  if (typeof message !== 'string') return `it threw ${String(error)}`.slice(0, 500);
  return `${typeof name === 'string' && name !== 'Error' ? `${name}: ` : ''}${message}`.slice(0, 500);
}

/** `feed/limits.config.ts:3`: the first line of the tree that the stack names. */
function locateThrow(error: unknown, loader: Loader): string | null {
  const stack = loader.realm.stackOf(error);
  if (typeof stack !== 'string') return null;
  const places = [...stack.matchAll(/\/([\w./-]+\.ts):(\d+)/g)];
  const [, file, line] = places.find(([, path = '']) => loader.has(path)) ?? [];
  return file === undefined ? null : `${file}:${line}`;
}

/** The schema's complaint about a value: `hard: expected number, received string`. Null for any other error. */
export const describeMisfit = (error: unknown): string | null => attempt(() => formatIssues(error)) ?? null;

function formatIssues(error: unknown): string | null {
  const { issues } = (error ?? {}) as { readonly issues?: unknown };
  if (!Array.isArray(issues)) return null;
  const lines = copyArray(issues, 5).map((issue) => {
    const { path, message } = (issue ?? {}) as { readonly path?: unknown; readonly message?: unknown };
    const place = Array.isArray(path) ? copyArray(path, 100).map(String).join('.') : '';
    return `${place || 'the value'}: ${typeof message === 'string' ? message.slice(0, 500) : ''}`;
  });
  const more = Number(issues.length) - lines.length;
  return more > 0 ? `${lines.join('; ')}; and ${more} more` : lines.join('; ');
}

/** An array of ours: no program made its methods. */
const copyArray = (theirs: ArrayLike<unknown>, max: number): readonly unknown[] =>
  Array.from({ length: Math.min(theirs.length, max) }, (_, at) => theirs[at]);
