import { SLOWROLL_LIMITS } from '../../../sdk';
import type { Memory } from '../../../sdk/updates';
import { DecisionChain } from './chain';
import { HostCursor, type RolloutDecision, type SlowrollState } from './decisions';
import { FleetHosts, type HostLabels, type FleetHostsOptions } from './fleetHosts';
import { hashWords } from './hashPlace';
import { REPORT_KIND, type HostRecords } from './hostRecords';
import { HostTroubles } from './hostTroubles';
import type { ReportPackage } from '../protocol';
import { VersionNumbers } from './versionNumbers';

export interface SlowrollOptions extends FleetHostsOptions {
  readonly memory: Memory;
  /** ms since the epoch. */
  readonly now: () => number;
  /** ms of a clock that nobody sets, for silences. */
  readonly elapsed: () => number;
  /** A host that has not called for so long is unreachable. */
  readonly silenceMs: number;
  /** Counts of hosts may be so old, since each is a pass over all of them; none is older than a decision. Default 0. */
  readonly countsFor?: number;
}

/** A unit: a package in a region. */
export interface UnitPlace {
  readonly unit: string;
  readonly packageName: string;
  readonly region: number;
}

/** The decision about a package for a host. */
export interface HostOffer {
  readonly packageName: string;
  /** Undefined if nothing was ever decided for it. */
  readonly decision: RolloutDecision | undefined;
  /** The host has accepted a later generation, in a unit that it has left: it gets nothing before the next decision. */
  readonly held?: number;
}

/** A host as its tag describes it: the generation that it got last, and the version that it runs. */
export interface PastOffer {
  readonly packageName: string;
  readonly generation: number;
  readonly version: number;
  readonly failed: number;
  readonly reported: number;
  readonly trouble: number;
  readonly troubledAt: number;
}

const SECOND = 1000;
const MOST_REASONS = 5;

/**
 * All hosts, the decisions about them, and what they run. Decisions are durable; what hosts run is learned from them, so after a restart it is unknown until they have
 * polled. Nothing here waits: `noteCall`, `offer` and `report` answer from memory.
 */
export class SlowrollFleet {
  readonly hosts: FleetHosts;
  readonly versions: VersionNumbers;
  readonly troubles: HostTroubles;
  readonly units = new Map<string, UnitPlace>();
  /** Grows with every change of a decision or update. */
  decided = 0;
  private readonly startedAt: number;
  /** The seconds of this process at which decisions were made, by their times. */
  private readonly decidedAt = new Map<number, number>();
  /** Decisions by their number in the records of hosts; the first is none. */
  private readonly numbered: (RolloutDecision | undefined)[] = [undefined];
  private readonly numbers = new Map<RolloutDecision, number>();
  private readonly byGeneration = new Map<string, RolloutDecision>();
  private readonly chains = new Map<string, DecisionChain>();
  private readonly reasons = new Map<RolloutDecision, { readonly host: string; readonly reason: string }[]>();
  /** By decision, the starts of its version that no decision caused. */
  private readonly starts = new Map<RolloutDecision, number>();
  private readonly cursor = new HostCursor((index, at) => this.wasAway(index, at));

  constructor(readonly options: SlowrollOptions) {
    this.hosts = new FleetHosts(options);
    this.versions = new VersionNumbers(this.state);
    this.troubles = new HostTroubles(options.now);
    this.startedAt = options.elapsed();
    for (const { name } of options.packages)
      options.regions.forEach((region, index) => {
        const unit = `${name}/${region}`;
        this.units.set(unit, { unit, packageName: name, region: index });
        this.state.units[unit] ??= { version: '', update: null, starts: [], slots: [] };
      });
    for (const decision of Object.values(this.state.decisions ?? {}).flat()) this.number(decision);
  }

  get memory(): Memory {
    return this.options.memory;
  }

  get state(): SlowrollState {
    return this.options.memory.state;
  }

  /** Called after each change of an update. */
  touch(): void {
    this.decided += 1;
    this.chains.clear();
  }

  /** Stores a decision; the caller saves the memory. */
  decide(decision: RolloutDecision): void {
    const all = ((this.state.decisions ??= {})[decision.unit] ??= []);
    all.push(decision);
    if (all.length > SLOWROLL_LIMITS.decisions.max) this.forgetDecisions(all);
    if (decision.version !== '') this.versions.keep(decision.version);
    if (decision.at !== undefined) this.decidedAt.set(decision.at, this.second());
    this.number(decision);
    this.touch();
  }

  chain(unit: string): DecisionChain {
    const known = this.chains.get(unit) ?? new DecisionChain(this.state, unit);
    this.chains.set(unit, known);
    return known;
  }

  /** A host says that it is there. @returns its index, or -1 for a host that never said its labels */
  noteCall(name: string, labels: HostLabels | undefined): { readonly index: number; readonly isNew: boolean } {
    const joined =
      labels === undefined ? { index: this.hosts.table.find(name), isNew: false } : this.hosts.join(name, labels);
    if (joined.index !== -1) {
      const { table } = this.hosts;
      const silentFrom = this.findSilence(joined.index);
      if (silentFrom < this.second())
        [table.awayFrom[joined.index], table.awayUntil[joined.index]] = [silentFrom, this.clock()];
      table.calledAt[joined.index] = this.clock();
      table.gone[joined.index] = 0;
    }
    return joined;
  }

  /** Takes over what a host ran by its tag, as far as this process knows nothing about it. */
  recall(index: number, past: readonly PastOffer[]): void {
    for (const { packageName, generation, version, failed, reported, trouble, troubledAt } of past) {
      const place = this.findUnit(packageName, index);
      const records = this.hosts.readRecords(packageName);
      if (place === undefined || records.reported[index] !== REPORT_KIND.nothing) continue;
      [records.version[index], records.failed[index], records.reported[index]] = [version, failed, reported];
      [records.trouble[index], records.troubledAt[index]] = [trouble, troubledAt];
      const decision = this.byGeneration.get(`${place.unit} ${generation}`);
      if (decision !== undefined) records.decision[index] ||= this.numbers.get(decision) ?? 0;
    }
  }

  /** Takes over the report of a host. With `isAll` it has no other packages. */
  report(index: number, packages: readonly ReportPackage[], isAll: boolean): void {
    const found = new Map(packages.map((one) => [one.name, one]));
    for (const { name } of this.options.packages) {
      const one = found.get(name);
      const records = this.hosts.readRecords(name);
      if (one !== undefined || isAll) this.troubles.note(name, index, records, one?.trouble);
      if (one !== undefined) this.note(index, records, one);
      else if (isAll) this.noteAbsence(index, records);
    }
  }

  /** The decisions for a host from now on. Agents refuse a manifest with a lower generation than one that they accepted. */
  offer(index: number, past: readonly PastOffer[] = []): HostOffer[] {
    return this.resolveOffers(index).map((offer) => {
      const accepted = past.find(({ packageName }) => packageName === offer.packageName)?.generation ?? 0;
      return offer.decision !== undefined && accepted > offer.decision.generation
        ? { ...offer, held: accepted }
        : offer;
    });
  }

  private resolveOffers(index: number): HostOffer[] {
    return this.options.packages.flatMap(({ name }) => {
      const place = this.findUnit(name, index);
      if (place === undefined) return [];
      const records = this.hosts.readRecords(name);
      const before = this.findDecision(index, records, place.unit);
      const decision = this.chain(place.unit).resolve(this.point(index), before);
      if (decision !== undefined && this.numbers.get(decision) !== records.decision[index]) {
        records.decision[index] = this.numbers.get(decision) ?? 0;
        records.failed[index] = 0;
      }
      return [{ packageName: name, decision }];
    });
  }

  findUnit(packageName: string, index: number): UnitPlace | undefined {
    const region = this.hosts.findRegion(packageName, index);
    return region < 0 ? undefined : this.units.get(`${packageName}/${this.options.regions[region] ?? ''}`);
  }

  /** The cursor of rules, on a host. */
  point(index: number): HostCursor {
    const { high, low } = this.hosts.table;
    return this.cursor.moveTo(index, high[index] ?? 0, low[index] ?? 0);
  }

  /** The decision that a host got last: as it was offered, else by the version that it runs. Undefined if neither is known. */
  findDecision(index: number, records: HostRecords, unit: string): RolloutDecision | undefined {
    const offered = this.numbered[records.decision[index] ?? 0];
    // A host whose labels have changed belongs to another unit.
    if (offered?.unit === unit) return offered;
    const version = records.version[index] ?? 0;
    return version === 0 ? undefined : this.chain(unit).infer(this.point(index), this.versions.name(version));
  }

  /** Whether hosts are silent now, for a pass over them. */
  createSilence(): (index: number) => boolean {
    // One comparison for each of a million hosts.
    const { calledAt } = this.hosts.table;
    const latest = this.second() - this.options.silenceMs / SECOND;
    return (index) => Math.max(1, calledAt[index] ?? 0) < latest;
  }

  /** Seconds since the last call of a host; undefined if there was none since this process began. */
  measureSilence(index: number): number | undefined {
    const called = this.hosts.table.calledAt[index] ?? 0;
    return called === 0 ? undefined : this.clock() - called;
  }

  /** How often hosts started its version again, each by itself, since this process began. */
  countStarts(decision: RolloutDecision): number {
    return this.starts.get(decision) ?? 0;
  }

  /** Hosts that are no longer listed do not count, until they poll. */
  keepListed(isListed: (host: string) => boolean): void {
    const { table } = this.hosts;
    for (let index = 0; index < table.count; index += 1) table.gone[index] = isListed(table.nameHost(index)) ? 0 : 1;
  }

  /** A host whose reports say that a version failed, and why. */
  findReason(decision: RolloutDecision): string | undefined {
    const [first] = this.reasons.get(decision) ?? [];
    return first && `${decision.version} did not come up on ${first.host}: ${first.reason}`;
  }

  private noteAbsence(index: number, records: HostRecords): void {
    [records.version[index], records.failed[index], records.reported[index]] = [0, 0, REPORT_KIND.absent];
  }

  private note(index: number, records: HostRecords, one: ReportPackage): void {
    if (one.state === 'removed') {
      this.noteAbsence(index, records);
      return;
    }
    const version = this.versions.note(one.version);
    const failed = one.state === 'installed' ? 0 : this.versions.note(one.failedVersion ?? one.version);
    const isBroken = one.state === 'failed' && failed === version;
    const reported = isBroken ? REPORT_KIND.broken : REPORT_KIND.runs;
    const identifier = hashWords(one.identifier)[0] | 1;
    const isSame = records.identifier[index] === identifier && records.reported[index] === reported;
    if (isSame && records.version[index] === version && records.failed[index] === failed) return;
    const decision = this.numbered[records.decision[index] ?? 0];
    const isStart = records.version[index] === version && ![0, identifier].includes(records.identifier[index] ?? 0);
    if (isStart && decision !== undefined) this.starts.set(decision, this.countStarts(decision) + 1);
    records.identifier[index] = identifier;
    [records.version[index], records.failed[index], records.reported[index]] = [version, failed, reported];
    if (failed === 0 || decision === undefined || this.versions.find(decision.version) !== failed) return;
    const reasons = this.reasons.get(decision) ?? [];
    const host = this.hosts.table.nameHost(index);
    if (reasons.length < MOST_REASONS) reasons.push({ host, reason: one.reason ?? 'it gives no reason' });
    this.reasons.set(decision, reasons);
  }

  /** Nothing rests on decisions before the last one that took all hosts of the unit. */
  private forgetDecisions(all: RolloutDecision[]): void {
    const base = all.findLastIndex(
      ({ whole, threshold, except, undoes, update, unit }) =>
        whole && threshold >= 1 && except.length + undoes.length === 0 && this.isDone(update, unit),
    );
    all.splice(0, Math.max(0, Math.min(base, all.length - SLOWROLL_LIMITS.decisions.max)));
  }

  private isDone(update: string, unit: string): boolean {
    const found = this.state.updates[update]?.units[unit]?.state;
    return found === undefined || found === 'done';
  }

  private number(decision: RolloutDecision): void {
    this.numbers.set(decision, this.numbered.push(decision) - 1);
    this.byGeneration.set(`${decision.unit} ${decision.generation}`, decision);
  }

  /** The second from which a host is silent, unless it calls before. One that has not called since this process began counts as if it had called then. */
  private findSilence(index: number): number {
    return Math.max(1, this.hosts.table.calledAt[index] ?? 0) + this.options.silenceMs / SECOND;
  }

  /** Whether a host was silent at a time. Only its last silence is known, and none before the start of this process. */
  private wasAway(index: number, at: number): boolean {
    const { awayFrom, awayUntil } = this.hosts.table;
    const second = this.decidedAt.get(at) ?? 0;
    return this.findSilence(index) < second || ((awayFrom[index] ?? 0) < second && second < (awayUntil[index] ?? 0));
  }

  /** The seconds since the start of this process, which is 1, with their fraction. */
  private second(): number {
    return (this.options.elapsed() - this.startedAt) / SECOND + 1;
  }

  private clock(): number {
    return Math.max(1, Math.floor(this.second()));
  }
}
