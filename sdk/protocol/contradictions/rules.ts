/**
 * Answers that fit their schema but cannot be true: each table in this folder has the rules of one method. The client throws the first contradiction
 * as `extension-protocol`, so that such an answer neither passes nor reverts anything (docs/reference/protocols.md#rules-for-all).
 */

export interface Contradiction {
  /** Such as `units.0.live`. */
  readonly field: string;
  /** The value, and the rule that it breaks. */
  readonly detail: string;
}

export type ContradictionIfAny = Contradiction | undefined;

/** The rules of a method, by a description of an answer that breaks them. */
export type Rules<Q, A> = Readonly<Record<string, (question: Q, answer: A) => ContradictionIfAny>>;

/** The rules of any method; only its protocol knows the types. */
export type AnyRules = Rules<never, never>;

export const contradictionIn = (rules: AnyRules, question: unknown, answer: unknown): ContradictionIfAny =>
  first(Object.values(rules), (rule) => rule(question as never, answer as never));

interface Row {
  readonly id: string | undefined;
}

/** The first row that appears twice. `key` is the field that names a row; empty if the row is itself the name. */
export function twiceIn(field: string, rows: readonly Row[], key = 'id'): ContradictionIfAny {
  const seen = new Set<string>();
  return inEach(field, rows, ({ id }, at) => {
    if (id === undefined) return undefined;
    const isTwice = seen.has(id);
    seen.add(id);
    return unless(!isTwice, nameAt(at, key), `${id} appears twice`);
  });
}

/** The first row that was not asked for; any row is allowed if the request named none. */
export function strangerIn(
  field: string,
  rows: readonly Row[],
  asked: readonly string[] | undefined,
  key = 'id',
): ContradictionIfAny {
  const known = asked && new Set(asked);
  return inEach(field, rows, ({ id }, at) =>
    unless(id === undefined || known?.has(id) !== false, nameAt(at, key), `${id} was not asked for`),
  );
}

export const inEach = <R>(
  field: string,
  rows: readonly R[],
  inRow: (row: R, at: string) => ContradictionIfAny,
): ContradictionIfAny => first([...rows.entries()], ([nth, row]) => inRow(row, `${field}.${nth}`));

const nameAt = (at: string, key: string): string => (key === '' ? at : `${at}.${key}`);

export const countAtMost = <F extends string, L extends string>(
  at: string,
  row: Readonly<Record<F | L, number>>,
  field: F,
  limit: L,
): ContradictionIfAny =>
  unless(row[field] <= row[limit], `${at}.${field}`, `${row[field]} is more than ${limit}, ${row[limit]}`);

export const unless = (holds: boolean, field: string, detail: string): ContradictionIfAny =>
  holds ? undefined : { field, detail };

function first<T>(all: readonly T[], judge: (one: T) => ContradictionIfAny): ContradictionIfAny {
  for (const one of all) {
    const found = judge(one);
    if (found) return found;
  }
  return undefined;
}
