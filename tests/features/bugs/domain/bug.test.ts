import fc from 'fast-check';
import {
  bugWords,
  markBugClosed,
  isInForce,
  nextSearch,
  NO_BUGS,
  numberOfBug,
  postponeSearch,
  addBugReport,
  reportOfAdvisory,
  recordSearch,
  whyNotClose,
  whyNotReport,
  type BugRecords,
  type BugReport,
} from '../../../../features/bugs/domain/bug';
import { BUG_LIMITS } from '../../../../domain/limits';
import { jsonBytes } from '../../../../domain/size';
import { fullBugRecords, RPC_ADVISORY } from '../../../builders/bugs';

const REPORT: BugReport = { target: '//lib:rpc', from: '3', to: null, reason: 'it loses replies' };
const BOB = 'user:bob';
const SEARCH = { at: 'now', problem: null, asked: 5, affected: 1, releases: [], exposed: 0, deployed: [] };

const withReports = (count: number, more: Partial<BugReport> = {}, start: BugRecords = NO_BUGS): BugRecords =>
  Array.from({ length: count }).reduce<BugRecords>(
    (records) => addBugReport(records, { ...REPORT, from: `r${records.next}`, ...more }, BOB, 0).records,
    start,
  );

test('bugs are numbered in order, and a repeated report means the same bug', () => {
  const first = addBugReport(NO_BUGS, REPORT, BOB, 0);
  const again = addBugReport(first.records, { ...REPORT, reason: 'in other words' }, 'user:eve', 1);
  expect(again).toEqual(first);
  const other = addBugReport(first.records, { ...REPORT, to: '7' }, BOB, 0);
  expect([first.bug.id, other.bug.id]).toEqual(['bug/1', 'bug/2']);
});

test.each([
  [{ target: '' }, 'the target is missing'],
  [{ from: ' ' }, 'the revision from is missing'],
  [{ to: '' }, 'the revision to is missing'],
  [{ to: '3' }, '3 cannot both have the bug and be its fix'],
  [{ target: 'x'.repeat(257) }, 'the target has 257 bytes; the limit is 256'],
  [{ target: 'ü'.repeat(129) }, 'the target has 258 bytes; the limit is 256'],
  [{ reason: 'x'.repeat(1001) }, 'the reason has 1001 bytes; the limit is 1000'],
  [{ from: 12 as never }, 'the revision from is missing'],
])('a report with %j is refused: %s', (more, why) => {
  expect(whyNotReport(NO_BUGS, { ...REPORT, ...more }, BOB)).toBe(why);
});

test.each(['', 'bob', 'group:storage'])('a report of a bug as %j is refused', (actor) => {
  expect(whyNotReport(NO_BUGS, REPORT, actor)).toMatch(/is neither a person nor a program/);
});

test('as many bugs as the limit has may be in force, one more is refused, and the same as before is not one more', () => {
  const full = withReports(BUG_LIMITS.inForce.max);
  expect(whyNotReport(withReports(BUG_LIMITS.inForce.max - 1), REPORT, BOB)).toBeUndefined();
  expect(whyNotReport(full, REPORT, BOB)).toMatch(/100 bugs are in force, the most allowed/);
  expect(whyNotReport(full, { ...REPORT, from: 'r1' }, BOB)).toBeUndefined();
  const room = markBugClosed(full, { id: 'bug/4', to: null, reason: 'none' }, BOB, 0);
  expect(whyNotReport(room, REPORT, BOB)).toBeUndefined();
});

test('a bug whose fix is known stays in force when it is closed, and one that was none does not', () => {
  const records = withReports(2);
  const fixed = markBugClosed(records, { id: 'bug/1', to: '9', reason: 'fixed' }, BOB, 0);
  const none = markBugClosed(fixed, { id: 'bug/2', to: null, reason: 'none' }, BOB, 0);
  expect(none.bugs.map(isInForce)).toEqual([true, false]);
  expect(whyNotClose(none, { id: 'bug/2', to: null, reason: 'r' }, BOB)).toBe('bug/2 is already closed');
  expect(whyNotClose(none, { id: 'bug/3', to: null, reason: 'r' }, BOB)).toBe('there is no bug/3');
  expect(whyNotClose(none, { id: 'bug/1', to: null, reason: 'old' }, BOB)).toBeUndefined();
  expect(bugWords(none.bugs[0]!)).toBe('bug/1 in //lib:rpc (from r1, fixed in 9): it loses replies');
});

test('the newest of the mistaken ones are kept; nothing in force is ever dropped', () => {
  const kept = BUG_LIMITS.kept.max;
  let records = withReports(3);
  for (let n = 0; n < kept + 5; n += 1) {
    records = withReports(1, {}, records);
    records = markBugClosed(records, { id: `bug/${records.next - 1}`, to: null, reason: 'none' }, BOB, 0);
  }
  expect(records.bugs).toHaveLength(3 + kept);
  expect(records.bugs.filter(isInForce).map(({ id }) => id)).toEqual(['bug/1', 'bug/2', 'bug/3']);
});

test('each bug is searched for at once and a second time, and what both found counts together', () => {
  let { records } = addBugReport(NO_BUGS, REPORT, BOB, 1_000);
  const times: number[] = [];
  for (let due = nextSearch(records); due; due = nextSearch(records)) {
    times.push(due.atMs);
    records = recordSearch(records, due, SEARCH);
  }
  expect(times).toEqual([1_000, 31_000]);
  expect(records.bugs[0]?.search).toMatchObject({ asked: 10, affected: 2 });
});

test('a search that fails lets others go first, and the second of a bug never comes before its first', () => {
  const bugs = withReports(1, { target: 'X-1', advisory: RPC_ADVISORY }, withReports(2));
  const [failing] = bugs.due;
  const later = postponeSearch(bugs, failing!, 60_000);
  const order: string[] = [];
  for (let rest = later, due = nextSearch(rest); due; due = nextSearch(rest)) {
    order.push(`${due.id}${due.again ? ' again' : ''} at ${due.atMs / 1000}`);
    rest = recordSearch(rest, due, SEARCH);
  }
  expect(order).toEqual([
    ...['bug/3 at 0', 'bug/3 again at 30', 'bug/2 at 120', 'bug/2 again at 120'],
    ...['bug/1 at 120', 'bug/1 again at 120'],
  ]);
});

test('a search that fails once its bug is closed is not made again', () => {
  const records = withReports(1);
  const none = markBugClosed(records, { id: 'bug/1', to: null, reason: 'none' }, BOB, 0);
  expect(postponeSearch(none, records.due[0]!, 0).due).toEqual([]);
});

test('a search that a graph refused does not hide what another found', () => {
  const problem = { ...SEARCH, asked: 0, affected: 0, problem: 'refused' };
  const { records } = addBugReport(NO_BUGS, REPORT, BOB, 0);
  const [first, second] = records.due;
  const found = recordSearch(recordSearch(records, first!, SEARCH), second!, problem);
  const late = recordSearch(recordSearch(records, first!, problem), second!, SEARCH);
  expect([found, late].map(({ bugs }) => bugs[0]?.search?.affected)).toEqual([1, 1]);
});

test('all bugs that there may be fit into one history', () => {
  const records = fullBugRecords();
  expect(records.bugs).toHaveLength(BUG_LIMITS.kept.max + BUG_LIMITS.inForce.max);
  expect(records.bugs.at(-1)?.search?.releases.length).toBeGreaterThan(0);
  for (const { advisory } of records.bugs.filter(isInForce))
    expect(jsonBytes(advisory)).toBeGreaterThan(BUG_LIMITS.advisory.max - 20);
  expect(jsonBytes(records)).toBeLessThan(1_900_000);
});

test('ten releases of the usual size are shown of each kind', () => {
  const hit = {
    ...{ release: 'kvstore/12', owners: ['user:alice', 'group:storage'] },
    ...{ artifact: 'executable@kv:12', path: '//kv:server > //kv/log > //lib:rpc' },
  };
  const { records } = addBugReport(NO_BUGS, REPORT, BOB, 0);
  const many = Array.from({ length: 15 }, () => hit);
  const [bug] = recordSearch(records, records.due[0]!, { ...SEARCH, releases: many, deployed: many }).bugs;
  expect([bug?.search?.releases.length, bug?.search?.deployed.length]).toEqual([10, 10]);
});

describe('a bug that is an advisory', () => {
  test('is named by its id and the versions that it affects, and the same text is the same bug', () => {
    const first = addBugReport(NO_BUGS, reportOfAdvisory(RPC_ADVISORY, 'no'), BOB, 0);
    expect(bugWords(first.bug)).toBe('bug/1 in X-1 (rpc from 1.0.0 before 1.4.0): no');
    expect(addBugReport(first.records, reportOfAdvisory(RPC_ADVISORY, 'again'), BOB, 0).bug.id).toBe('bug/1');
    const wider = { ...RPC_ADVISORY, affected: [...RPC_ADVISORY.affected, ...RPC_ADVISORY.affected] };
    expect(addBugReport(first.records, reportOfAdvisory(wider, 'more'), BOB, 0).bug.id).toBe('bug/2');
  });

  test('has no other fix than it says itself, and is closed as none', () => {
    const { records } = addBugReport(NO_BUGS, reportOfAdvisory(RPC_ADVISORY, 'no'), BOB, 0);
    expect(whyNotClose(records, { id: 'bug/1', to: '1.4.0', reason: 'r' }, BOB)).toBe(
      'X-1 says itself which versions are fixed: report it as it reads now, and close bug/1 without --to',
    );
    const none = markBugClosed(records, { id: 'bug/1', to: null, reason: 'r' }, BOB, 0);
    expect(none.bugs.map(isInForce)).toEqual([false]);
  });

  test.each([
    [
      'too large',
      { id: 'X-1', affected: [{ ...RPC_ADVISORY.affected[0], versions: Array(2_000).fill('1.0.0') }] },
      /^the advisory has \d+ bytes; the limit is 6144/,
    ],
    ['none', { id: 'X-1' }, /^the advisory names no packages/],
    ['nothing at all', null, /^the advisory names no packages/],
    ['of no package', { id: 'X-1', affected: [null] }, /^the advisory names no packages/],
    [
      'of a range without versions',
      { id: 'X-1', affected: [{ ...RPC_ADVISORY.affected[0], ranges: [{ type: 'SEMVER', events: [null] }] }] },
      /^the advisory names no packages/,
    ],
  ])('and is %s is refused, also where it comes past the doors', (_, advisory, why) => {
    const report = { ...reportOfAdvisory(RPC_ADVISORY, 'r'), advisory: advisory as never };
    expect(whyNotReport(NO_BUGS, report, BOB)).toMatch(why);
  });
});

test('SBOMs that cannot be read are counted over both searches', () => {
  const { records } = addBugReport(NO_BUGS, REPORT, BOB, 0);
  const [first, second] = records.due;
  const once = recordSearch(records, first!, { ...SEARCH, unread: { count: 2, why: 'it is not JSON' } });
  expect(recordSearch(once, second!, SEARCH).bugs[0]?.search?.unread).toEqual({ count: 2, why: 'it is not JSON' });
  expect(recordSearch(once, second!, { ...SEARCH, unread: { count: 1, why: 'gone' } }).bugs[0]?.search?.unread).toEqual(
    {
      ...{ count: 3, why: 'it is not JSON' },
    },
  );
});

test('nothing but bug/N names a bug', () => {
  expect(numberOfBug('bug/7')).toBe(7);
  fc.assert(fc.property(fc.string(), (text) => numberOfBug(text) === undefined || /^bug\/[1-9]\d*$/.test(text)));
  for (const text of ['7', 'bug/0', 'bug/07', 'bug/7/1', 'bug/x']) expect(numberOfBug(text)).toBeUndefined();
});
