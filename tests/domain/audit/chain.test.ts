import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { canonicalJson, ChainReader, linkRecord, CHAIN_START, type Ends, type Link } from '../../../domain/audit/chain';
import { Flood, summaryText } from '../../../domain/audit/flood';
import { auditChanges, auditEntry, truncateEntry, type AuditRecord } from '../../../domain/audit/record';
import { AUDIT_LIMITS } from '../../../domain/limits';
import { jsonBytes } from '../../../domain/size';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const NOW = { at: '2026-11-23T20:00:00.000Z', server: 'front-1' };

function chainOf(count: number, from: Link = CHAIN_START): AuditRecord[] {
  const records: AuditRecord[] = [];
  for (let n = 1; n <= count; n += 1) {
    const entry = auditEntry({
      ...{ actor: 'user:alice', door: 'api', operation: 'hold', target: `kvstore/${n}`, outcome: 'accepted' },
      reason: `because ${n}`,
    });
    records.push(linkRecord(records.at(-1) ?? from, entry, NOW, sha256));
  }
  return records;
}

const endsOf = (records: readonly AuditRecord[], first: Link = CHAIN_START): Ends => {
  const { seq, hash } = records.at(-1) ?? first;
  return { first, last: { seq, hash } };
};

function verified(lines: readonly (AuditRecord | string)[], ends: Ends | null = null) {
  const reader = new ChainReader(sha256, ends);
  for (const line of lines) reader.read(typeof line === 'string' ? line : JSON.stringify(line));
  return reader.end();
}

describe('a chain of records', () => {
  test('holds as it was written, also where its first files are gone', () => {
    const records = chainOf(9);
    expect(verified(records, endsOf(records))).toMatchObject({ records: 9, broken: null });
    const [, , third] = records;
    const rest = records.slice(3);
    expect(verified(rest, endsOf(rest, { seq: 3, hash: third?.hash ?? '' }))).toMatchObject({ broken: null });
  });

  test('may continue after what its server had noted, since the note comes after the record', () => {
    const records = chainOf(5);
    expect(verified(records, endsOf(records.slice(0, 3))).broken).toBeNull();
  });

  const world = fc.record({ count: fc.integer({ min: 1, max: 12 }), at: fc.nat(11), to: fc.nat(11) });
  const placed = (value: number, count: number) => value % count;

  test('shows any record that was taken out, also the first and the last', () => {
    fc.assert(
      fc.property(world, ({ count, at }) => {
        const records = chainOf(count);
        const gone = placed(at, count);
        const { broken } = verified(records.toSpliced(gone, 1), endsOf(records));
        // The one after is what stands in its place; after the last one nothing does.
        expect(broken?.line).toBe(gone + 1);
      }),
    );
  });

  test('shows any record that was changed, in whatever field, with or without a new hash', () => {
    const field = fc.constantFrom(...(Object.keys(chainOf(1)[0] ?? {}) as (keyof AuditRecord)[]));
    fc.assert(
      fc.property(world, field, fc.boolean(), ({ count, at }, name, isHashed) => {
        const records = chainOf(count);
        const place = placed(at, count);
        const { hash: _, ...forged } = { ...records[place], [name]: name === 'seq' ? -1 : 'forged' } as AuditRecord;
        const hash = isHashed ? sha256(`${forged.prev}\n${canonicalJson(forged)}`) : (records[place]?.hash ?? '');
        const line = name === 'hash' ? { ...forged, hash: 'forged' } : { ...forged, hash };
        const { broken } = verified(records.with(place, line), endsOf(records));
        expect(broken).not.toBeNull();
        // A forger who makes the hash anew is betrayed by the record that follows, or by what the server noted.
        expect([place + 1, place + 2]).toContain(broken?.line);
      }),
    );
  });

  test('shows records whose order was changed', () => {
    fc.assert(
      fc.property(world, ({ count, at, to }) => {
        const records = chainOf(count);
        const [one, other] = [placed(at, count), placed(to, count)];
        fc.pre(one !== other);
        const [a, b] = [records[one], records[other]] as [AuditRecord, AuditRecord];
        const { broken } = verified(records.with(one, b).with(other, a), endsOf(records));
        expect(broken?.line).toBe(Math.min(one, other) + 1);
      }),
    );
  });

  test('shows what was put in between, cut off within a line, or is not a record', () => {
    const records = chainOf(4);
    const [first] = records as [AuditRecord];
    expect(verified(records.toSpliced(1, 0, first), endsOf(records)).broken?.line).toBe(2);
    expect(verified([...records.slice(0, 3), JSON.stringify(records[3]).slice(0, 40)]).broken).toMatchObject({
      ...{ line: 4, seq: 4, why: 'it is not a record' },
    });
    expect(verified(['', ...records]).broken?.line).toBe(1);
    expect(verified([], endsOf(records)).broken).toMatchObject({ seq: 1, line: 1 });
  });

  test('is the same whatever the order of fields in its file', () => {
    const records = chainOf(3);
    const turned = records.map((record) => Object.fromEntries(Object.entries(record).reverse()) as never);
    expect(verified(turned, endsOf(records)).broken).toBeNull();
  });
});

describe('a record', () => {
  test('says what an apply changed, and how much more', () => {
    const before = { owners: ['user:alice'], actions: { a: 1 } };
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, n]));
    expect(auditChanges(before, { ...before, owners: ['user:eve'] })).toEqual({
      changes: [{ path: 'owners', from: '["user:alice"]', to: '["user:eve"]' }],
      omitted: 0,
    });
    const { changes, omitted } = auditChanges({}, many);
    expect(changes).toHaveLength(AUDIT_LIMITS.changes.max);
    expect(changes.length + omitted).toBe(50);
  });

  test('is bounded, whatever is written into it', () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.constantFrom('x', '"', '\u{1f600}', '\u001b'), (length, character) => {
        const long = character.repeat(length);
        const entry = truncateEntry({
          ...auditEntry({ actor: long, door: 'api', operation: 'hold', target: long, outcome: 'refused' }),
          ...{ reason: long, result: long },
          ...auditChanges({ [long]: long }, { [long]: `${long}!` }),
        });
        expect(jsonBytes(entry)).toBeLessThan(5 * 1024);
      }),
    );
  });
});

describe('refusals', () => {
  test('refusals of one source are written one by one up to its share, and counted beyond it', () => {
    const flood = new Flood();
    const admitted = Array.from({ length: 5_000 }, (_, n) => flood.admits('203.0.113.7', n));
    expect(admitted.filter(Boolean)).toHaveLength(AUDIT_LIMITS.refusalsOfSource.max);
    expect(flood.admits('user:alice', 59_999)).toBe(true);
    expect(flood.summary(59_999)).toBeUndefined();
    const summary = flood.summary(60_000);
    expect(summary && summaryText(summary)).toBe('4,990 more were refused within a minute: 4,990 of 203.0.113.7');
    expect(flood.summary(60_000)).toBeUndefined();
    expect(flood.admits('203.0.113.7', 60_000)).toBe(true);
  });

  test('refusals of any number of sources stay within the limit a minute, and each is counted', () => {
    const flood = new Flood();
    const admitted = Array.from({ length: 20_000 }, (_, n) => flood.admits(`source ${n}`, 0)).filter(Boolean).length;
    expect(admitted).toBe(AUDIT_LIMITS.refusals.max);
    const summary = flood.summary(0, true);
    expect(summary?.count).toBe(20_000 - admitted);
    expect(summary?.sources).toHaveLength(10);
  });
});
