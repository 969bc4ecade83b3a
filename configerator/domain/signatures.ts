/**
 * The signature state of a store's record of a path. `signed`: by keys that are trusted here. `unchecked`: no key is known here. `unsigned`: no
 * signature. `untrusted`: another key's signature, or a value that does not match its version. `absent`: the store has no record.
 */
export type SignatureState = 'signed' | 'unchecked' | 'unsigned' | 'untrusted' | 'absent';

export interface Signatures {
  readonly state: SignatureState;
  /** Some of the records that cannot be believed, with reasons. */
  readonly faults: readonly { readonly what: string; readonly why: string }[];
  /** The number of further such records: a process that writes to the store may leave any number. */
  readonly more: number;
}

const NAMED_FAULTS = 20;

interface SignatureCheck {
  /** `the value`, `the override …` */
  readonly what: string;
  readonly fault?: string | undefined;
  readonly isSealed?: boolean | undefined;
}

/** @param isChecked whether keys are known here */
export function judgeSignatures(records: readonly SignatureCheck[], isChecked: boolean): Signatures {
  const all = records.flatMap(({ what, fault }) => (fault === undefined ? [] : [{ what, why: fault }]));
  const faults = all.slice(0, NAMED_FAULTS);
  return { state: judgeSignatureState(records, all.length, isChecked), faults, more: all.length - faults.length };
}

function judgeSignatureState(records: readonly SignatureCheck[], faults: number, isChecked: boolean): SignatureState {
  if (faults > 0) return 'untrusted';
  if (records.length === 0) return 'absent';
  if (isChecked) return 'signed';
  return records.every(({ isSealed }) => isSealed) ? 'unchecked' : 'unsigned';
}
