import { areTexts, isJsonObject, isText } from '../../../domain/json';
import { isSemantic, packageNamed } from './packageUrl';

/** Advisories in the OSV format (https://ossf.github.io/osv-schema): a package and its affected versions. */

/** The parts of a record that define the affected versions; itself a valid record. */
export interface Advisory {
  /** `GHSA-67mh-4wv8-2f99` */
  readonly id: string;
  readonly affected: readonly AffectedPackage[];
  /** Packages of the record that cannot be compared with SBOMs, and why. */
  readonly unheld?: readonly string[] | undefined;
}

export interface AffectedPackage {
  readonly package: { readonly ecosystem: string; readonly name: string; readonly purl?: string | undefined };
  readonly ranges: readonly VersionRange[];
  /** Further affected versions. */
  readonly versions: readonly string[];
}

interface VersionRange {
  readonly type: string;
  readonly events: readonly RangeEvent[];
}

const EVENTS = ['introduced', 'fixed', 'last_affected', 'limit'] as const;
type EventKind = (typeof EVENTS)[number];
/** One of them, with a version. */
type RangeEvent = { readonly [K in EventKind]?: string | undefined };

/** The order of semantic versions. */
export interface VersionOrder {
  readonly isVersion: (text: string) => boolean;
  /** Below 0 if `a` is older. */
  readonly compare: (a: string, b: string) => number;
}

/** Whether an unparsed value has the expected shape. */
export const hasPackages = (advisory: unknown): boolean =>
  isJsonObject(advisory) &&
  isListOf(advisory['affected'], isAffectedPackage) &&
  (advisory['unheld'] === undefined || areTexts(advisory['unheld']));

const isAffectedPackage = (one: unknown): boolean =>
  isJsonObject(one) &&
  isJsonObject(one['package']) &&
  isText(one['package']['ecosystem']) &&
  isText(one['package']['name']) &&
  ['string', 'undefined'].includes(typeof one['package']['purl']) &&
  isListOf(one['ranges'], isRange) &&
  areTexts(one['versions']);

const isRange = (one: unknown): boolean =>
  isJsonObject(one) &&
  isText(one['type']) &&
  isListOf(one['events'], (event) => isJsonObject(event) && Object.values(event).every(isText));

const isListOf = (list: unknown, isFit: (one: unknown) => boolean): boolean => Array.isArray(list) && list.every(isFit);

/** Why an advisory cannot be compared with SBOMs, with the place; undefined if it can. */
export function whyNotAdvisory({ affected }: Advisory, order: VersionOrder): string | undefined {
  if (affected.length === 0) return 'affected: it names no package';
  for (const [at, one] of affected.entries()) {
    const why = whyNotAffected(one, order);
    if (why !== undefined) return `affected.${at}${why}`;
  }
  return undefined;
}

function whyNotAffected(one: AffectedPackage, order: VersionOrder): string | undefined {
  const { ecosystem, name, purl } = one.package;
  if (packageNamed(one.package) === undefined)
    return purl === undefined
      ? `.package: SBOMs name packages by package URLs, and that of ${name} of ${ecosystem} is not known: add purl`
      : `.package.purl: ${purl} is not a package URL, such as pkg:npm/esbuild`;
  const ranges = one.ranges.filter((range) => isOrdered(one, range));
  if (ranges.length === 0 && one.versions.length === 0)
    return `: no range and no version says what is affected of ${name}; of versions that are not semantic, list each in versions`;
  for (const [at, range] of one.ranges.entries()) {
    const why = ranges.includes(range) ? whyNotRange(range, order) : undefined;
    if (why !== undefined) return `.ranges.${at}.events: ${why}`;
  }
  return undefined;
}

function whyNotRange({ events }: VersionRange, { isVersion }: VersionOrder): string | undefined {
  const kinds = events.map((event) => EVENTS.filter((kind) => event[kind] !== undefined));
  if (kinds.some(({ length }) => length !== 1)) return `each has to be one of ${EVENTS.join(', ')}`;
  const has = (kind: EventKind): boolean => kinds.some(([one]) => one === kind);
  if (!has('introduced')) return 'none says which version introduced it';
  if (has('fixed') && has('last_affected')) return 'a range has either fixed or last_affected';
  const strange = events.map(eventVersion).find((version) => version !== '0' && version !== '*' && !isVersion(version));
  return strange === undefined ? undefined : `${strange} is not a semantic version`;
}

/**
 * Whether a version is affected; an unknown version, or one that cannot be compared with a range, counts as affected.
 */
export function isAffected(one: AffectedPackage, version: string | undefined, order: VersionOrder): boolean {
  if (version === undefined || one.versions.includes(version)) return true;
  const ranges = one.ranges.filter((range) => isOrdered(one, range));
  if (ranges.length > 0 && !order.isVersion(version)) return true;
  return ranges.some((range) => inRange(range, version, order));
}

/** The order of other ranges is known only to the package's repository or ecosystem. */
const isOrdered = (one: AffectedPackage, { type }: VersionRange): boolean =>
  type === 'SEMVER' || (type === 'ECOSYSTEM' && isSemantic(packageNamed(one.package) ?? ''));

/** Follows the pseudocode of the format. */
function inRange({ events }: VersionRange, version: string, order: VersionOrder): boolean {
  const limits = events.flatMap(({ limit }) => (limit === undefined ? [] : [limit]));
  if (limits.length > 0 && !limits.some((limit) => compareEnds(version, limit, order) < 0)) return false;
  let affected = false;
  for (const { introduced, fixed, last_affected: last } of inVersionOrder(events, order)) {
    if (introduced !== undefined && compareEnds(version, introduced, order) >= 0) affected = true;
    else if (fixed !== undefined && compareEnds(version, fixed, order) >= 0) affected = false;
    else if (last !== undefined && compareEnds(version, last, order) > 0) affected = false;
  }
  return affected;
}

/** A version that is both fixed and introduced again counts as affected. */
const inVersionOrder = (events: readonly RangeEvent[], order: VersionOrder): readonly RangeEvent[] =>
  [...events].sort(
    (a, b) =>
      compareEnds(eventVersion(a), eventVersion(b), order) ||
      Number(a.introduced !== undefined) - Number(b.introduced !== undefined),
  );

/** `0` is before every version, `*` after every other. */
function compareEnds(a: string, b: string, { compare }: VersionOrder): number {
  if (a === b) return 0;
  if (a === '0' || b === '*') return -1;
  if (a === '*' || b === '0') return 1;
  return compare(a, b);
}

const eventVersion = ({ introduced, fixed, last_affected: last, limit }: RangeEvent): string =>
  introduced ?? fixed ?? last ?? limit ?? '';

/** `esbuild from 0 before 0.25.0`, of each package. */
export const describeAffected = ({ affected }: Advisory): string =>
  affected
    .map(({ package: { name }, ranges, versions }) =>
      [name, ...ranges.map(({ events }) => events.map(eventWords).join(' ')), versions.join(', ')]
        .filter((part) => part !== '')
        .join(' '),
    )
    .join('; ');

function eventWords({ introduced, fixed, last_affected: last, limit }: RangeEvent): string {
  if (introduced !== undefined) return `from ${introduced}`;
  if (fixed !== undefined) return `before ${fixed}`;
  return last === undefined ? `before ${limit ?? ''}` : `up to ${last}`;
}
