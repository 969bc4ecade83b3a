import type { FoundRecord, HeadRecord, ValueRecord } from './etcdRecords';
import type { Head, Override } from './port';

export interface FoundValue extends FoundRecord<ValueRecord> {
  readonly path: string;
}

export interface FoundOverride extends FoundRecord<Override> {
  readonly path: string;
  readonly id: string;
}

export interface FoundRecords {
  readonly values: readonly FoundValue[];
  readonly overrides: readonly FoundOverride[];
}

/** All records in the store of a repository, by any writer. */
export interface InspectionResult extends FoundRecords {
  readonly head: FoundRecord<HeadRecord>;
  /** The revision of the store when the head was last written: a repair succeeds only if the head has not moved since. */
  readonly headAt: number;
  /** The revision of the store: later writes have a higher one. */
  readonly revision: number;
}

/** A true committed state. If the value is null, the path is gone. */
export interface TrueValue {
  readonly path: string;
  readonly value: string | null;
  readonly version: string;
  readonly commit: string;
  readonly sequence: number;
  readonly overrules: readonly string[];
}

/** A store for code that checks it against git. Every method throws the errors of a ConfigStore. */
export interface Inspection {
  /** Whether records must be signed to be trusted. */
  readonly isSigned: boolean;
  /** Records written after `since`, a revision of the store; all records if the store was set back to an older state. */
  look(repository: string, since: number): Promise<InspectionResult>;
  /** False if the head has moved meanwhile, so that none or only some records were restored. */
  putBack(
    repository: string,
    headAt: number,
    what: { readonly head?: Head | undefined; readonly values: readonly TrueValue[] },
  ): Promise<boolean>;
  /** Makes hosts read the overrides of these paths again. */
  touch(repository: string, paths: readonly string[]): Promise<void>;
}
