import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditEntry, type AuditEntry, type AuditRecord } from '../../domain/audit/record';
import { AUDIT_LIMITS } from '../../domain/limits';
import { readAudit, verifyAudit, verifyChain } from '../../settings/audit/files';
import { ServerAudit } from '../../server/audit/audit';
import { AuditLog, type LogOptions } from '../../server/audit/log';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-23T20:00:00Z');

let folder: string;
let nowMs: number;
const said: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conveyor-audit-'));
  nowMs = START_MS;
  said.length = 0;
});
afterEach(() => {
  for (const each of [folder, gone()]) rmSync(each, { recursive: true, force: true });
});

const gone = (): string => `${folder}.gone`;
const file = (): string => join(folder, 'audit.jsonl');
const lines = (path = file()): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const records = (path = file()): AuditRecord[] => lines(path).map((line) => JSON.parse(line) as AuditRecord);

const logOf = (over: Partial<LogOptions> = {}): AuditLog =>
  new AuditLog({
    ...{ file: file(), chain: 'changes', server: 'front-1', keepMs: 10 * DAY_MS, maxBytes: 64 * 1_048_576 },
    ...{ now: () => nowMs, log: (line: string) => void said.push(line) },
    ...over,
  });

const auditOf = (): ServerAudit =>
  new ServerAudit({
    file: file(),
    server: 'front-1',
    keepMs: DAY_MS,
    now: () => nowMs,
    log: (line) => void said.push(line),
  });

const held = (n: number, over: Partial<AuditEntry> = {}): AuditEntry =>
  auditEntry({
    ...{ actor: 'user:alice', door: 'api', operation: 'hold', target: `kvstore/${n}`, outcome: 'accepted' },
    ...over,
  });

describe('the log of the audit', () => {
  test('writes records in the order in which they came, readable only by its own user', async () => {
    const log = logOf();
    await Promise.all(Array.from({ length: 600 }, (_, n) => log.append(held(n))));
    await log.close();
    expect(records().map(({ target }) => target)).toEqual(Array.from({ length: 600 }, (_, n) => `kvstore/${n}`));
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(await verifyChain(file(), 'changes')).toMatchObject({ records: 600, hasEnds: true, broken: null });
  });

  test('writes what comes at whatever moment, also just as the last is done', async () => {
    const log = logOf();
    const all: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n += 1) {
      const written = log.append(held(n));
      // So many turns later: at some of them the writer is about to rest.
      all.push(written.then(() => (n % 3 === 0 ? log.append(held(1_000 + n)) : undefined)));
      if (n % 7 === 0) await written;
    }
    await Promise.all(all);
    expect(lines()).toHaveLength(200 + 67);
    await log.close();
  });

  test('continues where it was after a restart', async () => {
    for (const n of [1, 2, 3]) {
      const log = logOf();
      await log.append(held(n));
      await log.close();
    }
    expect(records().map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await verifyChain(file(), 'changes')).broken).toBeNull();
  });

  test('puts aside what was being written when its server was killed, says so, and continues', async () => {
    const before = logOf();
    await before.append(held(1));
    await before.close();
    const whole = readFileSync(file(), 'utf8');
    writeFileSync(file(), `${whole}{"seq":2,"actor":"user:al`);
    const log = logOf();
    await log.append(held(2));
    await log.close();
    expect(records().map(({ operation }) => operation)).toEqual(['hold', 'hold', 'audit']);
    expect(records().at(-1)?.result).toContain('25 bytes of an incomplete record');
    expect(readFileSync(join(folder, 'audit.torn.txt'), 'utf8')).toContain('user:al');
    expect((await verifyChain(file(), 'changes')).broken).toBeNull();
  });

  test('shows records that were cut off at the end while no server ran, also after the next start', async () => {
    const log = logOf();
    for (const n of [1, 2, 3]) await log.append(held(n));
    await log.close();
    writeFileSync(file(), `${lines().slice(0, 1).join('\n')}\n`);
    expect((await verifyChain(file(), 'changes')).broken).toMatchObject({ seq: 2, file: file() });
    const next = logOf();
    await next.append(held(4));
    await next.close();
    expect((await verifyChain(file(), 'changes')).broken).toMatchObject({ seq: 4, line: 2 });
  });

  test('takes a file a day, drops whole old ones, and still shows what was taken out of those that are left', async () => {
    const log = logOf({ keepMs: 3 * DAY_MS });
    for (let day = 0; day < 8; day += 1) {
      nowMs = START_MS + day * DAY_MS;
      for (const n of [1, 2]) await log.append(held(day * 10 + n));
    }
    await log.close();
    const older = readdirSync(folder).filter((name) => /\d{12}/.test(name));
    expect(older).toEqual(['audit.000000000009.jsonl', 'audit.000000000011.jsonl', 'audit.000000000013.jsonl']);
    expect(await verifyChain(file(), 'changes')).toMatchObject({ records: 8, broken: null, last: { seq: 16 } });
    rmSync(join(folder, 'audit.000000000011.jsonl'));
    const gap = { seq: 13, line: 1, file: join(folder, 'audit.000000000013.jsonl') };
    expect((await verifyChain(file(), 'changes')).broken).toMatchObject(gap);
    rmSync(join(folder, 'audit.000000000009.jsonl'));
    expect((await verifyChain(file(), 'changes')).broken).toMatchObject(gap);
  });

  test('takes another file once one is large, and no more of them than fit', async () => {
    const log = logOf({ maxBytes: 2_000, maxFiles: 3 });
    for (let n = 0; n < 40; n += 1) await log.append(held(n));
    await log.close();
    expect(readdirSync(folder).filter((name) => /\d{12}/.test(name))).toHaveLength(3);
    expect(await verifyChain(file(), 'changes')).toMatchObject({ broken: null, last: { seq: 40 } });
  });

  test('says where a change is, and that a hash known from elsewhere is not there', async () => {
    const log = logOf();
    for (const n of [1, 2, 3]) await log.append(held(n));
    const { hash } = records()[1] as AuditRecord;
    await log.close();
    expect((await verifyChain(file(), 'changes', { seq: 2, hash })).broken).toBeNull();
    expect((await verifyChain(file(), 'changes', { seq: 2, hash: 'other' })).broken).toMatchObject({ seq: 2 });
    writeFileSync(file(), readFileSync(file(), 'utf8').replace('kvstore/2', 'kvstore/9'));
    expect((await verifyChain(file(), 'changes')).broken).toEqual({
      ...{ seq: 2, line: 2, file: file(), why: 'it was changed after it was written' },
    });
  });

  test('shows that records may be missing at the end where the note of the ends went with them, and proves them by a hash', async () => {
    const log = logOf();
    for (const n of [1, 2, 3]) await log.append(held(n));
    await log.close();
    const [first, , third] = records() as [AuditRecord, AuditRecord, AuditRecord];
    rmSync(join(folder, 'audit.ends.json'));
    writeFileSync(file(), `${lines().slice(0, 1).join('\n')}\n`);
    const gone = { seq: 2, line: 2, why: expect.stringMatching(/^records may be missing here/) as string };
    expect((await verifyChain(file(), 'changes')).broken).toMatchObject(gone);
    const anchored = (seq: number, hash: string) => verifyChain(file(), 'changes', { seq, hash });
    expect((await anchored(1, first.hash)).broken).toBeNull();
    expect((await anchored(3, third.hash)).broken).toMatchObject({ seq: 3 });
    // The next server notes new ends, and says so in the chain.
    const next = logOf();
    await next.append(held(4));
    await next.close();
    expect(records().map(({ result }) => result)).toContainEqual(
      'the note of its ends was missing: records after 1 may be missing, too',
    );
  });

  test('shows that all refusals were taken away, with the note of their ends', async () => {
    const audit = auditOf();
    await audit.ready();
    await audit.record(held(1));
    await audit.close();
    expect((await verifyAudit(file())).map(({ broken }) => broken)).toEqual([null, null]);
    for (const name of ['audit.refused.jsonl', 'audit.refused.ends.json']) rmSync(join(folder, name));
    expect((await verifyAudit(file())).map(({ broken }) => broken)).toMatchObject([
      ...[null, { why: 'its files are missing, and the note of its ends' }],
    ]);
  });

  test('refuses to write where another process does', async () => {
    const [one, other] = [logOf(), logOf()];
    await one.append(held(1));
    await other.append(held(2));
    await expect(one.append(held(3))).rejects.toThrow(/another process wrote/);
    await Promise.all([one.close(), other.close()]);
  });
});

describe('a disk that takes nothing', () => {
  /**
   * As a disk that is gone: what is below this path can be neither read nor written. In one step, since the note of a record's
   * number is written after its writer has the answer.
   */
  const away = (): void => {
    renameSync(folder, gone());
    writeFileSync(folder, 'a file');
  };
  const back = (): void => {
    rmSync(folder);
    mkdirSync(folder);
  };

  test('is reported to callers who change something, and operations done meanwhile are written later', async () => {
    const audit = auditOf();
    await audit.ready();
    away();
    // The first record finds out.
    await audit.record(held(1));
    await expect(audit.ready()).rejects.toMatchObject({ code: 'audit-unwritable', retryable: true });
    await audit.record(held(2));
    nowMs += 90_000;
    expect(audit.state()).toEqual({ unwritten: 2, waiting: 2, lagMs: 90_000, lost: 0, events: null });
    expect(said.join('\n')).toContain('this is not on record yet: hold kvstore/1');
    back();
    await audit.ready();
    await audit.record(held(3));
    await audit.close();
    expect(records().map(({ target }) => target)).toEqual(['kvstore/1', 'kvstore/2', 'kvstore/3']);
    expect(audit.state()).toMatchObject({ unwritten: 2, waiting: 0, lagMs: 0 });
    expect((await audit.verify()).map(({ broken }) => broken)).toEqual([null, null]);
  });

  test('is found before anything was changed', async () => {
    away();
    await expect(auditOf().ready()).rejects.toMatchObject({ code: 'audit-unwritable' });
    back();
    const audit = auditOf();
    await expect(audit.ready()).resolves.toBeUndefined();
    await audit.close();
  });

  test('leaves a visible gap when it comes back empty', async () => {
    const log = logOf();
    await log.append(held(1));
    away();
    await expect(log.append(held(2))).rejects.toThrow();
    back();
    await log.ready();
    await log.close();
    expect(records().map(({ seq }) => seq)).toEqual([2]);
    expect((await verifyChain(file(), 'changes')).broken).toMatchObject({ seq: 2, line: 1 });
  });

  test('does not take memory without end', async () => {
    away();
    const log = logOf();
    const outcomes = await Promise.allSettled(
      Array.from({ length: AUDIT_LIMITS.waiting.max + 5 }, (_, n) => log.append(held(n))),
    );
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    back();
    await log.ready();
    await log.close();
    expect(lines()).toHaveLength(AUDIT_LIMITS.waiting.max + 1);
    expect(records().filter(({ operation }) => operation === 'audit')[0]?.result).toContain('5 records were lost');
  });
});

describe('refusals', () => {
  test('refusals of strangers, however many, displace no record of an owner, and leave room for those of known people', async () => {
    const audit = auditOf();
    await audit.record(held(1));
    const stranger = auditEntry({ actor: null, door: 'api', operation: 'come-in', target: '', outcome: 'refused' });
    for (let n = 0; n < 3_000; n += 1) await audit.recordAnonymous(stranger, `203.0.113.${n % 7}`);
    await audit.record(held(2, { actor: 'user:eve', outcome: 'refused', result: 'not-permitted: no' }));
    nowMs += 60_000;
    await audit.sumUp();
    await audit.close();
    expect(records().map(({ target }) => target)).toEqual(['kvstore/1']);
    const refused = records(join(folder, 'audit.refused.jsonl'));
    expect(refused.filter(({ operation }) => operation === 'come-in')).toHaveLength(
      7 * AUDIT_LIMITS.refusalsOfSource.max,
    );
    expect(refused.filter(({ actor }) => actor === 'user:eve')).toHaveLength(1);
    expect(refused.at(-1)).toMatchObject({ operation: 'refusals', target: 'strangers' });
    expect(refused.at(-1)?.result).toContain('2,930 more were refused within a minute');
    const { records: read } = await readAudit(file(), { pipeline: 'kvstore', limit: 10 });
    expect(read.map(({ outcome }) => outcome).sort()).toEqual(['accepted', 'refused']);
  });
});

describe('whoever reads', () => {
  test('gets the newest first, page by page, by pipeline, actor and time', async () => {
    const audit = auditOf();
    for (let n = 0; n < 25; n += 1) {
      nowMs += 1_000;
      await audit.record(
        held(n, { outcome: n % 5 === 0 ? 'refused' : 'accepted', actor: n % 2 === 0 ? 'user:alice' : 'user:bob' }),
      );
    }
    const seen: string[] = [];
    let before: Awaited<ReturnType<typeof audit.read>>['next'] | undefined;
    for (let pages = 0; before !== null && pages < 10; pages += 1) {
      const page = await audit.read({ limit: 4, before: before ?? undefined });
      seen.push(...page.records.map(({ target }) => target));
      before = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => `kvstore/${24 - n}`));
    const since = new Date(nowMs - 3_000).toISOString();
    const bob = await audit.read({ limit: 100, since, actor: 'user:bob' });
    expect(bob.records.map(({ target }) => target)).toEqual(['kvstore/23', 'kvstore/21']);
    expect((await audit.read({ limit: 100, pipeline: 'web' })).records).toEqual([]);
    await audit.close();
  });
});
