import { appendFile, mkdir, open, rename, stat, truncate, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { linkRecord, CHAIN_START, type Ends, type Link } from '../../domain/audit/chain';
import { auditEntry, truncateEntry, type AuditEntry, type AuditRecord } from '../../domain/audit/record';
import { AUDIT_LIMITS } from '../../domain/limits';
import { readEnds, locateChain, listParts, type Chain, type ChainFiles } from '../../settings/audit/files';
import { measureWholeLines, readEdges } from '../../settings/audit/onDisk';
import { sha256 } from '../../sdk/digest';
import { replaceFile } from '../../sdk/replaceFile';

export interface LogOptions {
  readonly file: string;
  readonly chain: Chain;
  readonly server: string;
  readonly keepMs: number;
  /** The size at which a new file begins. */
  readonly maxBytes: number;
  /** How many files a chain may have; by default, all that are younger than `keepMs`. */
  readonly maxFiles?: number;
  now(): number;
  log(line: string): void;
}

interface PendingEntry {
  readonly entry: AuditEntry;
  readonly at: string;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

export interface Backlog {
  readonly waiting: number;
  /** ms since the epoch; null if nothing waits. */
  readonly sinceMs: number | null;
  /** Since the start. */
  readonly lost: number;
}

/** The number of records written to disk at once. */
const BATCH = 256;

/**
 * Appends records to one chain of files. A record counts as written once it is on disk; records that arrive during a write go to disk together.
 * Records that cannot be written wait and are retried with the next ones. Each file has a single writer: two writers would break its chain.
 */
export class AuditLog {
  private readonly files: ChainFiles;
  private handle: FileHandle | undefined;
  private ends: Ends = { first: CHAIN_START, last: CHAIN_START };
  private size = 0;
  private ino = 0;
  /** The current file: the number of its first record, and its day. */
  private begun: { readonly seq: number; readonly day: string } | undefined;
  private readonly waiting: PendingEntry[] = [];
  /** Records in flight when the disk failed. Some of them may be on disk. */
  private unsure: readonly AuditRecord[] = [];
  private lost = 0;
  private lostEver = 0;
  private writing: Promise<void> | undefined;
  /** Why the last record could not be written; undefined if it was written. */
  private trouble: Error | undefined;

  constructor(private readonly options: LogOptions) {
    this.files = locateChain(options.file, options.chain);
  }

  get last(): Link {
    return this.ends.last;
  }

  /** The records that wait for the disk, since when the oldest has waited, and how many were dropped for lack of room. */
  backlog(): Backlog {
    const [oldest] = this.waiting;
    const sinceMs = oldest === undefined ? null : Date.parse(oldest.at);
    return { waiting: this.waiting.length, sinceMs, lost: this.lostEver };
  }

  /** Resolves once it is on the disk. @throws the error of the disk; the record then waits and is retried */
  append(entry: AuditEntry): Promise<void> {
    if (this.waiting.length >= AUDIT_LIMITS.waiting.max) {
      this.lost += 1;
      this.lostEver += 1;
      return Promise.reject(this.trouble ?? new Error('too many records are waiting'));
    }
    const at = new Date(this.options.now()).toISOString();
    const written = new Promise<void>((done, failed) => {
      this.waiting.push({ entry: truncateEntry(entry), at, done, failed });
    });
    void this.flush();
    return written;
  }

  /** Writes the waiting records, or tests whether records could be written. @throws the error of the disk */
  async ready(): Promise<void> {
    if (this.trouble === undefined && this.handle !== undefined) return;
    await this.flush();
    if (this.trouble !== undefined) throw this.trouble;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.handle?.close().catch(() => undefined);
    this.handle = undefined;
  }

  private flush(): Promise<void> {
    this.writing ??= this.drain().finally(() => {
      this.writing = undefined;
      // Records may have arrived after the last check and before this point.
      if (this.waiting.length > 0 && this.trouble === undefined) void this.flush();
    });
    return this.writing;
  }

  private async drain(): Promise<void> {
    try {
      do {
        if (this.handle === undefined) await this.open();
        if (this.waiting.length > 0) await this.write(this.waiting.slice(0, BATCH));
      } while (this.waiting.length > 0);
      this.trouble = undefined;
    } catch (error) {
      this.trouble = error instanceof Error ? error : new Error(String(error));
      await this.handle?.close().catch(() => undefined);
      this.handle = undefined;
      // Waiting callers get the error; the records stay queued.
      for (const { failed } of this.waiting) failed(this.trouble);
    }
  }

  private async write(batch: readonly PendingEntry[]): Promise<void> {
    await this.turnPage();
    const { server } = this.options;
    let at = this.ends.last;
    const records = batch.map((each) => {
      const record = linkRecord(at, each.entry, { at: each.at, server }, sha256);
      at = { seq: record.seq, hash: record.hash };
      return record;
    });
    const handle = this.handle as FileHandle;
    // Checked by name, because a deleted or moved file would still accept writes.
    const { size, ino } = await stat(this.files.current);
    if (size !== this.size || ino !== this.ino)
      throw new Error(`another process wrote or moved ${this.files.current}: each server needs its own file`);
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    this.unsure = records;
    await handle.appendFile(bytes);
    await handle.datasync();
    this.unsure = [];
    this.size += bytes.length;
    await this.confirmWritten(records);
  }

  private async confirmWritten(records: readonly AuditRecord[]): Promise<void> {
    const last = records.at(-1);
    if (last === undefined) return;
    this.begun ??= { seq: records[0]?.seq ?? last.seq, day: utcDay(records[0]?.at ?? last.at) };
    for (const { done } of this.waiting.splice(0, records.length)) done();
    await this.note({ ...this.ends, last: { seq: last.seq, hash: last.hash } });
    if (this.lost === 0) return;
    this.recordResult(`${this.lost} records were lost: too many were waiting for the disk`);
    this.lost = 0;
  }

  /** Records an event of the log itself. */
  private recordResult(result: string): void {
    this.options.log(`audit: ${result}`);
    const at = new Date(this.options.now()).toISOString();
    const entry = auditEntry({
      actor: null,
      door: 'server',
      operation: 'audit',
      target: '',
      outcome: 'accepted',
      result,
    });
    this.waiting.push({ entry: truncateEntry(entry), at, done: () => undefined, failed: () => undefined });
  }

  /** Written after the record, so that it may lag behind but never be ahead. */
  private async note(ends: Ends): Promise<void> {
    this.ends = ends;
    await replaceFile(this.files.ends, JSON.stringify(ends), { mode: 0o600, flush: false });
  }

  private async open(): Promise<void> {
    await mkdir(dirname(this.files.current), { recursive: true, mode: 0o700 });
    const noted = await readEnds(this.files);
    await this.putAsideTorn();
    const { first, last } = await this.findEnds();
    const own = this.ends.last.seq > 0 ? this.ends : undefined;
    if (noted === null && own === undefined && last !== undefined)
      this.recordResult(`the note of its ends was missing: records after ${last.seq} may be missing, too`);
    const known = own ?? noted ?? { first: first ?? CHAIN_START, last: CHAIN_START };
    // A noted record that is missing was removed. Numbering continues after it, so that verification finds the gap.
    this.ends = { first: known.first, last: last !== undefined && last.seq >= known.last.seq ? last : known.last };
    const reached = this.unsure.findIndex(({ hash }) => hash === this.ends.last.hash) + 1;
    for (const { done } of this.waiting.splice(0, reached)) done();
    this.unsure = [];
    await this.begin();
    await this.note(this.ends);
  }

  private async begin(): Promise<void> {
    this.handle = await open(this.files.current, 'a', 0o600);
    await this.handle.datasync();
    const { size, ino } = await this.handle.stat();
    this.size = size;
    this.ino = ino;
  }

  /** Moves aside a record that was incomplete when its server was killed. No caller got an answer for it. */
  private async putAsideTorn(): Promise<void> {
    const { current, torn } = this.files;
    const whole = await measureWholeLines(current);
    if (whole === undefined) return;
    const file = await open(current, 'r');
    try {
      const { size } = await file.stat();
      const rest = Buffer.alloc(size - whole);
      await file.read(rest, 0, rest.length, whole);
      await appendFile(torn, `${new Date(this.options.now()).toISOString()} ${JSON.stringify(rest.toString())}\n`, {
        mode: 0o600,
      });
      await truncate(current, whole);
      this.recordResult(`${rest.length} bytes of an incomplete record were moved to ${torn}`);
    } finally {
      await file.close();
    }
  }

  /** The ends of the chain on disk. */
  private async findEnds(): Promise<{ readonly first?: Link; readonly last?: Link }> {
    const parts = await listParts(this.files);
    const [oldest] = parts;
    const [first] = oldest === undefined ? [] : await readEdges(oldest.path);
    this.begun = undefined;
    let last: AuditRecord | undefined;
    for (const { path, first: seq } of [...parts].reverse()) {
      const [begin, end] = await readEdges(path);
      if (seq === null && begin !== undefined) this.begun = { seq: begin.seq, day: utcDay(begin.at) };
      last ??= end;
      if (last !== undefined) break;
    }
    return {
      ...(first === undefined ? {} : { first: { seq: first.seq - 1, hash: first.prev } }),
      ...(last === undefined ? {} : { last: { seq: last.seq, hash: last.hash } }),
    };
  }

  /** A file holds the records of one day, up to `maxBytes`. */
  private async turnPage(): Promise<void> {
    const { now, maxBytes } = this.options;
    if (this.begun === undefined || this.size === 0) return;
    if (this.size < maxBytes && this.begun.day === utcDay(new Date(now()).toISOString())) return;
    const older = this.files.older(this.begun.seq);
    if (await stat(older).catch(() => undefined)) throw new Error(`${older} already exists`);
    await this.handle?.close();
    this.handle = undefined;
    await rename(this.files.current, older);
    await this.begin();
    this.begun = undefined;
    await this.forgetOld();
  }

  /** Deletes whole files, oldest first. The note is written first: it says where the chain begins from then on. */
  private async forgetOld(): Promise<void> {
    const { now, keepMs, maxFiles = Infinity } = this.options;
    const parts = (await listParts(this.files)).filter(({ first }) => first !== null);
    for (const [index, { path }] of parts.entries()) {
      const [, last] = await readEdges(path);
      const isOld = last !== undefined && Date.parse(last.at) < now() - keepMs;
      if (last === undefined || !(isOld || parts.length - index > maxFiles)) return;
      await this.note({ ...this.ends, first: { seq: last.seq, hash: last.hash } });
      await unlink(path);
    }
  }
}

const utcDay = (at: string): string => at.slice(0, 10);
