import type { PackageScope } from './fleetHosts';
import { hashWords } from './hashPlace';
import { REPORT_KIND } from './hostRecords';
import type { HostOffer, PastOffer, SlowrollFleet } from './slowrollFleet';

/**
 * The tag of a manifest. It contains what the server knows about the host, so that a server that has lost its memory reads it from the next poll of each host:
 * `"<settings>.<package>-<generation>-<reported><version>-<failed>[-<trouble><since>]_….<labels>"`, with numbers to the base of 36.
 */

const LETTERS: readonly [reported: number, letter: string][] = [
  [REPORT_KIND.nothing, 'n'],
  [REPORT_KIND.absent, 'a'],
  [REPORT_KIND.runs, 'r'],
  [REPORT_KIND.broken, 'b'],
];
const RECORD =
  /^([0-9a-z]{1,7})-([0-9a-z]{1,11})-([narb])([0-9a-z]{0,4})-([0-9a-z]{0,4})(?:-([0-9a-z])([0-9a-z]{1,7}))?$/;

/** @param settings changes whenever the content of manifests changes for another reason than a decision */
export function writeTag(fleet: SlowrollFleet, index: number, offers: readonly HostOffer[], settings: string): string {
  const records = offers.map(({ packageName, decision, held }) => {
    const { version, failed, reported, trouble, troubledAt } = fleet.hosts.readRecords(packageName);
    const letter = LETTERS.find(([one]) => one === reported[index])?.[1] ?? 'n';
    const keep = (number = 0): string => (fleet.versions.isKept(number) ? number.toString(36) : '');
    const generation = (held ?? decision?.generation ?? 0).toString(36);
    const since = trouble[index] ? `-${trouble[index].toString(36)}${(troubledAt[index] ?? 0).toString(36)}` : '';
    return `${nameKey(packageName)}-${generation}-${letter}${keep(version[index])}-${keep(failed[index])}${since}`;
  });
  const labels = Buffer.from(JSON.stringify(fleet.hosts.readLabels(index))).toString('base64url');
  return `"${settings}.${records.join('_')}.${labels}"`;
}

/** The content of a tag about its host. */
export interface TagContent {
  readonly past: readonly PastOffer[];
  readonly labels: unknown;
}

export function readTag(tag: string, packages: readonly PackageScope[]): TagContent {
  const [, records = '', labels] = /^"[0-9a-z]+\.([^".]*)\.([\w-]*)"$/.exec(tag) ?? [];
  return { past: readRecords(records, packages), labels: labels === undefined ? undefined : readTagLabels(labels) };
}

function readTagLabels(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function readRecords(records: string, packages: readonly PackageScope[]): PastOffer[] {
  return records.split('_').flatMap((record) => {
    const [, key, generation = '', letter, version = '', failed = '', trouble = '', since = ''] =
      RECORD.exec(record) ?? [];
    const packageName = packages.find(({ name }) => nameKey(name) === key)?.name;
    const reported = LETTERS.find((one) => one[1] === letter)?.[0];
    if (packageName === undefined || reported === undefined) return [];
    return [
      {
        ...{ packageName, generation: parseInt(generation, 36), reported },
        ...{ version: readBase36(version), failed: readBase36(failed) },
        ...{ trouble: readBase36(trouble), troubledAt: readBase36(since) },
      },
    ];
  });
}

const nameKey = (packageName: string): string => hashWords(packageName)[0].toString(36);

/** A version that was never decided has no number that lasts. */
const readBase36 = (text: string): number => (text === '' ? 0 : parseInt(text, 36));
