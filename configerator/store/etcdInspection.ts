import { refusePath } from '../domain/commits';
import { splitIntoBatches, type CommitPart } from './batches';
import type { EtcdApi } from './etcdApi';
import { Keys } from './etcdKeys';
import type { EtcdRecords } from './etcdRecords';
import { scan } from './etcdScan';
import type { FoundOverride, FoundRecords, FoundValue, InspectionResult, Inspection } from './inspection';
import type { KeyValue } from './etcdWire';

/** How many records are read at once: each may be as large as a value. */
const RECORDS_A_PAGE = 50;

export class EtcdInspection implements Inspection {
  constructor(
    private readonly api: EtcdApi,
    private readonly records: EtcdRecords,
  ) {}

  get isSigned(): boolean {
    return this.records.isSigned;
  }

  async look(repository: string, since: number): Promise<InspectionResult> {
    const keys = new Keys(repository);
    const { kvs, revision } = await this.api.range({ key: keys.head });
    // If the store was set back to an older state, reads it from its beginning.
    const records = await this.listWritten(keys, revision < since ? 0 : since, revision);
    const head = this.records.head(keys.head, kvs[0]?.value);
    return { head, headAt: kvs[0]?.modRevision ?? 0, ...this.parseRecords(keys, records), revision };
  }

  /** The records of one path. */
  async lookAt(repository: string, path: string): Promise<FoundRecords> {
    refusePath(path);
    const keys = new Keys(repository);
    return this.parseRecords(keys, await scan(this.api, { ...keys.pathRange(path), limit: RECORDS_A_PAGE }));
  }

  async putBack(...[repository, headAt, { head, values }]: Parameters<Inspection['putBack']>): Promise<boolean> {
    const keys = new Keys(repository);
    const first = head === undefined ? [] : [{ key: keys.head, value: this.records.encode(keys.head, head, null) }];
    const puts = values.map(({ path, value, overrules, ...header }) => {
      const key = keys.value(path);
      const own = { ...header, ...(overrules.length === 0 ? {} : { overrules }) };
      return { key, value: this.records.encode(key, own, value) };
    });
    let modRevision = headAt;
    for (const batch of splitIntoBatches([...first, ...puts].map((put): CommitPart => ({ operations: [{ put }] })))) {
      if (batch.length === 0) continue;
      const operations = batch.flatMap((part) => part.operations);
      const { succeeded, revision } = await this.api.transact(operations, { key: keys.head, modRevision });
      if (!succeeded) return false;
      if (operations.some((one) => 'put' in one && one.put.key === keys.head)) modRevision = revision;
    }
    return true;
  }

  async touch(repository: string, paths: readonly string[]): Promise<void> {
    const keys = new Keys(repository);
    const marks = paths.map((path): CommitPart => ({
      operations: [{ put: { key: keys.exposureMark(path), value: '' } }],
    }));
    for (const batch of splitIntoBatches(marks))
      if (batch.length > 0) await this.api.transact(batch.flatMap(({ operations }) => operations));
  }

  private parseRecords(keys: Keys, found: readonly KeyValue[]): FoundRecords {
    const values: FoundValue[] = [];
    const overrides: FoundOverride[] = [];
    for (const { key, value } of found) {
      const { path, override: id } = keys.parsePart(key) ?? {};
      if (path === undefined) continue;
      if (id === undefined) values.push({ path, ...this.records.value(key, path, value) });
      else overrides.push({ path, id, ...this.records.override(key, path, value) });
    }
    return { values, overrides };
  }

  private listWritten(keys: Keys, since: number, revision: number): Promise<readonly KeyValue[]> {
    const asked = { ...keys.ofPaths, limit: RECORDS_A_PAGE, revision };
    return scan(this.api, since === 0 ? asked : { ...asked, minModRevision: since + 1 });
  }
}
