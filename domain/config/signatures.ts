/**
 * Whether what a store holds of a path is signed: `signed` by keys that are trusted here, `unchecked` since none is known here, `unsigned`, or
 * `untrusted` by the signature of another or a value that is not what its version says. `absent`: the store holds nothing.
 */
export type SignatureState = 'signed' | 'unchecked' | 'unsigned' | 'untrusted' | 'absent';

export interface Signatures {
  readonly state: SignatureState;
  /** Some of what cannot be believed, and why. */
  readonly faults: readonly { readonly what: string; readonly why: string }[];
  /** How many of these are not among `faults`: a process that writes to the store may leave any number. */
  readonly more: number;
}

const NAMED_FAULTS = 20;

interface Judged {
  /** `the value`, `the override …` */
  readonly what: string;
  readonly fault?: string | undefined;
  readonly isSealed?: boolean | undefined;
}

/** @param isChecked whether keys are known here */
export function judgeSignatures(records: readonly Judged[], isChecked: boolean): Signatures {
  const all = records.flatMap(({ what, fault }) => (fault === undefined ? [] : [{ what, why: fault }]));
  const faults = all.slice(0, NAMED_FAULTS);
  return { state: stateOf(records, all.length, isChecked), faults, more: all.length - faults.length };
}

function stateOf(records: readonly Judged[], faults: number, isChecked: boolean): SignatureState {
  if (faults > 0) return 'untrusted';
  if (records.length === 0) return 'absent';
  if (isChecked) return 'signed';
  return records.every(({ isSealed }) => isSealed) ? 'unchecked' : 'unsigned';
}
