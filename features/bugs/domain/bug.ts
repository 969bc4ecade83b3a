import { conveyorError } from '../../../domain/errors';
import { BUG_LIMITS, REQUEST_LIMITS } from '../../../domain/limits';
import { describeAffected, hasPackages, type Advisory } from './advisory';
import { isGroup, PRINCIPAL } from '../../../domain/principals';
import type { Proofs } from '../../../domain/proof';
import { cutText, firstWithin, jsonBytes, utf8Bytes } from '../../../domain/size';
import { formatTime } from '../../../domain/text';

/** A reported bug: in a target, at revisions from `from` until before `to`; null while no fix is known. */
export interface BugReport {
  readonly target: string;
  readonly from: string;
  readonly to: string | null;
  readonly reason: string;
  /**
   * The target is then its id, `from` is `0` and there is no `to`, because the advisory itself lists the affected
   * versions.
   */
  readonly advisory?: Advisory;
}

/** The report for an advisory. */
export const reportOfAdvisory = (advisory: Advisory, reason: string): BugReport => ({
  ...{ target: advisory.id, from: '0', to: null },
  ...{ reason, advisory },
});

export interface Bug extends BugReport {
  /** `bug/7` */
  readonly id: string;
  readonly reportedBy: string;
  readonly at: string;
  readonly closed: BugClosure | null;
  /** The result of the search; null before the first has ended. */
  readonly search: BugSearch | null;
}

export interface BugClosure {
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}

/** The result of a search among everything built. */
export interface BugSearch {
  readonly at: string;
  /** Why the affected artifacts are unknown: there is no graph, or it refuses the question. Null if they are known. */
  readonly problem: string | null;
  /** The number of releases and deployed versions searched. */
  readonly asked: number;
  /** Releases under way that contain it: how many there are, and the first of them. */
  readonly affected: number;
  readonly releases: readonly BugHit[];
  /** The newest successful releases, whose pipelines therefore run the bug. */
  readonly exposed: number;
  readonly deployed: readonly BugHit[];
  /** Unreadable SBOMs, whose artifacts may contain it; missing if there are none. */
  readonly unread?: Unread;
  /**
   * The number of SBOM components that have no readable package URL and were compared by name at most; missing if there
   * are none.
   */
  readonly namedOnly?: number;
}

interface Unread {
  readonly count: number;
  /** Why the first of them cannot. */
  readonly why: string;
}

/** A release with an artifact that contains a bug. */
export interface BugHit {
  readonly release: string;
  readonly owners: readonly string[];
  /** The identity of its artifact. */
  readonly artifact: string;
  /** `//kv:server > //kv/log > //lib:rpc` */
  readonly path: string;
}

/** The state of the workflow of bugs. */
export interface BugRecords {
  readonly next: number;
  /** Oldest first. */
  readonly bugs: readonly Bug[];
  /** Searches to come. */
  readonly due: readonly SearchDue[];
  readonly proofs?: Proofs;
}

export interface SearchDue {
  readonly id: string;
  readonly atMs: number;
  /** Search only releases begun since the report, or just before. */
  readonly again: boolean;
}

export const NO_BUGS: BugRecords = { next: 1, bugs: [], due: [] };

/** Visibility may lag by some seconds, so a second search follows after this time. */
const SEARCH_AGAIN_MS = 30_000;

/** A failed search is repeated after this time. */
const POSTPONED_MS = 60_000;

/**
 * Releases with artifacts built between `from` and `to` are refused. A closed bug stays in force once its fix is known.
 */
export const isInForce = ({ closed, to }: Pick<Bug, 'closed' | 'to'>): boolean => closed === null || to !== null;

/** Why a report is refused; undefined if it is not. */
export function whyNotReport(records: BugRecords, report: BugReport, actor: string): string | undefined {
  const unfit = whyNotActor(actor) ?? whyNotText(report) ?? whyNotSize(report);
  if (unfit !== undefined || sameBug(records, report)) return unfit;
  const inForce = records.bugs.filter(isInForce).length;
  if (inForce < BUG_LIMITS.inForce.max) return undefined;
  return `${inForce} bugs are in force, the most allowed: close one whose versions nobody deploys any more (without --to)`;
}

function whyNotText({ target, from, to, reason }: BugReport): string | undefined {
  const texts = [
    ['the target', target, BUG_LIMITS.target.max],
    ['the revision from', from, BUG_LIMITS.revision.max],
    ['the revision to', to ?? '-', BUG_LIMITS.revision.max],
    ['the reason', reason, REQUEST_LIMITS.reason.max],
  ] as const;
  for (const [what, text, most] of texts) {
    if (typeof text !== 'string' || text.trim() === '') return `${what} is missing`;
    if (utf8Bytes(text) > most) return `${what} has ${utf8Bytes(text)} bytes; the limit is ${most}`;
  }
  return from === to ? `${from} cannot both have the bug and be its fix` : undefined;
}

/** Input through Temporal itself is unparsed. */
function whyNotSize({ advisory }: BugReport): string | undefined {
  if (advisory === undefined) return undefined;
  if (!hasPackages(advisory)) return 'the advisory names no packages';
  const [bytes, { max }] = [jsonBytes(advisory), BUG_LIMITS.advisory];
  return bytes <= max ? undefined : `the advisory has ${bytes} bytes; the limit is ${max}`;
}

const whyNotActor = (actor: string): string | undefined =>
  PRINCIPAL.test(actor) && !isGroup(actor) ? undefined : `${actor || 'nobody'} is neither a person nor a program`;

/** A repeated report stands for the same bug. */
const sameBug = ({ bugs }: BugRecords, report: BugReport): Bug | undefined =>
  bugs.find((bug) => bug.closed === null && formatReportKey(bug) === formatReportKey(report));

const formatReportKey = ({ target, from, to, advisory }: BugReport): string =>
  JSON.stringify([target, from, to, advisory ?? null]);

export function addBugReport(
  records: BugRecords,
  report: BugReport,
  actor: string,
  nowMs: number,
): { readonly records: BugRecords; readonly bug: Bug } {
  const known = sameBug(records, report);
  if (known) return { records, bug: known };
  const id = `bug/${records.next}`;
  const { target, from, to, reason, advisory } = report;
  const about = { target, from, to, reason, reportedBy: actor, at: formatTime(nowMs), ...(advisory && { advisory }) };
  const bug: Bug = { id, ...about, closed: null, search: null };
  const due = [
    { id, atMs: nowMs, again: false },
    { id, atMs: nowMs + SEARCH_AGAIN_MS, again: true },
  ];
  const bugs = forgetOldBugs([...records.bugs, bug]);
  return { records: { ...records, next: records.next + 1, bugs, due: [...records.due, ...due] }, bug };
}

/** Bugs that are not in force refuse nothing: only the newest of these are kept. */
function forgetOldBugs(bugs: readonly Bug[]): readonly Bug[] {
  const over = bugs.filter((bug) => !isInForce(bug)).slice(0, -BUG_LIMITS.kept.max);
  return bugs.filter((bug) => !over.includes(bug));
}

/** The closing of a bug: with the first revision that has the fix, or without one because it was no bug. */
export interface BugClose {
  readonly id: string;
  readonly to: string | null;
  readonly reason: string;
}

export function whyNotClose({ bugs }: BugRecords, { id, to, reason }: BugClose, actor: string): string | undefined {
  const bug = bugs.find((one) => one.id === id);
  if (bug === undefined) return `there is no ${id}`;
  const unfit = whyNotActor(actor) ?? whyNotText({ ...bug, to: to ?? bug.to, reason });
  if (unfit !== undefined) return unfit;
  if (!isInForce(bug)) return `${id} is already closed`;
  if (bug.advisory === undefined || to === null) return undefined;
  return `${bug.target} says itself which versions are fixed: report it as it reads now, and close ${id} without --to`;
}

/**
 * A bug that is closed without a fix was none, and refuses nothing any more. A fixed bug that is closed again without
 * `to` becomes such a bug.
 */
export function markBugClosed(
  records: BugRecords,
  { id, to, reason }: BugClose,
  actor: string,
  nowMs: number,
): BugRecords {
  const closing = { by: actor, at: formatTime(nowMs), reason };
  const bugs = records.bugs.map((bug) => (bug.id === id ? slim({ ...bug, to, closed: closing }) : bug));
  return { ...records, bugs: forgetOldBugs(bugs), due: records.due.filter((one) => one.id !== id) };
}

/** The part of a closed non-bug that is kept: its report and closing. */
function slim({ advisory, ...bug }: Bug): Bug {
  if (isInForce(bug)) return { ...bug, ...(advisory && { advisory }) };
  const { search } = bug;
  return { ...bug, search: search && { ...search, releases: [], deployed: [] } };
}

/** The next bug to search for; undefined if there is none. */
export const nextSearch = ({ due }: BugRecords): SearchDue | undefined =>
  due.reduce<SearchDue | undefined>((first, one) => (first && first.atMs <= one.atMs ? first : one), undefined);

/** Records the result of a search; a second search adds its further hits. */
export function recordSearch(records: BugRecords, done: SearchDue, found: BugSearch): BugRecords {
  const bugs = records.bugs.map((bug) =>
    bug.id === done.id ? { ...bug, search: withinRoom(besides(bug.search, found)) } : bug,
  );
  return { ...records, due: records.due.filter((one) => one !== done), bugs };
}

/**
 * A failed search goes behind those that may succeed. Other searches of its kind wait too, because they need the same
 * silent service. The second search of a bug stays behind the first, which alone covers older releases.
 */
export function postponeSearch(records: BugRecords, failed: SearchDue, nowMs: number): BugRecords {
  const advisories = new Set(records.bugs.flatMap(({ id, advisory }) => (advisory === undefined ? [] : [id])));
  const isOfKind = ({ id }: SearchDue) => advisories.has(id) === advisories.has(failed.id);
  const later = (one: SearchDue) => ({ ...one, atMs: Math.max(one.atMs, nowMs + POSTPONED_MS) });
  const due = records.due.map((one) => (isOfKind(one) ? later(one) : one));
  const isOwn = ({ id }: SearchDue) => id === failed.id;
  return { ...records, due: [...due.filter((one) => !isOwn(one)), ...due.filter(isOwn)] };
}

/**
 * Whether only this search found it: the one before saw everything begun earlier, except releases that visibility did
 * not list yet. It lists only its first hits.
 */
export function isFoundAnew(
  before: BugSearch | null,
  { id, startedAt }: { readonly id: string; readonly startedAt: string },
): boolean {
  if (before === null || before.problem !== null || Date.parse(startedAt) >= Date.parse(before.at)) return true;
  const listed = [...before.releases, ...before.deployed];
  return listed.length === before.affected + before.exposed && !listed.some(({ release }) => release === id);
}

function besides(before: BugSearch | null, found: BugSearch): BugSearch {
  if (before === null || before.problem !== null) return found;
  if (found.problem !== null) return before;
  return {
    ...found,
    asked: before.asked + found.asked,
    affected: before.affected + found.affected,
    releases: [...before.releases, ...found.releases],
    exposed: before.exposed + found.exposed,
    deployed: [...before.deployed, ...found.deployed],
    ...bothUnread(before.unread, found.unread),
    ...toNamedOnly((before.namedOnly ?? 0) + (found.namedOnly ?? 0)),
  };
}

const bothUnread = (before: Unread | undefined, found: Unread | undefined): { readonly unread?: Unread } =>
  before || found
    ? { unread: { count: (before?.count ?? 0) + (found?.count ?? 0), why: before?.why ?? found?.why ?? '' } }
    : {};

export const toNamedOnly = (count: number): Pick<BugSearch, 'namedOnly'> => (count === 0 ? {} : { namedOnly: count });

/** Cuts the hits to the room that all bugs share. */
function withinRoom(search: BugSearch): BugSearch {
  const first = (hits: readonly BugHit[]): readonly BugHit[] =>
    firstWithin(hits.slice(0, BUG_LIMITS.shown.max).map(withFewOwners), BUG_LIMITS.shownTogether.max);
  return { ...search, releases: first(search.releases), deployed: first(search.deployed) };
}

/** A sample of the owners. */
const withFewOwners = (hit: BugHit): BugHit => ({ ...hit, owners: hit.owners.slice(0, BUG_LIMITS.owners.max) });

/** `bug/7 in //lib:rpc (from 12, no fix yet): it loses replies` */
export const bugWords = (bug: Bug): string => `${bug.id} in ${bug.target} (${revisionWords(bug)}): ${bug.reason}`;

/** `from 12, no fix yet`; for an advisory `esbuild from 0 before 0.25.0`. */
export const revisionWords = ({ from, to, advisory }: BugReport): string =>
  advisory === undefined
    ? `from ${from}, ${to === null ? 'no fix yet' : `fixed in ${to}`}`
    : cutText(describeAffected(advisory), BUG_LIMITS.path.max);

/** The same, with the dependency chain to the artifact. */
export const hitWords = (bug: Bug, { artifact, path }: Pick<BugHit, 'artifact' | 'path'>): string =>
  `${artifact} contains ${bugWords(bug)}; by ${path}`;

/** The number in `bug/7`; undefined for other text. */
export function numberOfBug(text: string): number | undefined {
  const digits = /^bug\/([1-9]\d{0,9})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The number of a bug that a person typed. @throws ConveyorError `invalid-id` */
export function requireBug(text: string): number {
  const number = numberOfBug(text);
  if (number !== undefined) return number;
  throw conveyorError('invalid-id', { text, expected: 'a bug, such as bug/7' });
}
