import { ExtensionError, SLOWROLL_LIMITS } from '../../../sdk';
import { HostRecords } from './hostRecords';
import { HostTable } from './hostTable';

/** A package, and the hosts that have it. */
export interface PackageScope {
  readonly name: string;
  /** The labels that a host needs to have the package. */
  readonly hosts: Readonly<Record<string, string>>;
}

export interface FleetHostsOptions {
  /** The label whose value is the region of a host. */
  readonly regionLabel: string;
  readonly regions: readonly string[];
  readonly packages: readonly PackageScope[];
  /** A host beyond this number is refused. */
  readonly mostHosts: number;
}

export type HostLabels = Readonly<Record<string, string>>;

const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const UNDECIDED = -2;
/** The package is not for such a host. */
const NO_REGION = -1;

/** The hosts that have joined, with their labels, and what each runs of each package. */
export class FleetHosts {
  readonly table = new HostTable();
  private readonly records = new Map<string, HostRecords>();
  /** By number; a number whose hosts have all got other labels is used again. */
  private readonly sets: HostLabels[] = [];
  private readonly setHosts = new Uint32Array(SLOWROLL_LIMITS.labelSets.max);
  private readonly freeSets: number[] = [];
  private readonly setNumbers = new Map<string, number>();
  /** By package, the region of each set of labels. */
  private readonly regions = new Map<string, Int16Array>();

  constructor(readonly options: FleetHostsOptions) {
    for (const { name } of options.packages) {
      this.records.set(name, new HostRecords());
      this.regions.set(name, new Int16Array(SLOWROLL_LIMITS.labelSets.max).fill(UNDECIDED));
    }
  }

  /**
   * Adds a host, or changes its labels.
   * @returns its index, and whether anything is new
   * @throws ExtensionError if the fleet is full or the labels are refused
   */
  join(name: string, labels: HostLabels): { readonly index: number; readonly isNew: boolean } {
    const known = this.table.find(name);
    if (known !== -1) return { index: known, isNew: this.changeLabels(known, labels) };
    if (!HOST_NAME.test(name) || name.length > SLOWROLL_LIMITS.name.max)
      throw new ExtensionError('invalid-request', `${JSON.stringify(name.slice(0, 100))} is no name of a host`);
    if (this.table.count >= this.options.mostHosts)
      throw new ExtensionError('full', `there are ${this.table.count} hosts, and no more are taken`, {
        retryable: true,
      });
    const set = this.numberLabels(labels);
    this.setHosts[set] = (this.setHosts[set] ?? 0) + 1;
    const index = this.table.add(name, set);
    for (const records of this.records.values()) records.reserve(index + 1);
    return { index, isNew: true };
  }

  readLabels(index: number): HostLabels {
    return this.sets[this.table.labels[index] ?? 0] ?? {};
  }

  readRecords(packageName: string): HostRecords {
    const records = this.records.get(packageName);
    if (records === undefined) throw new Error(`there is no package ${packageName}`);
    return records;
  }

  /** The number of the region in which a host has a package, or -1. */
  findRegion(packageName: string, index: number): number {
    const regions = this.regions.get(packageName);
    const set = this.table.labels[index] ?? 0;
    const known = regions?.[set] ?? NO_REGION;
    if (known !== UNDECIDED || regions === undefined) return known;
    return (regions[set] = this.placeLabels(packageName, this.sets[set] ?? {}));
  }

  /** Whether hosts have a package in a region, for a pass over them. */
  createRegionTest(packageName: string, region: number): (index: number) => boolean {
    // The regions of all sets are known from here on.
    const regions = Int16Array.from(this.sets, (labels) => this.placeLabels(packageName, labels));
    const { labels } = this.table;
    return (index) => regions[labels[index] ?? 0] === region;
  }

  /** The bytes of all arrays. */
  get bytes(): number {
    return [...this.records.values()].reduce((sum, { bytes }) => sum + bytes, this.table.bytes);
  }

  private placeLabels(packageName: string, labels: HostLabels): number {
    const { packages, regions, regionLabel } = this.options;
    const wanted = packages.find(({ name }) => name === packageName)?.hosts ?? {};
    if (Object.entries(wanted).some(([label, value]) => labels[label] !== value)) return NO_REGION;
    return regions.indexOf(labels[regionLabel] ?? '');
  }

  /** Whether its labels are others. */
  private changeLabels(index: number, labels: HostLabels): boolean {
    const before = this.table.labels[index] ?? 0;
    if (this.setNumbers.get(writeLabels(labels)) === before) return false;
    const set = this.numberLabels(labels);
    this.table.labels[index] = set;
    this.setHosts[set] = (this.setHosts[set] ?? 0) + 1;
    this.leaveSet(before);
    return true;
  }

  /** One host that says other labels with each poll does not use all numbers up. */
  private leaveSet(set: number): void {
    this.setHosts[set] = (this.setHosts[set] ?? 0) - 1;
    if (this.setHosts[set] !== 0) return;
    this.setNumbers.delete(writeLabels(this.sets[set] ?? {}));
    this.sets[set] = {};
    for (const regions of this.regions.values()) regions[set] = UNDECIDED;
    this.freeSets.push(set);
  }

  private numberLabels(labels: HostLabels): number {
    const text = writeLabels(labels);
    const known = this.setNumbers.get(text);
    if (known !== undefined) return known;
    if (Object.keys(labels).length > SLOWROLL_LIMITS.labels.max || text.length > SLOWROLL_LIMITS.labelBytes.max)
      throw new ExtensionError('too-large', `a host has too many labels, or too long ones`, { status: 413 });
    const free = this.freeSets.pop() ?? this.sets.length;
    if (free >= SLOWROLL_LIMITS.labelSets.max)
      throw new ExtensionError(
        'too-many-labels',
        `hosts have ${this.sets.length} different sets of labels: use labels for groups of hosts, not for single ones`,
        { status: 413 },
      );
    this.setNumbers.set(text, free);
    this.sets[free] = { ...labels };
    return free;
  }
}

const writeLabels = (labels: HostLabels): string =>
  JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));
