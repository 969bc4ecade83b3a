import { judgeCommit, refusePath } from '../domain/commits';
import { conveyorError } from '../../domain/errors';
import { splitIntoBatches, splitIntoGroups, type CommitPart } from './batches';
import { refuseOverrides } from './doors';
import { EtcdAcknowledgements } from './etcdAcknowledge';
import { EtcdApi, type EtcdOptions } from './etcdApi';
import { EtcdInspection } from './etcdInspection';
import type { EtcdOperation } from './etcdWire';
import { Keys } from './etcdKeys';
import { EtcdRecords, type FoundRecord, type HeadRecord } from './etcdRecords';
import { EtcdWatch, type Patience } from './etcdWatch';
import type { HostAcknowledgement, ConfigStore, Head, Override, StoredCommit, StoredValue } from './port';
import { StoreSigning, type SigningKeys } from './signatures';

/** How many concurrent changes of the head are tolerated before giving up. */
const TRIES = 10;
/** How many keys one transaction looks up. */
const READS = 100;

/** The store in etcd 3.4 or newer (docs/design/config.md#store). */
export class EtcdStore implements ConfigStore {
  private readonly api: EtcdApi;
  private readonly acknowledgements: EtcdAcknowledgements;
  private readonly records: EtcdRecords;
  /** Reads all records, including untrusted ones. */
  readonly inspection: EtcdInspection;

  constructor(
    { signing, ...options }: EtcdOptions & { readonly signing?: SigningKeys | undefined },
    private readonly patience: Partial<Patience> = {},
  ) {
    this.api = new EtcdApi(options);
    this.acknowledgements = new EtcdAcknowledgements(this.api);
    this.records = new EtcdRecords(new StoreSigning(signing));
    this.inspection = new EtcdInspection(this.api, this.records);
  }

  async head(repository: string): Promise<Head | undefined> {
    return toHead((await this.readHead(repository)).record);
  }

  async apply(repository: string, commit: StoredCommit): Promise<'applied' | 'already'> {
    const keys = new Keys(repository);
    for (let left = TRIES; left > 0; left -= 1) {
      const { record, modRevision } = await this.readHead(repository);
      if (judgeCommit(repository, toHead(record), commit) === 'already') return 'already';
      if (await this.applyTo(keys, record, modRevision, commit)) return 'applied';
    }
    const detail = `others moved the head of ${repository} ${TRIES} times meanwhile`;
    throw conveyorError('store-unavailable', { store: this.api.url, detail });
  }

  async read(repository: string, path: string): Promise<StoredValue | undefined> {
    refusePath(path);
    const { kvs } = await this.api.range({ key: new Keys(repository).value(path) });
    if (kvs[0] === undefined) return undefined;
    const { stored } = this.requireTrusted(
      repository,
      `the value of ${path}`,
      this.records.value(kvs[0].key, path, kvs[0].value),
    );
    return stored ?? undefined;
  }

  async putOverrides(repository: string, overrides: readonly Override[]): Promise<void> {
    refuseOverrides(overrides);
    const keys = new Keys(repository);
    const puts = overrides.map(({ id, path, value, ...rest }) => {
      const key = keys.override(path, id);
      const text = this.records.encode(key, { id, ...rest }, value);
      const marks = [keys.indexKey(id, path), keys.exposureMark(path)].map((mark) => ({
        put: { key: mark, value: '' },
      }));
      return { key, text, operations: [{ put: { key, value: text } }, ...marks] };
    });
    for (const batch of splitIntoBatches(puts)) {
      const there = await this.readValues(batch.map(({ key }) => key));
      const news = batch.filter(({ key, text }) => there.get(key) !== text);
      if (news.length > 0) await this.api.transact(dropRepeatedKeys(news.flatMap(({ operations }) => operations)));
    }
  }

  async removeOverrides(repository: string, id: string, paths?: readonly string[]): Promise<void> {
    const keys = new Keys(repository);
    const gone = (await this.findOverridden(keys, id, paths)).map((path): CommitPart => {
      const ours = [keys.override(path, id), keys.indexKey(id, path)].map((key) => ({ delete: { key } }));
      return { operations: [...ours, { put: { key: keys.exposureMark(path), value: '' } }] };
    });
    for (const batch of splitIntoBatches(gone))
      if (batch.length > 0) await this.api.transact(batch.flatMap(({ operations }) => operations));
  }

  async overrides(repository: string, path: string): Promise<readonly Override[]> {
    refusePath(path);
    const { kvs } = await this.api.range(new Keys(repository).overrideRange(path));
    return kvs.flatMap(({ key, value }) => {
      const { it, fault } = this.records.override(key, path, value);
      return it === undefined || fault !== undefined ? [] : [it];
    });
  }

  watch(...[repository, paths, from, on, signal, onAway, onHere]: Parameters<ConfigStore['watch']>): Promise<void> {
    const watch = new EtcdWatch(this.api, new Keys(repository), this.records, paths, this.patience);
    return watch.run(from, { on, onAway, onHere }, signal);
  }

  acknowledge(repository: string, what: HostAcknowledgement, ttlSeconds: number): Promise<void> {
    return this.acknowledgements.put(new Keys(repository), what, ttlSeconds);
  }

  subscribers(repository: string, path: string): Promise<readonly HostAcknowledgement[]> {
    return this.acknowledgements.list(new Keys(repository), path);
  }

  /** Writes the missing part of a commit, in transactions that each expect the head that the previous one left. */
  private async applyTo(keys: Keys, before: HeadRecord, seen: number, commit: StoredCommit): Promise<boolean> {
    const { sequence, values } = commit;
    const skipped = before.partly?.commit === commit.commit ? before.partly.done : 0;
    const puts = values.slice(skipped).map(({ path, value, version }): CommitPart => {
      const key = keys.value(path);
      const text = this.records.encode(key, { version, commit: commit.commit, sequence }, value);
      return { operations: [{ put: { key, value: text } }] };
    });
    const batches = splitIntoBatches(puts);
    let [done, modRevision] = [skipped, seen];
    for (const [index, batch] of batches.entries()) {
      done += batch.length;
      const head: HeadRecord =
        index === batches.length - 1
          ? { sequence, commit: commit.commit }
          : { ...before, partly: { commit: commit.commit, done } };
      const mark: EtcdOperation = { put: { key: keys.head, value: this.records.encode(keys.head, head, null) } };
      const operations = [...batch.flatMap((group) => group.operations), mark];
      const { succeeded, revision } = await this.api.transact(operations, { key: keys.head, modRevision });
      if (!succeeded) return false;
      modRevision = revision;
    }
    return true;
  }

  /** The overridden paths, among the named ones if any are given. */
  private async findOverridden(keys: Keys, id: string, named?: readonly string[]): Promise<readonly string[]> {
    if (named === undefined) {
      const { kvs } = await this.api.range({ ...keys.indexRange(id), keysOnly: true });
      return kvs.map(({ key }) => keys.parseIndexKey(key));
    }
    const there: string[] = [];
    for (const some of splitIntoGroups([...new Set(named)], READS)) {
      const reads = some.map((path) => ({ range: { key: keys.override(path, id), keysOnly: true } }));
      const { ranges } = await this.api.transact(reads);
      there.push(...some.filter((_, at) => (ranges[at] ?? []).length > 0));
    }
    return there;
  }

  private async readHead(repository: string): Promise<{ record: HeadRecord; modRevision: number }> {
    const { head: key } = new Keys(repository);
    const { kvs } = await this.api.range({ key });
    const record = this.requireTrusted(repository, 'the head', this.records.head(key, kvs[0]?.value));
    return { record, modRevision: kvs[0]?.modRevision ?? 0 };
  }

  private requireTrusted<T>(repository: string, what: string, { it, fault }: FoundRecord<T>): T {
    if (it !== undefined && fault === undefined) return it;
    throw conveyorError('store-forged', { repository, what, why: fault ?? '' });
  }

  private async readValues(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { ranges } = await this.api.transact(keys.map((key) => ({ range: { key } })));
    return new Map(ranges.flat().map(({ key, value }) => [key, value]));
  }
}

/** etcd refuses a transaction with a duplicate key: two overrides of one path would mark it twice. */
const dropRepeatedKeys = <T extends { readonly put: { readonly key: string } }>(puts: readonly T[]): T[] => [
  ...new Map(puts.map((one) => [one.put.key, one])).values(),
];

const toHead = ({ sequence, commit }: HeadRecord): Head | undefined =>
  sequence === 0 ? undefined : { sequence, commit };
