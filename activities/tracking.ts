import { countUnits, type Counted } from '../domain/deploy/counts';
import { judgeEach } from '../domain/deploy/lockstep';
import {
  judgeProgress,
  judgeTimeout,
  missingOf,
  withEarlier,
  type Earlier,
  type Progress,
  type Unreachable,
} from '../domain/deploy/progress';
import { named, type Named, type Selection } from '../domain/deploy/snapshot';
import { FLEET_LIMITS, SHOWN_UNITS } from '../domain/fleet/limits';
import type { Amount } from '../domain/fleet/amount';
import type { TurnWait, UnitProgress } from '../domain/fleet/unit';
import { isNonRetryable } from './failure';
import { stillThere } from './fetchUnits';
import { eachChunk, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { unitsIn } from './snapshots';

/** An update, or the parts of one that was sent in several (of a revert that isolates what is refused). */
export interface Tracking {
  readonly updateIds: readonly string[];
  /** The units whose progress is awaited. */
  readonly selection: Selection;
  readonly success: Amount;
  /** Lockstep: each unit has to meet it. */
  readonly each?: boolean;
  /** Left out: a phase waits for tasks that cannot be reached. */
  readonly unreachable?: Unreachable;
  /** Of a phase that is tried again. */
  readonly earlier?: Earlier;
  /** Of a revert or a rollback: nobody waits for units that are gone. */
  readonly withoutGone?: boolean;
}

/** Where an update stands: numbers, however many units it has. */
export interface TrackedUpdate extends Counted {
  readonly progress: Progress;
  /** What it means when the time is up. */
  readonly late: Exclude<Progress, { kind: 'going' | 'met' }>;
  /** Tasks that exist and do not live on the version. */
  readonly missing: number;
  /** Tasks whose start failed. */
  readonly failed: number;
  readonly waits?: TurnWait;
  /** Some task is still to be updated. */
  readonly unfinished: boolean;
  /** Units of which the push type says nothing, least of all that they are updated. */
  readonly unheard: Named;
  /** It says that it is done, and whether that is so could not be asked. */
  readonly unproven?: true;
}

/** With all units. */
export interface Tracked {
  readonly tracked: TrackedUpdate;
  readonly all: readonly UnitProgress[];
}

export async function trackUnits(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  tracking: Tracking,
): Promise<Tracked> {
  const { success, each, unreachable, withoutGone } = tracking;
  const { ids, units } = await updateProgress(ports, invoke, call, tracking);
  const answered = new Set(units.map(({ id }) => id));
  const silent = ids.filter((id) => !answered.has(id));
  const unheard = withoutGone && silent.length > 0 ? await stillThere(invoke, call, silent) : silent;
  const tracked = {
    ...countUnits(units, each ? FLEET_LIMITS.lockstepUnits : SHOWN_UNITS),
    ...trackedOf(units, unheard, (each ? judgeEach : judgeProgress)(units, success, unreachable)),
  };
  return { tracked, all: units };
}

/** The units of an update as they are now, with what earlier tries of its phase did. */
export async function updateProgress(
  { snapshots }: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { updateIds, selection, earlier }: Tracking,
): Promise<{ readonly ids: readonly string[]; readonly units: readonly UnitProgress[] }> {
  const ids = (await unitsIn(snapshots, selection)).map(({ id }) => id);
  const track = (updateId: string) =>
    eachChunk(call, ids, String, async ({ items }) => {
      const some = call.inPages ? { units: [...items] } : {};
      return (await invoke(call, 'trackUpdates', { updateId, ...some })).units;
    });
  const units: UnitProgress[] = [];
  for (const updateId of updateIds) units.push(...(await track(updateId)));
  if (earlier === undefined) return { ids, units };
  // One that the push type has forgotten says no more.
  const first = await track(earlier.first).catch((error: unknown) => {
    if (isNonRetryable(error)) return [];
    throw error;
  });
  return { ids, units: withEarlier(earlier.units, first, units) };
}

function trackedOf(units: readonly UnitProgress[], unheard: readonly string[], progress: Progress) {
  const waits = landingWaits(units);
  return {
    ...(waits ? { waits } : {}),
    progress,
    late: judgeTimeout(units),
    missing: units.reduce((sum, unit) => sum + missingOf(unit), 0),
    failed: units.reduce((sum, unit) => sum + unit.failed, 0),
    unfinished: units.some(isUnfinished),
    unheard: named(unheard, FLEET_LIMITS.leftOut),
  };
}

/** Of the unit before which most go. */
function landingWaits(units: readonly UnitProgress[]): TurnWait | undefined {
  const all = units.flatMap(({ reason = '', ahead }) => (ahead === undefined ? [] : [{ reason, ahead }]));
  return all.sort((one, other) => other.ahead - one.ahead)[0];
}

const isUnfinished = ({ state, targeted, gone, live }: UnitProgress): boolean =>
  state !== 'done' && state !== 'failed' && targeted - gone > live;
