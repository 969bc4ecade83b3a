/**
 * Whether what a store holds of a path is signed: `signed` by keys that are trusted here, `unchecked` since none is known here, `unsigned`, or
 * `untrusted` by the signature of another or a value that is not what its version says. `absent`: the store holds nothing.
 */
export type SignatureState = 'signed' | 'unchecked' | 'unsigned' | 'untrusted' | 'absent';

export interface Signatures {
  readonly state: SignatureState;
  /** What cannot be believed, and why. */
  readonly faults: readonly { readonly what: string; readonly why: string }[];
}

interface Judged {
  /** `the value`, `the override …` */
  readonly what: string;
  readonly fault?: string | undefined;
  readonly isSealed?: boolean | undefined;
}

/** @param isChecked whether keys are known here */
export function judgeSignatures(records: readonly Judged[], isChecked: boolean): Signatures {
  const faults = records.flatMap(({ what, fault }) => (fault === undefined ? [] : [{ what, why: fault }]));
  if (faults.length > 0) return { state: 'untrusted', faults };
  if (records.length === 0) return { state: 'absent', faults };
  if (isChecked) return { state: 'signed', faults };
  return { state: records.every(({ isSealed }) => isSealed) ? 'unchecked' : 'unsigned', faults };
}
