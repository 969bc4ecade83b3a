import { pickIdentity, type Artifact } from './artifact';
import { toNamed, type NamedUnits } from './deploy/snapshot';
import { FLEET_LIMITS } from './fleet/limits';
import type { Unit } from './fleet/unit';
import { releaseId } from './ids';
import { SERVICE_LIMITS } from './limits';
import { jsonBytes, newestWithin } from './size';
import { joinWords } from './text';
import { hasMark, computeUnitMark, joinMarks, markUnits, splitMarks } from './unitMarks';

/**
 * The versions that run on a service, with the pipelines that brought them: the lock of the service keeps one entry for each deploy action, newest
 * last. A version without an entry is unknown, and blocks nothing.
 */
export interface BroughtVersion {
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly version: string;
  /** Their identities. */
  readonly artifacts: readonly Artifact[];
  readonly at: string;
  /** Ids of its units. Many units have marks instead (domain/unitMarks.ts). Older entries may have neither. */
  readonly units?: readonly string[];
  readonly marks?: string;
  /** Distinguishes configurations: equal ones have the same units. */
  readonly config: number;
  /** It found or restored the previous version, whose entry stays as it was. */
  readonly back?: true;
  /** It did not finish: some tasks of some of these units run it. */
  readonly stopped?: true;
  /** It removed these units: nothing runs there. `version` is `NO_VERSION`. */
  readonly removed?: true;
}

/** The version of units that run nothing, in words. */
export const NO_VERSION = 'nothing';

/** The form in which a deploy reports it to the lock. */
export interface BroughtReport extends BroughtVersion {
  /** Units that it left to other pipelines (the first ones, if there are many): its entry precedes theirs. */
  readonly kept?: readonly string[];
}

/** A release that runs in place of a version that a deploy had brought, or one that removed its units. */
export interface VersionReplacement {
  /** `web-b/1`. */
  readonly by: string;
  readonly version: string;
  readonly at: string;
  readonly artifacts: readonly Artifact[];
  /** The affected units in words, if it is not all of them. */
  readonly on?: string;
  /** It removed these units, and nothing runs there. */
  readonly removed?: true;
}

type DeployName = Pick<BroughtVersion, 'pipeline' | 'action'>;
export type BroughtBy = DeployName & Pick<BroughtVersion, 'config'>;

const isBroughtIn = (one: DeployName, other: DeployName): boolean =>
  one.pipeline === other.pipeline && one.action === other.action;

/** The units of a deploy, by name if they are few. */
export interface BroughtTo {
  readonly ids?: readonly string[] | undefined;
  readonly marks?: string | undefined;
}

export const onUnits = (
  one: Omit<BroughtReport, 'units' | 'marks'>,
  { ids, marks = ids && marksOfMany(ids) }: BroughtTo,
): BroughtReport => ({
  ...one,
  artifacts: one.artifacts.map(pickIdentity),
  ...(marks === undefined ? ids && { units: ids } : { marks }),
});

/** Undefined if the units are few enough to be known by name. */
export const marksOfMany = (ids: readonly string[]): string | undefined =>
  ids.length > SERVICE_LIMITS.unitsBrought.max ? markUnits(ids) : undefined;

/**
 * The entries after another deploy finished. If it went back to the version of another pipeline, its entry precedes
 * that pipeline's; if it left units to others, it precedes theirs.
 */
export function withBrought(
  all: readonly BroughtVersion[],
  { kept = [], ...one }: BroughtReport,
): readonly BroughtVersion[] {
  if (one.removed) return withRemoval(all, one);
  // A stopped deploy never replaces a finished one.
  const isReplaced = (other: BroughtVersion): boolean =>
    !other.removed && isBroughtIn(other, one) && (!hasStopped(one) || hasStopped(other));
  const running = new Set(hasStopped(one) ? [] : marksIn(one));
  const others = all.flatMap((other) => {
    if (other.removed) return withoutUnits(other, running);
    return isReplaced(other) ? [] : [other];
  });
  const keeper = firstKeeper(all, { ...one, kept });
  const at = kept.length > 0 ? (keeper ? others.indexOf(keeper) : -1) : placeOfBack(others, one);
  const next = at < 0 ? [...others, one] : [...others.slice(0, at), one, ...others.slice(at)];
  return withinLimits(next);
}

/** The entries after a deploy action removed units: of its own entries, only the units that it did not remove are left. */
function withRemoval(all: readonly BroughtVersion[], one: BroughtVersion): readonly BroughtVersion[] {
  const gone = new Set(marksIn(one));
  const isOwn = (other: BroughtVersion): boolean =>
    other.pipeline === one.pipeline && (other.action === one.action || other.config === one.config);
  const earlier = all.filter((other) => other.removed && isOwn(other)).flatMap((other) => marksIn(other) ?? []);
  const others = all.flatMap((other) => {
    if (!isOwn(other)) return [other];
    return other.removed || !knowsUnits(other) ? [] : withoutUnits(other, gone);
  });
  return withinLimits([...others, { ...one, marks: joinMarks([...gone, ...earlier]) }]);
}

/** Empty once the entry has no unit left. */
function withoutUnits(one: BroughtVersion, gone: ReadonlySet<string>): readonly BroughtVersion[] {
  const left = limitUnits(one, (mark) => !gone.has(mark));
  return left.units?.length === 0 || left.marks === '' ? [] : [left];
}

/** The entry with some of its units; unchanged if these are not known. */
function limitUnits(one: BroughtVersion, isMeant: (mark: string) => boolean): BroughtVersion {
  if (one.units) return { ...one, units: one.units.filter((unit) => isMeant(computeUnitMark(unit))) };
  return one.marks === undefined ? one : { ...one, marks: joinMarks(splitMarks(one.marks).filter(isMeant)) };
}

function firstKeeper(
  all: readonly BroughtVersion[],
  { kept, ...own }: BroughtVersion & { readonly kept: readonly string[] },
): BroughtVersion | undefined {
  const isKeeper = (other: BroughtVersion): boolean => {
    if (other.pipeline === own.pipeline || other.removed) return false;
    return kept.some((unit) => hasUnit(other, unit));
  };
  return all.slice(findLastOwnIndex(all, own) + 1).find(isKeeper);
}

const hasStopped = ({ stopped }: BroughtVersion): boolean => stopped === true;

/**
 * If all deploys together have too many units, those of the oldest are forgotten, and that deploy counts as having any
 * unit.
 */
function withinLimits(all: readonly BroughtVersion[]): readonly BroughtVersion[] {
  const { brought, bringers } = SERVICE_LIMITS;
  const known = all.slice(-bringers.max);
  let room = brought.max - jsonBytes(known);
  const fitting = known.map(({ marks, ...rest }) => {
    if (marks === undefined || room >= 0) return { ...rest, ...(marks === undefined ? {} : { marks }) };
    room += marks.length;
    return rest;
  });
  return newestWithin(fitting, brought.max);
}

function placeOfBack(others: readonly BroughtVersion[], one: BroughtVersion): number {
  if (hasStopped(one)) return -1;
  const at = others.findLastIndex((other) => !hasStopped(other) && unitsInCommon(one, other) !== 'none');
  const under = others[at];
  return one.back && under?.version === one.version && unitsInCommon(one, under) === 'all' ? at : -1;
}

/** Versions that other pipelines brought to possibly the same units after a deploy action's own last one; newest last. */
export const listBroughtSince = (all: readonly BroughtVersion[], own: BroughtBy): readonly BroughtVersion[] =>
  listChangesSince(all, own).filter(({ removed }) => !removed);

/**
 * Versions that other pipelines brought, and units that they removed. An entry with unknown units counts, unless it brought the same version: then
 * the running version may just as well be the action's own.
 */
function listChangesSince(all: readonly BroughtVersion[], own: BroughtBy): readonly BroughtVersion[] {
  const at = findLastOwnIndex(all, own);
  const mine = all[at];
  const mayConcern = (other: BroughtVersion): boolean =>
    knowsUnits(other) || other.config === own.config || (mine !== undefined && mine.version !== other.version);
  return all.slice(at + 1).filter((other) => other.pipeline !== own.pipeline && mayConcern(other));
}

const knowsUnits = ({ units, marks }: BroughtVersion): boolean => units !== undefined || marks !== undefined;

/** A deploy renamed since then is found by its configuration. */
function findLastOwnIndex(all: readonly BroughtVersion[], own: BroughtBy): number {
  const byName = all.findLastIndex((one) => isBroughtIn(one, own) && runsEverywhere(one));
  return byName >= 0
    ? byName
    : all.findLastIndex((one) => one.pipeline === own.pipeline && one.config === own.config && runsEverywhere(one));
}

const runsEverywhere = (one: BroughtVersion): boolean => !hasStopped(one) && !one.removed;

/** The number of tasks of a unit that run a version. */
export interface TaskCounts {
  readonly on: number;
  readonly size: number;
}

/**
 * The entry whose version a unit runs: others replace that version only on request. A deploy that stopped half-way
 * keeps a unit if at least half of the unit's tasks run its version.
 */
export const findKeeper = (
  unit: Unit,
  since: readonly BroughtVersion[],
  counted: (stopped: BroughtVersion) => TaskCounts | undefined = () => undefined,
): BroughtVersion | undefined =>
  since.findLast((one) => {
    if (!hasUnit(one, unit.id)) return false;
    const count = one.stopped ? counted(one) : undefined;
    return count ? count.on > 0 && 2 * count.on >= count.size : one.version === unit.version;
  });

/** Also true if its units are not known. */
export const hasUnit = ({ units, marks }: BroughtVersion, id: string): boolean =>
  units?.includes(id) ?? (marks === undefined || hasMark(marks, id));

/** Units that a rollback or follow-on leaves alone, since another pipeline has brought its version there. */
export interface KeptUnits extends NamedUnits {
  readonly by: string;
  readonly version: string;
}

export function buildKeptUnits(
  keepers: ReadonlyMap<string, BroughtVersion>,
  since: readonly BroughtVersion[],
): KeptUnits | undefined {
  const all = [...keepers.values()];
  const newest = since.findLast((one) => all.includes(one));
  return (
    newest && {
      ...toNamed([...keepers.keys()], FLEET_LIMITS.leftOut),
      by: formatBringer(newest),
      version: newest.version,
    }
  );
}

/**
 * The release that replaced an action's version or removed its units, everywhere or on some units; null if it still runs, as far as is
 * known.
 */
export function findReplacement(all: readonly BroughtVersion[], own: BroughtVersion): VersionReplacement | null {
  const since = listChangesSince(all, own).filter((other) => unitsInCommon(own, other) !== 'none');
  const removal = since.findLast(({ removed }) => removed);
  const brought = since.filter((other) => !other.removed);
  return removal === undefined ? findBringer(brought, own) : findRemover(since, { own, removal, brought });
}

/** @param since entries that brought versions to units of the own one */
function findBringer(since: readonly BroughtVersion[], own: BroughtVersion): VersionReplacement | null {
  const through = since.filter((other) => !hasStopped(other));
  const relevant = through.length > 0 ? through : since;
  const newest = relevant.at(-1);
  if (newest === undefined) return null;
  const taken = describeTakenUnits(own, new Set(relevant.flatMap((other) => marksIn(other) ?? [])));
  const isWhole = taken?.isAll || relevant.some((other) => unitsInCommon(own, other) === 'all');
  const { version, artifacts, at } = newest;
  const replaced = { by: formatBringer(newest), version, at, artifacts };
  if (isWhole && through.length > 0) return replaced;
  const isKnown = taken !== undefined && unitsInCommon(own, newest) !== 'unknown';
  const on = isKnown ? taken.words : UNKNOWN_PART;
  return { ...replaced, on: through.length > 0 ? on : `some tasks of ${on}` };
}

const UNKNOWN_PART = 'an unknown part of its units';

/** If other units run a version of another pipeline, the later of the two is named, or that version if it runs on all units that are left. */
function findRemover(
  since: readonly BroughtVersion[],
  {
    own,
    removal,
    brought,
  }: { readonly own: BroughtVersion; readonly removal: BroughtVersion; readonly brought: readonly BroughtVersion[] },
): VersionReplacement | null {
  const empty = collectRemovedMarks(since);
  const gone = describeTakenUnits(own, empty);
  const { artifacts, at, version } = removal;
  const removed = { by: formatBringer(removal), version, at, artifacts, removed: true as const };
  if (gone?.isAll) return removed;
  const left = limitUnits(own, (mark) => !empty.has(mark));
  const other = findBringer(
    brought.filter((one) => unitsInCommon(left, one) !== 'none'),
    left,
  );
  const isLater = since.filter((one) => !hasStopped(one)).at(-1) !== removal;
  const isNamed = gone === undefined || gone.count > 0 || unitsInCommon(own, removal) === 'unknown';
  if (other && (isLater || other.on === undefined || !isNamed)) return other;
  return isNamed ? { ...removed, on: gone === undefined || gone.count === 0 ? UNKNOWN_PART : gone.words } : null;
}

/** The units that nothing has been brought to since they were removed. */
function collectRemovedMarks(since: readonly BroughtVersion[]): ReadonlySet<string> {
  const empty = new Set<string>();
  for (const one of since.filter((other) => !hasStopped(other)))
    for (const mark of marksIn(one) ?? [])
      if (one.removed) empty.add(mark);
      else empty.delete(mark);
  return empty;
}

/** The units of an entry that others have taken, in words: by name, or as a count if there are many. */
function describeTakenUnits(own: BroughtVersion, others: ReadonlySet<string>) {
  const mine = marksIn(own);
  if (mine === undefined) return undefined;
  const taken = mine.filter((mark) => others.has(mark));
  const names = own.units?.filter((unit) => others.has(computeUnitMark(unit)));
  const words = names
    ? joinWords(names, 'and')
    : `${taken.length.toLocaleString('en')} of its ${mine.length.toLocaleString('en')} units`;
  return { isAll: taken.length === mine.length, count: taken.length, words };
}

export interface ReplacedNotice extends DeployName {
  readonly release: number;
  readonly by: VersionReplacement | null;
}

/** The lock's knowledge after a deploy finished, and the messages to pipelines whose versions it affects. */
export function learnBrought(
  before: readonly BroughtVersion[],
  brought: BroughtReport,
): { readonly after: readonly BroughtVersion[]; readonly notices: readonly ReplacedNotice[] } {
  const after = withBrought(before, brought);
  return { after, notices: listReplacedNotices(before, after) };
}

function listReplacedNotices(before: readonly BroughtVersion[], after: readonly BroughtVersion[]): ReplacedNotice[] {
  return after.flatMap((own): ReplacedNotice[] => {
    if (!runsEverywhere(own)) return [];
    const then = before.find((one) => isBroughtIn(one, own) && runsEverywhere(one));
    const by = findReplacement(after, own);
    // A pipeline does not know of the units that its own new deploy left to another.
    const isNewInPart = by?.on !== undefined && then?.release !== own.release;
    const was = then ? findReplacement(before, then) : null;
    if (!isNewInPart && describeBrought(was) === describeBrought(by)) return [];
    return [{ pipeline: own.pipeline, action: own.action, release: own.release, by }];
  });
}

const describeBrought = (replaced: VersionReplacement | null): string =>
  replaced === null ? '' : [replaced.by, replaced.version, replaced.on].join();

/** `web-b/1` */
export const formatBringer = ({ pipeline, release }: BroughtVersion): string => releaseId(pipeline, release);

/**
 * Whether the other has all, some or none of the units of the first. If that is unknown and both have the same version:
 * none.
 */
function unitsInCommon(one: BroughtVersion, other: BroughtVersion): 'all' | 'some' | 'none' | 'unknown' {
  // A removal may have left units to others.
  if (one.config === other.config && !one.removed && !other.removed) return 'all';
  const [mine, theirs] = [marksIn(one), marksIn(other)];
  if (mine === undefined || theirs === undefined) return one.version === other.version ? 'none' : 'unknown';
  const known = new Set(theirs);
  const common = mine.filter((mark) => known.has(mark)).length;
  if (common === 0) return 'none';
  return common === mine.length ? 'all' : 'some';
}

const marksIn = ({ units, marks }: BroughtVersion): readonly string[] | undefined =>
  units?.map(computeUnitMark) ?? (marks === undefined ? undefined : splitMarks(marks));
