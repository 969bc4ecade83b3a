import type { FoundRecord, HeadRecord, ValueRecord } from './etcdRecords';
import type { Head, Override } from './port';

export interface FoundValue extends FoundRecord<ValueRecord> {
  readonly path: string;
}

export interface FoundOverride extends FoundRecord<Override> {
  readonly path: string;
  readonly id: string;
}

/** What lies in a store of a repository, whoever wrote it. */
export interface Inspected {
  readonly head: FoundRecord<HeadRecord>;
  /** Of the store, when the head was written last: what is put back is put back on condition that nobody has moved it since. */
  readonly headAt: number;
  readonly values: readonly FoundValue[];
  readonly overrides: readonly FoundOverride[];
  /** Of the store: what is written later is after it. */
  readonly revision: number;
}

/** A committed state that is true. A value of null: the path is gone. */
export interface TrueValue {
  readonly path: string;
  readonly value: string | null;
  readonly version: string;
  readonly commit: string;
  readonly sequence: number;
  readonly overrules: readonly string[];
}

/** A store as whoever holds it against git needs it. Every method throws what those of a ConfigStore do. */
export interface Inspection {
  /** Whether records have to be signed to be believed. */
  readonly isSigned: boolean;
  /** What was written after `since`, a revision of the store; all of it where the store is an older one by now. */
  look(repository: string, since: number): Promise<Inspected>;
  /** False where somebody has moved the head meanwhile, so that nothing, or a part, was put back. */
  putBack(
    repository: string,
    headAt: number,
    what: { readonly head?: Head | undefined; readonly values: readonly TrueValue[] },
  ): Promise<boolean>;
  /** Has hosts look at the overrides of these paths again. */
  touch(repository: string, paths: readonly string[]): Promise<void>;
}
