import { ApplicationFailure } from '@temporalio/activity';
import { marksOfMany, type BroughtVersion } from '../domain/broughtVersions';
import { asBefore, someWithoutPast, type Inheritance } from '../domain/deploy/planRevert';
import type { RestoredDeploy } from '../domain/deploy/heldUnits';
import type { RevertRules } from '../domain/deploy/versionBefore';
import { toNamed, type NamedUnits, type Part, type Snapshot, type SnapshotUnit } from '../domain/deploy/snapshot';
import type { UnlistedUnits } from '../domain/deploy/unlistedUnits';
import { filterConcerned, unavailable } from '../domain/deploy/unavailable';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import type { Unit } from '../domain/fleet/unit';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { fetchUnits, orRefused } from './fetchUnits';
import { allowJoined } from './fleetAccess';
import type { DeployCall, Invoke, PushPorts } from './pushCalls';
import { orGone } from './snapshots';
import { findKeepers } from './keepers';
import { inspectUnlistedUnits } from './unlistedUnits';

/** The units to look at again, and the reason. */
export interface LookRequest {
  /** For a follow-on: its units. */
  readonly only?: readonly string[];
  /** For a rollback or a follow-on: the versions that other pipelines have brought since, which stay. */
  readonly since?: readonly BroughtVersion[];
  readonly inherited?: Inheritance;
  /** For a rollback. */
  readonly restores?: RestoredDeploy;
  readonly rules: RevertRules;
  /** For a canary: the units that its updates may reach. */
  readonly parts?: readonly Part[];
  readonly allowEmpty?: true;
  /** For a canary: it goes back to the version that a unit runs now. */
  readonly asNow?: true;
  /** For a revert, which waits for no answer: if none comes in time, the units count as unchanged. */
  readonly atOnce?: true;
}

/** The present units of a deploy that is under way. */
export interface FleetLook {
  readonly units: number;
  readonly now: Snapshot;
  /** The version of some unit has changed since the snapshot. */
  readonly moved: boolean;
  readonly withoutPast: readonly SnapshotUnit[];
  readonly unavailable: NamedUnits;
  /** As in `Fleet`; missing for a canary. */
  readonly marks?: string;
  /** Missing if there are none, and for a canary. */
  readonly unlisted?: UnlistedUnits;
}

/**
 * The present units. Units that have joined are marked; units that are no longer listed are left out, except for a canary.
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
  const meant = filterConcerned(all, request.only);
  const keepers = await findKeepers(ports, invoke, call, meant, request);
  const units = await past(ports, filterConcerned(all, request.only, keepers), request.inherited);
  const before = await ports.snapshots.read(then);
  refuseNone(call, all, before, request);
  const known = new Map(before.map(({ id, version }) => [id, version]));
  const listed = withJoinedMarked(units, known, request);
  const now = [...listed, ...findUnlistedUnits(units, before, request)];
  const fresh = request.asNow ? (fetched ? listed : now) : now.filter((unit) => unit.joined);
  if (!request.asNow) await allowJoined(ports, call, { joined: fresh, before }, request.restores);
  const question = { before, listed: all, version: request.rules.deployed };
  const lost = request.asNow ? undefined : await inspectUnlistedUnits(ports, invoke, call, question);
  const marks = request.asNow ? undefined : marksOfMany(meant.map(({ id }) => id));
  return {
    units: units.length,
    now: await ports.snapshots.write(call.deployId, now),
    moved: now.some(({ id, version }) => known.has(id) && known.get(id) !== version),
    withoutPast: someWithoutPast(fresh, request.rules, request.parts ?? []),
    unavailable: toNamed(unavailable(units), FLEET_LIMITS.leftOut),
    ...(marks === undefined ? {} : { marks }),
    ...(lost && { unlisted: lost }),
  };
}

/** If there were units before, an empty list more likely shows a fault of the push type than an empty fleet. */
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

/**
 * A canary also goes back on units that are no longer listed, to their earlier version; its revert finds out which of them are gone.
 */
function findUnlistedUnits(
  units: readonly Unit[],
  before: readonly SnapshotUnit[],
  { asNow }: LookRequest,
): SnapshotUnit[] {
  const listed = new Set(units.map(({ id }) => id));
  return asNow ? before.flatMap((unit) => (listed.has(unit.id) ? [] : [{ ...unit, mixed: false }])) : [];
}

/** The units with their versions from before the changes that they inherit. */
export const past = async (
  ports: PushPorts,
  units: readonly Unit[],
  inherited: Inheritance | undefined,
): Promise<SnapshotUnit[]> =>
  inherited ? asBefore(units, inherited, await orGone(ports.snapshots.read(inherited.before))) : [...units];
