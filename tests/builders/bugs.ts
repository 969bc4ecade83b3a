import type { Advisory } from '../../features/bugs/domain/advisory';
import {
  markBugClosed,
  isInForce,
  nextSearch,
  NO_BUGS,
  addBugReport,
  recordSearch,
  type Bug,
  type BugRecords,
} from '../../features/bugs/domain/bug';
import { BUG_LIMITS } from '../../domain/limits';

/** Versions in a range have the bug. */
export const RPC_ADVISORY: Advisory = {
  id: 'X-1',
  affected: [
    {
      package: { ecosystem: 'npm', name: 'rpc' },
      ranges: [{ type: 'SEMVER', events: [{ introduced: '1.0.0' }, { fixed: '1.4.0' }] }],
      versions: [],
    },
  ],
};

/** As reported, before any search for it. */
export const newBug = (about: Partial<Bug> = {}): Bug => ({
  ...{ id: 'bug/1', target: '//lib:rpc', from: '3', to: null, reason: 'it loses replies' },
  ...{ reportedBy: 'user:bob', at: '2026-11-20T12:00:00.000Z', closed: null, search: null },
  ...about,
});

const REASON = 'r'.repeat(1000);
const BY = `user:${'b'.repeat(120)}`;
const AT_MS = Date.parse('2026-11-20T12:00:00Z');

/** The largest allowed advisory. */
const LARGE_ADVISORY: Advisory = {
  id: 'X-1',
  affected: [{ package: { ecosystem: 'npm', name: 'rpc' }, ranges: [], versions: Array<string>(756).fill('1.0.0') }],
};

const HIT = {
  ...{ release: 'x'.repeat(80), owners: Array<string>(50).fill(`user:${'o'.repeat(120)}`) },
  ...{ artifact: 'y'.repeat(426), path: 'z'.repeat(400) },
};
const FOUND = {
  ...{ at: '2026-11-20T12:00:00.000Z', problem: null, asked: 30_000, affected: 12_000, exposed: 12_000 },
  ...{ releases: Array(10).fill(HIT), deployed: Array(10).fill(HIT), unread: { count: 1, why: 'w'.repeat(400) } },
};

/** The maximum number of bugs, each of the maximum size and searched for: those closed because they were no bugs, and those in force. */
export function fullBugRecords(): BugRecords {
  let records = withBugs(NO_BUGS, BUG_LIMITS.kept.max);
  for (const { id } of records.bugs) records = markBugClosed(records, { id, to: null, reason: REASON }, BY, AT_MS);
  records = withBugs(records, BUG_LIMITS.inForce.max);
  const last = { by: BY, at: '2026-11-20T12:00:00.000Z', reason: REASON };
  return { ...records, bugs: records.bugs.map((bug) => (isInForce(bug) ? { ...bug, to: 'fix', closed: last } : bug)) };
}

function withBugs(before: BugRecords, count: number): BugRecords {
  let records = before;
  for (let n = 0; n < count; n += 1) {
    const about = { target: 't'.repeat(256), from: `r${records.next}`, to: null, reason: REASON };
    records = addBugReport(records, { ...about, advisory: LARGE_ADVISORY }, BY, AT_MS).records;
  }
  for (let due = nextSearch(records); due; due = nextSearch(records)) records = recordSearch(records, due, FOUND);
  return records;
}
