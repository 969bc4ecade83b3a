import { identified, type Artifact } from './artifact';
import { named, type Named } from './deploy/snapshot';
import { FLEET_LIMITS } from './fleet/limits';
import type { Unit } from './fleet/unit';
import { releaseId } from './ids';
import { areTexts, isJsonObject, isText } from './json';
import { SERVICE_LIMITS } from './limits';
import { jsonBytes, newestWithin } from './size';
import { listed } from './text';

/**
 * What runs on a service and which pipeline brought it: the lock of the service keeps this, newest last, one entry for each deploy action.
 * A version without an entry is unknown, and blocks nothing.
 */
export interface Brought {
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly version: string;
  /** What identifies them. */
  readonly artifacts: readonly Artifact[];
  readonly at: string;
  /** Ids of its units; left out if there are many. */
  readonly units?: readonly string[];
  /** Tells configurations apart: the same one has the same units. */
  readonly config: number;
  /** It found or put back what was there before, whose entry then stays as it was. */
  readonly back?: true;
}

/** As a deploy reports it to the lock. */
export interface BroughtReport extends Brought {
  /** Units that it left to other pipelines, of many the first: it stands before those. */
  readonly kept?: readonly string[];
}

/** Another release runs where a deploy had brought its version. */
export interface Replaced {
  /** `web-b/1`. */
  readonly by: string;
  readonly version: string;
  readonly at: string;
  readonly artifacts: readonly Artifact[];
  /** On some units only: which, in words. */
  readonly on?: string;
}

type DeployName = Pick<Brought, 'pipeline' | 'action'>;
export type BroughtBy = DeployName & Pick<Brought, 'config'>;

const isBroughtIn = (one: DeployName, other: DeployName): boolean =>
  one.pipeline === other.pipeline && one.action === other.action;

export const onUnits = (one: Omit<BroughtReport, 'units'>, units: readonly string[] | undefined): BroughtReport => ({
  ...one,
  artifacts: one.artifacts.map(identified),
  ...(units && units.length <= SERVICE_LIMITS.unitsBrought.max ? { units } : {}),
});

/**
 * After another deploy came through. If it went back to the version of another pipeline, its entry stands before that pipeline's; if it left
 * units to others, before theirs.
 */
export function withBrought(all: readonly Brought[], { kept = [], ...one }: BroughtReport): readonly Brought[] {
  const others = all.filter((other) => !isBroughtIn(other, one));
  const at = kept.length > 0 ? firstKeeper(others, one, kept) : placeOfBack(others, one);
  const next = at < 0 ? [...others, one] : [...others.slice(0, at), one, ...others.slice(at)];
  return newestWithin(next, SERVICE_LIMITS.brought.max, SERVICE_LIMITS.bringers.max);
}

const firstKeeper = (others: readonly Brought[], own: Brought, kept: readonly string[]): number =>
  others.findIndex(
    ({ pipeline, units, config }) =>
      pipeline !== own.pipeline && (units ? units.some((unit) => kept.includes(unit)) : config === own.config),
  );

function placeOfBack(others: readonly Brought[], one: Brought): number {
  const at = others.findLastIndex((other) => unitsInCommon(one, other) !== 'none');
  const under = others[at];
  return one.back && under?.version === one.version && unitsInCommon(one, under) === 'all' ? at : -1;
}

/** What other pipelines brought since a deploy action last brought something itself, where it is known to concern the same units; newest last. */
export function broughtSince(all: readonly Brought[], own: BroughtBy): readonly Brought[] {
  return all
    .slice(lastOf(all, own) + 1)
    .filter(
      ({ pipeline, units, config }) => pipeline !== own.pipeline && (units !== undefined || config === own.config),
    );
}

/** A deploy that was renamed since is found by its configuration. */
function lastOf(all: readonly Brought[], own: BroughtBy): number {
  const byName = all.findLastIndex((one) => isBroughtIn(one, own));
  return byName >= 0
    ? byName
    : all.findLastIndex(({ pipeline, config }) => pipeline === own.pipeline && config === own.config);
}

/** The entry whose version a unit runs: others replace that version only when somebody asks for it. */
export const keeperOf = (unit: Unit, since: readonly Brought[]): Brought | undefined =>
  unit.mixed
    ? undefined
    : since.findLast(({ version, units }) => version === unit.version && (units?.includes(unit.id) ?? true));

/** Units that a rollback or follow-on leaves alone, since another pipeline has brought its version there. */
export interface KeptUnits extends Named {
  readonly by: string;
  readonly version: string;
}

export function keptUnits(units: readonly Unit[], since: readonly Brought[]): KeptUnits | undefined {
  const kept = units.flatMap((unit) => (keeperOf(unit, since) ? [unit.id] : []));
  const newest = since.findLast((one) => units.some((unit) => keeperOf(unit, since) === one));
  return newest && { ...named(kept, FLEET_LIMITS.leftOut), by: bringerOf(newest), version: newest.version };
}

/** Which release replaced what an action brought, everywhere or on some units; null if it still runs, as far as is known. */
export function replacedBy(all: readonly Brought[], own: Brought): Replaced | null {
  const since = broughtSince(all, own).filter((other) => unitsInCommon(own, other) !== 'none');
  const newest = since.at(-1);
  if (newest === undefined) return null;
  const whole = since.findLast((other) => unitsInCommon(own, other) === 'all');
  const taken = new Set(since.flatMap(({ units = [] }) => units));
  const isWhole = whole !== undefined || own.units?.every((unit) => taken.has(unit));
  const { version, artifacts, at } = newest;
  const replaced = { by: bringerOf(newest), version, at, artifacts };
  return isWhole ? replaced : { ...replaced, on: listed(own.units?.filter((unit) => taken.has(unit)) ?? [], 'and') };
}

export interface ReplacedNotice extends DeployName {
  readonly release: number;
  readonly by: Replaced | null;
}

/** The pipelines to tell of a change, and what to tell them. */
export function noticesOf(before: readonly Brought[], after: readonly Brought[]): ReplacedNotice[] {
  return after.flatMap((own): ReplacedNotice[] => {
    const then = before.find((one) => isBroughtIn(one, own));
    const by = replacedBy(after, own);
    // A pipeline does not know of the units that its own new deploy left to another.
    const isNewInPart = by?.on !== undefined && then?.release !== own.release;
    if (!isNewInPart && describeBrought(then ? replacedBy(before, then) : null) === describeBrought(by)) return [];
    return [{ pipeline: own.pipeline, action: own.action, release: own.release, by }];
  });
}

const describeBrought = (replaced: Replaced | null): string =>
  replaced === null ? '' : [replaced.by, replaced.version, replaced.on].join();

const areBroughtArtifacts = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (one) => isJsonObject(one) && isText(one['name']) && isText(one['version']) && isJsonObject(one['metadata']),
  );

/** Anybody can send a lock, a deploy or a pipeline a message by hand: messages without these shapes are ignored. */
export const isBrought = (value: unknown): value is BroughtReport =>
  isJsonObject(value) &&
  isSmall(value) &&
  [value['pipeline'], value['action'], value['version']].every(isText) &&
  isTime(value['at']) &&
  [value['release'], value['config']].every(Number.isSafeInteger) &&
  areBroughtArtifacts(value['artifacts']) &&
  [value['units'], value['kept']].every((units) => units === undefined || areTexts(units));

/** A lock and a pipeline keep it in their state. */
const isSmall = (value: object): boolean => jsonBytes(value) <= SERVICE_LIMITS.brought.max;

const isTime = (value: unknown): boolean => isText(value) && Number.isFinite(Date.parse(value));

export const areBrought = (value: unknown): value is readonly Brought[] =>
  Array.isArray(value) && value.every(isBrought);

export const isReplacedNotice = (value: unknown): value is ReplacedNotice =>
  isJsonObject(value) &&
  Number.isSafeInteger(value['release']) &&
  [value['pipeline'], value['action']].every(isText) &&
  (value['by'] === null || isReplaced(value['by']));

const isReplaced = (value: unknown): boolean =>
  isJsonObject(value) &&
  isSmall(value) &&
  [value['by'], value['version']].every(isText) &&
  isTime(value['at']) &&
  areBroughtArtifacts(value['artifacts']) &&
  (value['on'] === undefined || isText(value['on']));

/** `web-b/1` */
export const bringerOf = ({ pipeline, release }: Brought): string => releaseId(pipeline, release);

/** Whether the other has all, some or none of the units of the first, as far as both are known. */
function unitsInCommon(one: Brought, other: Brought): 'all' | 'some' | 'none' {
  if (one.config === other.config) return 'all';
  if (one.units === undefined || other.units === undefined) return 'none';
  const common = one.units.filter((unit) => other.units?.includes(unit)).length;
  if (common === 0) return 'none';
  return common === one.units.length ? 'all' : 'some';
}
