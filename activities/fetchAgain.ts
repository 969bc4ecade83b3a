import { ApplicationFailure } from '@temporalio/activity';
import { marksOfMany, type Brought } from '../domain/brought';
import { asBefore, someWithoutPast, type Inheritance } from '../domain/deploy/planRevert';
import type { Restored } from '../domain/deploy/held';
import type { RevertRules } from '../domain/deploy/versionBefore';
import { named, type Named, type Part, type Snapshot, type SnapshotUnit } from '../domain/deploy/snapshot';
import type { UnlistedUnits } from '../domain/deploy/unlisted';
import { concerned, unavailable } from '../domain/deploy/unavailable';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import type { Unit } from '../domain/fleet/unit';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { fetchUnits, orRefused } from './fetchUnits';
import { allowJoined } from './fleetAccess';
import type { DeployCall, Invoke, PushPorts } from './pushCalls';
import { orGone } from './snapshots';
import { findKeepers } from './keepers';
import { unlistedUnits } from './unlisted';

/** Which units are looked at again, and for what. */
export interface LookRequest {
  /** Of a follow-on: its units. */
  readonly only?: readonly string[];
  /** For what goes back: what other pipelines have brought since, which stays. */
  readonly since?: readonly Brought[];
  readonly inherited?: Inheritance;
  /** Of a rollback. */
  readonly restores?: Restored;
  readonly rules: RevertRules;
  /** Of a canary: what its updates may reach. */
  readonly parts?: readonly Part[];
  readonly allowEmpty?: true;
  /** Of a canary: what a unit runs now is what it goes back to. */
  readonly asNow?: true;
  /** For a revert, which waits for nobody: what nobody says in time is as it was. */
  readonly atOnce?: true;
}

/** The units of a deploy that is under way, as they are now. */
export interface FleetLook {
  readonly units: number;
  readonly now: Snapshot;
  /** The version of one is another than then. */
  readonly moved: boolean;
  readonly withoutPast: readonly SnapshotUnit[];
  readonly unavailable: Named;
  /** As of a fleet; not for a canary. */
  readonly marks?: string;
  /** Missing if there is none, and for a canary. */
  readonly unlisted?: UnlistedUnits;
}

/**
 * The units as they are now: those that joined since are marked, those that are not listed any more are missing, but of a canary.
 * @throws ApplicationFailure `plan-impossible`
 */
export async function fetchAgain(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  then: Snapshot,
  request: LookRequest,
): Promise<FleetLook> {
  const fetching = orRefused(() => fetchUnits(invoke, call));
  const fetched = request.atOnce ? await promptly(ports.clock, REVERT_PATIENCE_MS, fetching) : await fetching;
  const all = fetched?.units ?? [];
  const meant = concerned(all, request.only);
  const keepers = await findKeepers(ports, invoke, call, meant, request);
  const units = await past(ports, concerned(all, request.only, keepers), request.inherited);
  const before = await ports.snapshots.read(then);
  refuseNone(call, all, before, request);
  const known = new Map(before.map(({ id, version }) => [id, version]));
  const listed = withJoinedMarked(units, known, request);
  const now = [...listed, ...unlisted(units, before, request)];
  const fresh = request.asNow ? (fetched ? listed : now) : now.filter((unit) => unit.joined);
  if (!request.asNow) await allowJoined(ports, call, { joined: fresh, before }, request.restores);
  const question = { before, listed: all, version: request.rules.deployed };
  const lost = request.asNow ? undefined : await unlistedUnits(ports, invoke, call, question);
  const marks = request.asNow ? undefined : marksOfMany(meant.map(({ id }) => id));
  return {
    units: units.length,
    now: await ports.snapshots.write(call.deployId, now),
    moved: now.some(({ id, version }) => known.has(id) && known.get(id) !== version),
    withoutPast: someWithoutPast(fresh, request.rules, request.parts ?? []),
    unavailable: named(unavailable(units), FLEET_LIMITS.leftOut),
    ...(marks === undefined ? {} : { marks }),
    ...(lost && { unlisted: lost }),
  };
}

/** Where there were units, an empty list says more of who made it than of the fleet. */
function refuseNone(
  { pushType }: DeployCall,
  units: readonly Unit[],
  before: readonly Unit[],
  { allowEmpty, asNow }: LookRequest,
): void {
  if (units.length === 0 && before.length > 0 && !allowEmpty && !asNow)
    throw ApplicationFailure.nonRetryable(`${pushType} names no units any more`, 'plan-impossible');
}

const withJoinedMarked = (
  units: readonly SnapshotUnit[],
  known: ReadonlyMap<string, unknown>,
  { asNow }: LookRequest,
): SnapshotUnit[] =>
  units.map((unit) => ({
    ...unit,
    ...(asNow ? { mixed: false } : {}),
    ...(known.has(unit.id) ? {} : { joined: true as const }),
  }));

/** A canary goes back also on units that are not listed now, to what they ran: its revert finds out which of them are gone. */
function unlisted(units: readonly Unit[], before: readonly SnapshotUnit[], { asNow }: LookRequest): SnapshotUnit[] {
  const listed = new Set(units.map(({ id }) => id));
  return asNow ? before.flatMap((unit) => (listed.has(unit.id) ? [] : [{ ...unit, mixed: false }])) : [];
}

/** The units as they were before what they inherit. */
export const past = async (
  ports: PushPorts,
  units: readonly Unit[],
  inherited: Inheritance | undefined,
): Promise<SnapshotUnit[]> =>
  inherited ? asBefore(units, inherited, await orGone(ports.snapshots.read(inherited.before))) : [...units];
