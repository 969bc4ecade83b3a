import fc from 'fast-check';
import {
  bugWords,
  closed,
  isInForce,
  nextSearch,
  NO_BUGS,
  numberOfBug,
  reported,
  searched,
  whyNotClose,
  whyNotReport,
  type BugRecords,
  type BugReport,
} from '../../../domain/bugs/bug';
import { BUG_LIMITS } from '../../../domain/limits';
import { jsonBytes } from '../../../domain/size';

const REPORT: BugReport = { target: '//lib:rpc', from: '3', to: null, reason: 'it loses replies' };
const BOB = 'user:bob';
const SEARCH = { at: 'now', problem: null, asked: 5, affected: 1, releases: [], exposed: 0, deployed: [] };

const withReports = (count: number, more: Partial<BugReport> = {}, start: BugRecords = NO_BUGS): BugRecords =>
  Array.from({ length: count }).reduce<BugRecords>(
    (records) => reported(records, { ...REPORT, from: `r${records.next}`, ...more }, BOB, 0).records,
    start,
  );

test('bugs are numbered in order, and whoever reports the same again means the same bug', () => {
  const first = reported(NO_BUGS, REPORT, BOB, 0);
  const again = reported(first.records, { ...REPORT, reason: 'in other words' }, 'user:eve', 1);
  expect(again).toEqual(first);
  const other = reported(first.records, { ...REPORT, to: '7' }, BOB, 0);
  expect([first.bug.id, other.bug.id]).toEqual(['bug/1', 'bug/2']);
});

test.each([
  [{ target: '' }, 'the target is missing'],
  [{ from: ' ' }, 'the revision from is missing'],
  [{ to: '' }, 'the revision to is missing'],
  [{ to: '3' }, '3 cannot both have the bug and be its fix'],
  [{ target: 'x'.repeat(257) }, 'the target has 257 bytes, and 256 is the most'],
  [{ target: 'ü'.repeat(129) }, 'the target has 258 bytes, and 256 is the most'],
  [{ reason: 'x'.repeat(1001) }, 'the reason has 1001 bytes, and 1000 is the most'],
  [{ from: 12 as never }, 'the revision from is missing'],
])('a report with %j is refused: %s', (more, why) => {
  expect(whyNotReport(NO_BUGS, { ...REPORT, ...more }, BOB)).toBe(why);
});

test.each(['', 'bob', 'group:storage'])('nobody reports a bug as %j', (actor) => {
  expect(whyNotReport(NO_BUGS, REPORT, actor)).toMatch(/is no person and no program/);
});

test('as many bugs as the limit has may be in force, one more is refused, and the same as before is not one more', () => {
  const full = withReports(BUG_LIMITS.inForce.max);
  expect(whyNotReport(withReports(BUG_LIMITS.inForce.max - 1), REPORT, BOB)).toBeUndefined();
  expect(whyNotReport(full, REPORT, BOB)).toMatch(/100 bugs are in force, and no more may be/);
  expect(whyNotReport(full, { ...REPORT, from: 'r1' }, BOB)).toBeUndefined();
  const room = closed(full, { id: 'bug/4', to: null, reason: 'none' }, BOB, 0);
  expect(whyNotReport(room, REPORT, BOB)).toBeUndefined();
});

test('a bug whose fix is known stays in force when it is closed, and one that was none does not', () => {
  const records = withReports(2);
  const fixed = closed(records, { id: 'bug/1', to: '9', reason: 'fixed' }, BOB, 0);
  const none = closed(fixed, { id: 'bug/2', to: null, reason: 'none' }, BOB, 0);
  expect(none.bugs.map(isInForce)).toEqual([true, false]);
  expect(whyNotClose(none, { id: 'bug/2', to: null, reason: 'r' }, BOB)).toBe('bug/2 is closed already');
  expect(whyNotClose(none, { id: 'bug/3', to: null, reason: 'r' }, BOB)).toBe('there is no bug/3');
  expect(whyNotClose(none, { id: 'bug/1', to: null, reason: 'old' }, BOB)).toBeUndefined();
  expect(bugWords(none.bugs[0]!)).toBe('bug/1 in //lib:rpc (from r1, fixed in 9): it loses replies');
});

test('of those that were none the newest are kept; nothing in force is ever dropped', () => {
  const kept = BUG_LIMITS.kept.max;
  let records = withReports(3);
  for (let n = 0; n < kept + 5; n += 1) {
    records = withReports(1, {}, records);
    records = closed(records, { id: `bug/${records.next - 1}`, to: null, reason: 'none' }, BOB, 0);
  }
  expect(records.bugs).toHaveLength(3 + kept);
  expect(records.bugs.filter(isInForce).map(({ id }) => id)).toEqual(['bug/1', 'bug/2', 'bug/3']);
});

test('each bug is searched for at once and a second time, and what both found counts together', () => {
  let { records } = reported(NO_BUGS, REPORT, BOB, 1_000);
  const times: number[] = [];
  for (let due = nextSearch(records); due; due = nextSearch(records)) {
    times.push(due.atMs);
    records = searched(records, due, SEARCH);
  }
  expect(times).toEqual([1_000, 31_000]);
  expect(records.bugs[0]?.search).toMatchObject({ asked: 10, affected: 2 });
});

test('a search that a graph refused does not hide what another found', () => {
  const problem = { ...SEARCH, asked: 0, affected: 0, problem: 'refused' };
  const { records } = reported(NO_BUGS, REPORT, BOB, 0);
  const [first, second] = records.due;
  const found = searched(searched(records, first!, SEARCH), second!, problem);
  const late = searched(searched(records, first!, problem), second!, SEARCH);
  expect([found, late].map(({ bugs }) => bugs[0]?.search?.affected)).toEqual([1, 1]);
});

test('all bugs that there may be fit into one history', () => {
  const hit = { release: 'x'.repeat(80), owners: ['user:someone'], artifact: 'y'.repeat(250), path: 'z'.repeat(400) };
  const many = Array.from({ length: 15 }, () => hit);
  let records = withReports(BUG_LIMITS.inForce.max, { target: 't'.repeat(256), reason: 'r'.repeat(1000) });
  for (let due = nextSearch(records); due; due = nextSearch(records))
    records = searched(records, due, { ...SEARCH, releases: many.slice(0, 10), deployed: many.slice(0, 10) });
  expect(records.bugs.every(({ search }) => search?.releases.length === BUG_LIMITS.shown.max)).toBe(true);
  expect(jsonBytes(records)).toBeLessThan(1_900_000);
});

test('nothing but bug/N names a bug', () => {
  expect(numberOfBug('bug/7')).toBe(7);
  fc.assert(fc.property(fc.string(), (text) => numberOfBug(text) === undefined || /^bug\/[1-9]\d*$/.test(text)));
  for (const text of ['7', 'bug/0', 'bug/07', 'bug/7/1', 'bug/x']) expect(numberOfBug(text)).toBeUndefined();
});
