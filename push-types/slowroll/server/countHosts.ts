import { isRemoval } from '../../../sdk/updates';
import type { DecisionChain } from './chain';
import { isWithinRule, type RolloutDecision, type HostCursor } from './decisions';
import { REPORT_KIND, type HostRecords } from './hostRecords';
import { countCause, type CauseCounts } from './hostTroubles';
import type { SlowrollFleet, UnitPlace } from './slowrollFleet';

/** Counts over the hosts of a unit: each is one pass over a few arrays. */

/** A host in a pass. The same object is passed for all of them. */
interface Passing {
  index: number;
  host: HostCursor;
  records: HostRecords;
  /** It is unreachable. */
  isSilent: boolean;
  /** The decision that it was offered last, and the one that holds for it now. */
  current: RolloutDecision | undefined;
  resolved: RolloutDecision | undefined;
}

/** Passes over the hosts of a unit that are listed. */
export function passHosts(fleet: SlowrollFleet, place: UnitPlace, visit: (passing: Passing) => void): void {
  const { table } = fleet.hosts;
  const records = fleet.hosts.readRecords(place.packageName);
  const chain = fleet.chain(place.unit);
  const isSilent = fleet.createSilence();
  const isInRegion = fleet.hosts.createRegionTest(place.packageName, place.region);
  const passing: Passing = {
    ...{ index: 0, host: fleet.point(0), records, isSilent: false },
    ...{ current: undefined, resolved: undefined },
  };
  for (let index = 0; index < table.count; index += 1) {
    if (table.gone[index] === 1 || !isInRegion(index)) continue;
    passing.index = index;
    passing.isSilent = isSilent(index);
    passing.host = fleet.point(index);
    passing.current = fleet.findDecision(index, records, place.unit);
    const isStranger = passing.current === undefined && records.reported[index] === REPORT_KIND.nothing;
    passing.resolved = isStranger ? chain.suppose(passing.host) : chain.resolve(passing.host, passing.current);
    visit(passing);
  }
}

/** Whether a host has the package of a removed unit no longer. */
const isWithoutPackage = ({ resolved, records, index }: Passing): boolean =>
  resolved?.removes === true && records.reported[index] === REPORT_KIND.absent && records.trouble[index] === 0;

/** Whether a host runs a version, as far as it knows; one that is in trouble is not up. */
const isRunning = ({ records, index }: Passing, version: number): boolean =>
  records.version[index] === version && records.reported[index] === REPORT_KIND.runs && records.trouble[index] === 0;

/** Whether a host runs a version and is to stay on it. */
const isUpOnVersion = (passing: Passing, version: number, decided: string): boolean =>
  version !== 0 && isRunning(passing, version) && isToStay(passing, decided);

const isToStay = ({ resolved }: Passing, decided: string): boolean =>
  resolved === undefined || resolved.version === decided;

/** A unit as `fetchDeployUnits` lists it. */
export interface UnitDescription {
  readonly size: number;
  readonly version: string | null;
  readonly mixed: boolean;
  readonly available: boolean;
}

export function describePlace(fleet: SlowrollFleet, place: UnitPlace): UnitDescription {
  const versions = new Set<string>();
  let [size, silent, listed] = [0, 0, 0];
  passHosts(fleet, place, (passing) => {
    const { index, resolved, records } = passing;
    listed += 1;
    if (passing.isSilent) silent += 1;
    if (isWithoutPackage(passing)) return;
    size += 1;
    const version = resolved?.version ?? fleet.versions.name(records.version[index] ?? 0);
    if (version !== '') versions.add(version);
  });
  const unit = fleet.state.units[place.unit];
  const version = unit?.removed !== undefined && size === 0 ? null : unit?.version || null;
  return { size, version, mixed: versions.size > 1, available: listed === 0 || silent < listed };
}

/** The hosts that a target means and that are not up on its version. */
export interface Lack {
  /** All hosts of the unit, also those that an exception holds. */
  readonly size: number;
  /** Those that the target may take. */
  readonly free: number;
  /** The places of those among them that are not up on its version: of those that are there, and of those that are silent. */
  readonly places: number[];
  readonly away: number[];
}

export interface LackQuestion {
  readonly version: string;
  readonly salt: string;
  /** The generations whose hosts are meant; undefined for all hosts. */
  readonly undoes: readonly number[] | undefined;
  readonly except: readonly number[];
  /** Also the hosts that a removal has taken the package from. */
  readonly withRemoved: boolean;
}

export function listLack(fleet: SlowrollFleet, place: UnitPlace, question: LackQuestion): Lack {
  const number = fleet.versions.find(question.version);
  const chain = fleet.chain(place.unit);
  const [undoes, except] = [question.undoes && new Set(question.undoes), new Set(question.except)];
  const [places, away]: [number[], number[]] = [[], []];
  let [size, free] = [0, 0];
  passHosts(fleet, place, (passing) => {
    const { host, current, resolved } = passing;
    if (isWithoutPackage(passing) && !question.withRemoved) return;
    size += 1;
    if (undoes !== undefined && !undoes.has(resolved?.generation ?? -1)) return;
    if (isExcepted(chain, except, host, current, resolved)) return;
    free += 1;
    if (isUpOnVersion(passing, number, question.version)) return;
    (passing.isSilent ? away : places).push(host.findPlace(question.salt));
  });
  return { size, free, places, away };
}

function isExcepted(
  chain: DecisionChain,
  except: ReadonlySet<number>,
  host: HostCursor,
  current: RolloutDecision | undefined,
  resolved: RolloutDecision | undefined,
): boolean {
  if (except.size === 0) return false;
  if (resolved !== undefined && except.has(resolved.generation)) return true;
  return [...except].some((generation) => chain.isReserved(generation, host, current));
}

/** Where a decision stands; counts are hosts. */
export interface DecisionCounts {
  /** All hosts that it means, as far as they are listed. */
  members: number;
  /** Up on its version. */
  live: number;
  /** It did not come up there. */
  failed: number;
  /** Not offered to them yet, or offered and not reported. */
  pending: number;
  flying: number;
  /** It was offered, and the agent tries again. */
  troubled: number;
  causes: CauseCounts;
  /** The index of one that is in trouble; -1 if none is. */
  sample: number;
  unreachable: number;
  /** Silent and not on its version, also those that it has not chosen; the first of them by index. */
  silent: number;
  silentFirst: number[];
  /** They have not polled since this process began. */
  unknown: number;
  /** For a removal, hosts without the package. */
  gone: number;
}

interface KnownCounts {
  readonly at: number;
  readonly decided: number;
  readonly counts: DecisionCounts;
}

const known = new WeakMap<RolloutDecision, KnownCounts>();

/** The counts of a decision, which may be as old as the options of the fleet permit. */
export function countDecision(fleet: SlowrollFleet, place: UnitPlace, decision: RolloutDecision): DecisionCounts {
  const before = known.get(decision);
  const { elapsed, countsFor = 0 } = fleet.options;
  const at = elapsed();
  if (before?.decided === fleet.decided && at - before.at < countsFor) return before.counts;
  const counts = passDecision(fleet, place, decision);
  known.set(decision, { at, decided: fleet.decided, counts });
  return counts;
}

function passDecision(fleet: SlowrollFleet, place: UnitPlace, decision: RolloutDecision): DecisionCounts {
  const counts: DecisionCounts = {
    ...{ members: 0, live: 0, failed: 0, pending: 0, flying: 0, unreachable: 0, unknown: 0, gone: 0 },
    ...{ troubled: 0, causes: {}, sample: -1, silent: 0, silentFirst: [] },
  };
  const number = fleet.versions.find(decision.version);
  const chain = fleet.chain(place.unit);
  const isRemoving = isRemoval(fleet.state, decision.update);
  passHosts(fleet, place, (passing) => {
    const { index, records, current, resolved } = passing;
    const isTaken = resolved === decision || current === decision;
    if (passing.isSilent && !isWithoutPackage(passing) && !isUpOnVersion(passing, number, decision.version))
      noteSilent(counts, index);
    if (!isTaken && !isMember(chain, decision, passing)) return;
    counts.members += 1;
    const trouble = records.trouble[index] ?? 0;
    const isAbsent = records.reported[index] === REPORT_KIND.absent && trouble === 0;
    if (isRemoving && isAbsent && current === decision) counts.gone += 1;
    else if (passing.isSilent) counts.unreachable += 1;
    else if (records.reported[index] === REPORT_KIND.nothing) counts.unknown += 1;
    else if (!isRemoving && isUpOn(passing, number, decision)) counts.live += 1;
    else if (current !== decision) counts.pending += isTaken || isPending(chain, decision, passing) ? 1 : 0;
    else if (records.failed[index] === number && number !== 0) counts.failed += 1;
    else if (trouble === 0) counts.flying += 1;
    else noteTroubled(counts, index, trouble);
  });
  return counts;
}

/** A host that returned after a later phase was decided may get none of them: it waits for the next one. */
const isPending = (chain: DecisionChain, decision: RolloutDecision, { host, current, resolved }: Passing): boolean =>
  (resolved !== current || decision.away === undefined) && chain.takes(decision, host, current);

const MOST_NAMED = 5;

function noteSilent(counts: DecisionCounts, index: number): void {
  counts.silent += 1;
  if (counts.silentFirst.length < MOST_NAMED) counts.silentFirst.push(index);
}

function noteTroubled(counts: DecisionCounts, index: number, trouble: number): void {
  counts.troubled += 1;
  countCause(counts.causes, trouble);
  if (counts.sample === -1) counts.sample = index;
}

/** A host counts for a decision also when a later one has taken it since. */
function isMember(chain: DecisionChain, decision: RolloutDecision, { host, current, resolved }: Passing): boolean {
  if (decision.removes) return false;
  if (decision.undoes.length > 0) return resolved?.undoes.includes(decision.generation) ?? false;
  if (chain.takes(decision, host, current)) return true;
  return isWithinRule(decision, host) && !decision.except.includes(resolved?.generation ?? -1);
}

const isUpOn = (passing: Passing, version: number, decision: RolloutDecision): boolean =>
  passing.resolved === decision || passing.current === decision
    ? isRunning(passing, version)
    : isUpOnVersion(passing, version, decision.version);
