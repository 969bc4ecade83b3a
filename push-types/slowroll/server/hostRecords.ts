import { FIRST_CAPACITY, growCapacity, widen } from './hostTable';

/** The last report of a host about a package. */
export const REPORT_KIND = {
  /** Nothing since this process began. */
  nothing: 0,
  /** It does not have the package. */
  absent: 1,
  runs: 2,
  /** Neither the version nor its predecessor came up. */
  broken: 3,
} as const;

/** The version of one package that each host runs: 18 bytes a host. */
export class HostRecords {
  /** The number of the decision that was offered to each host last; 0 if none is known. */
  decision = new Uint32Array(FIRST_CAPACITY);
  /** The number of the version that it runs; 0 for none. */
  version = new Uint16Array(FIRST_CAPACITY);
  /** The number of the version that failed there last, since the last decision; 0 for none. */
  failed = new Uint16Array(FIRST_CAPACITY);
  /** A value of `REPORT_KIND`. */
  reported = new Uint8Array(FIRST_CAPACITY);
  /** A hash of the identifier of what runs. */
  identifier = new Uint32Array(FIRST_CAPACITY);
  /** The number of the cause for which its agent tries again; 0 for none. */
  trouble = new Uint8Array(FIRST_CAPACITY);
  /** When that was first reported, in seconds since the epoch. */
  troubledAt = new Uint32Array(FIRST_CAPACITY);

  /** Makes room for so many hosts. */
  reserve(count: number): void {
    while (this.decision.length < count) {
      const capacity = Math.max(growCapacity(this.decision.length), Math.min(count, FIRST_CAPACITY));
      this.decision = widen(this.decision, new Uint32Array(capacity));
      this.version = widen(this.version, new Uint16Array(capacity));
      this.failed = widen(this.failed, new Uint16Array(capacity));
      this.reported = widen(this.reported, new Uint8Array(capacity));
      this.identifier = widen(this.identifier, new Uint32Array(capacity));
      this.trouble = widen(this.trouble, new Uint8Array(capacity));
      this.troubledAt = widen(this.troubledAt, new Uint32Array(capacity));
    }
  }

  get bytes(): number {
    const { decision, version, failed, reported, identifier, trouble, troubledAt } = this;
    const arrays = [decision, version, failed, reported, identifier, trouble, troubledAt];
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
}
