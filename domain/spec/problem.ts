/** A problem in a pipeline file (docs/reference/cli.md#lint-and-plan, `lint -o json`). Lines and columns count from 1. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** A kebab-case word. */
  readonly code: string;
  readonly line: number;
  readonly column: number;
  /** `actions.deploy.with.phases[0].bake`; empty for the file as a whole. */
  readonly path: string;
  /** The mistake. */
  readonly message: string;
  /** The correct form. */
  readonly hint: string;
}

export type Path = readonly (string | number)[];

/** A problem whose place in the text is not known yet. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly path: Path;
  /** Whether the finding is about the key, or about the value (default). */
  readonly at?: 'key';
  readonly message: string;
  readonly hint: string;
}

export const errorAt = (path: Path, code: string, message: string, hint: string): Finding => ({
  severity: 'error',
  code,
  path,
  message,
  hint,
});

export const warningAt = (path: Path, code: string, message: string, hint: string): Finding => ({
  severity: 'warning',
  code,
  path,
  message,
  hint,
});

/** `actions.deploy.with.phases[0].bake` */
export function formatPath(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
}

/** The known word that was most likely intended; undefined if none is similar. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const allowed = word.length <= 3 ? 1 : word.length <= 6 ? 2 : 3;
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance: edits }) => edits <= Math.min(allowed, candidate.length - 1))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

/** `did you mean bake?`, or the list of known words. */
export function suggest(word: string, known: readonly string[]): string {
  const meant = nearestWord(word, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  return known.length === 0 ? 'there is none' : `known here: ${known.join(', ')}`;
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swaps = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = swaps ? at(row - 2, column - 2) + 1 : Infinity;
      rows[row]?.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(a.length, b.length);
}
