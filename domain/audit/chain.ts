import type { AuditEntry, AuditRecord } from './record';

/** Hexadecimal. */
export type Sha256 = (text: string) => string;

/** The place in a chain after which the next record goes. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

export const CHAIN_START: Link = { seq: 0, hash: '' };

/** The record that follows another. Its hash covers the record and the hash before it. */
export function linkRecord(
  last: Link,
  entry: AuditEntry,
  { at, server }: Pick<AuditRecord, 'at' | 'server'>,
  sha256: Sha256,
): AuditRecord {
  const record = { ...entry, seq: last.seq + 1, at, server, prev: last.hash };
  return { ...record, hash: hashRecord(record, sha256) };
}

const hashRecord = (record: Omit<AuditRecord, 'hash'>, sha256: Sha256): string =>
  sha256(`${record.prev}\n${canonicalJson(record)}`);

/** The same text for the same value, independent of the order of its fields. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`).join(',')}}`;
}

/** The expected end of a chain, as its server noted it next to the file. */
export interface Ends {
  /** The record before the first that is kept; older ones went with their files. */
  readonly first: Link;
  /** The chain may continue after this record, but never end before it. */
  readonly last: Link;
}

/** The first place at which a chain is broken. */
export interface Break {
  /** The number that the record has, or should have. */
  readonly seq: number;
  /** Counted from 1. */
  readonly line: number;
  readonly why: string;
}

/** Verifies a chain record by record, without keeping it in memory. Reports only the first break. */
export class ChainReader {
  private at: Link | undefined;
  private lines = 0;
  private found: Break | undefined;
  private isPastEnd = false;

  /** Without known ends, the first record is trusted, and no missing last records can be detected. */
  constructor(
    private readonly sha256: Sha256,
    private readonly ends: Ends | null = null,
  ) {
    this.at = ends?.first;
    this.isPastEnd = ends === null || ends.last.seq === ends.first.seq;
  }

  /** Reads a line of a file. */
  read(line: string): void {
    this.lines += 1;
    if (this.found !== undefined) return;
    const record = recordIn(line);
    const expected = (this.at?.seq ?? record?.seq ?? 1) + (this.at === undefined ? 0 : 1);
    const why = record === undefined ? 'it is not a record' : this.whyNot(record, expected);
    if (record === undefined || why !== undefined)
      this.found = { seq: record?.seq ?? expected, line: this.lines, why: why ?? '' };
    else this.at = { seq: record.seq, hash: record.hash };
  }

  /** After the last line. */
  end(): { readonly records: number; readonly last: Link | null; readonly broken: Break | null } {
    const records = this.lines;
    const last = this.at ?? null;
    if (this.found !== undefined) return { records, last, broken: this.found };
    if (this.isPastEnd) return { records, last, broken: null };
    const seq = (this.at?.seq ?? 0) + 1;
    const why = `records are missing at the end: the server had written up to ${this.ends?.last.seq}`;
    return { records, last, broken: { seq, line: this.lines + 1, why } };
  }

  private whyNot(record: AuditRecord, expected: number): string | undefined {
    if (record.seq !== expected) return `the number after ${expected - 1} is ${expected}, and this is ${record.seq}`;
    if (this.at !== undefined && record.prev !== this.at.hash) return 'it does not follow the record before it';
    const { hash, ...rest } = record;
    if (hashRecord(rest, this.sha256) !== hash) return 'it was changed after it was written';
    if (this.ends === null || record.seq !== this.ends.last.seq) return undefined;
    this.isPastEnd = true;
    return hash === this.ends.last.hash ? undefined : 'another record was here when the server wrote it';
  }
}

/** Undefined if the line is not a record. */
export function recordIn(line: string): AuditRecord | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const { seq, prev, hash, at } = value as Partial<AuditRecord>;
    const isRecord = Number.isInteger(seq) && [prev, hash, at].every((text) => typeof text === 'string');
    return isRecord ? (value as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}
