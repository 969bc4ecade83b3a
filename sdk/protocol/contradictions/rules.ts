/**
 * Answers that fit their schema but cannot be true: each function beside this file returns the first contradiction that it finds. The
 * client throws it as `extension-protocol`, so that such an answer neither passes nor reverts anything (docs/reference/protocols.md#rules-for-all).
 */

export interface Contradiction {
  /** Such as `units.0.live`. */
  readonly field: string;
  /** The value, and the rule that it breaks. */
  readonly detail: string;
}

export type ContradictionIfAny = Contradiction | undefined;

/** Each row once, and none that was not asked for. `key` is the field that names a row; empty if the row is itself the name. */
export function inRows<R extends { readonly id: string | undefined }>(
  field: string,
  rows: readonly R[],
  asked?: readonly string[],
  inRow: (row: R, at: string) => ContradictionIfAny = () => undefined,
  key = 'id',
): ContradictionIfAny {
  const known = asked && new Set(asked);
  const seen = new Set<string>();
  return first([...rows.entries()], ([nth, row]) => {
    const at = `${field}.${nth}`;
    return inName(row.id, key === '' ? at : `${at}.${key}`, known, seen) ?? inRow(row, at);
  });
}

function inName(
  id: string | undefined,
  at: string,
  known: ReadonlySet<string> | undefined,
  seen: Set<string>,
): ContradictionIfAny {
  if (id === undefined) return undefined;
  const isTwice = seen.has(id);
  seen.add(id);
  return unless(!isTwice, at, `${id} appears twice`) ?? unless(known?.has(id) !== false, at, `${id} was not asked for`);
}

export const countAtMost = <F extends string, L extends string>(
  at: string,
  row: Readonly<Record<F | L, number>>,
  field: F,
  limit: L,
): ContradictionIfAny =>
  unless(row[field] <= row[limit], `${at}.${field}`, `${row[field]} is more than ${limit}, ${row[limit]}`);

export const unless = (holds: boolean, field: string, detail: string): ContradictionIfAny =>
  holds ? undefined : { field, detail };

export function first<T>(all: readonly T[], judge: (one: T) => ContradictionIfAny): ContradictionIfAny {
  for (const one of all) {
    const found = judge(one);
    if (found) return found;
  }
  return undefined;
}
