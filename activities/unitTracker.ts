import { countUnits, type UpdateUnitCounts } from '../domain/deploy/counts';
import { judgeEach } from '../domain/deploy/lockstep';
import {
  judgeProgress,
  judgeTimeout,
  countGone,
  countMissingTasks,
  withEarlier,
  type Earlier,
  type Progress,
  type Unreachable,
} from '../domain/deploy/progress';
import { toNamed, type NamedUnits, type Selection } from '../domain/deploy/snapshot';
import { FLEET_LIMITS, SHOWN_UNITS } from '../domain/fleet/limits';
import type { Amount } from '../domain/fleet/amount';
import type { TurnWait, UnitProgress } from '../domain/fleet/unit';
import { contradictionInSizes } from '../sdk/protocol/contradictions/pushType';
import { asFailure, isNonRetryable } from './failure';
import { fetchUnits, orRefused, stillThere } from './fetchUnits';
import { contradicts, eachChunk, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { unitsIn } from './snapshots';

/** An update, or the parts of an update that was sent in several (a revert that isolates refused units). */
export interface UpdateTrackingRequest {
  readonly updateIds: readonly string[];
  /** The units whose progress is awaited. */
  readonly selection: Selection;
  readonly success: Amount;
  /** Lockstep: each unit has to meet the criterion. */
  readonly each?: boolean;
  /** If left out, a phase waits for unreachable tasks. */
  readonly unreachable?: Unreachable;
  /** For a phase that is tried again. */
  readonly earlier?: Earlier;
  /** For a revert or a rollback: units that are gone are not waited for. */
  readonly withoutGone?: boolean;
  /** It removes units: a task counts as updated and live once it is gone. */
  readonly removes?: boolean;
}

/** The progress of an update, as numbers, for any number of units. */
export interface TrackedUpdate extends UpdateUnitCounts {
  readonly progress: Progress;
  /** The result if the time is up now. */
  readonly late: Exclude<Progress, { kind: 'going' | 'met' }>;
  /** Tasks that exist but are not live on the version. */
  readonly missing: number;
  /** Tasks whose start failed. */
  readonly failed: number;
  readonly waits?: TurnWait;
  /** Some task is still to be updated. */
  readonly unfinished: boolean;
  /** Units that the push type does not report on, and that therefore do not count as updated. */
  readonly unheard: NamedUnits;
  /** The update claims to be done, but that could not be verified. */
  readonly unproven?: true;
}

/** Includes all units. */
export interface UpdateTrackingResult {
  readonly tracked: TrackedUpdate;
  readonly all: readonly UnitProgress[];
}

export async function trackUnits(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  tracking: UpdateTrackingRequest,
): Promise<UpdateTrackingResult> {
  const { success, each, unreachable, withoutGone } = tracking;
  const { ids, units, rows, sizes } = await updateProgress(ports, invoke, call, tracking);
  const answered = new Set(units.map(({ id }) => id));
  const silent = ids.filter((id) => !answered.has(id));
  const unheard = withoutGone && silent.length > 0 ? await stillThere(invoke, call, silent) : silent;
  const progress = (each ? judgeEach : judgeProgress)(units, success, unreachable);
  if (progress.kind !== 'going') await refuseBeyondSize(invoke, call, sizes, rows);
  const tracked = {
    ...countUnits(units, each ? FLEET_LIMITS.lockstepUnits : SHOWN_UNITS),
    ...summarizeTracked(units, unheard, progress),
  };
  return { tracked, all: units };
}

/**
 * A phase may not count more tasks than its units have: an inflated count would make the tasks of the others irrelevant. Units may have grown since
 * the plan, so units with more tasks than planned are listed again. @throws extension-protocol
 */
async function refuseBeyondSize(
  invoke: Invoke,
  call: DeployCall,
  planned: ReadonlyMap<string, number>,
  rows: readonly UnitProgress[],
): Promise<void> {
  if (contradictionInSizes(planned, rows) === undefined) return;
  const { units } = await orRefused(() => fetchUnits(invoke, call));
  const sizes = new Map(units.map(({ id, size }) => [id, Math.max(size, planned.get(id) ?? 0)]));
  const found = contradictionInSizes(sizes, rows);
  if (found) await asFailure(() => Promise.reject(contradicts(call, 'trackUpdates', found)));
}

interface UpdateRows {
  readonly ids: readonly string[];
  /** The planned sizes, by unit. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The rows of the update alone. */
  readonly rows: readonly UnitProgress[];
  /** Includes the results of earlier tries of its phase. */
  readonly units: readonly UnitProgress[];
}

/** The present units of an update, including the results of earlier tries of its phase. */
export async function updateProgress(
  { snapshots }: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { updateIds, selection, earlier, removes }: UpdateTrackingRequest,
): Promise<UpdateRows> {
  const planned = await unitsIn(snapshots, selection);
  const ids = planned.map(({ id }) => id);
  const sizes = new Map(planned.map(({ id, size }) => [id, size]));
  const track = (updateId: string) =>
    eachChunk(call, ids, String, async ({ items }) => {
      const some = call.inPages ? { units: [...items] } : {};
      return (await invoke(call, 'trackUpdates', { updateId, ...some })).units;
    });
  const rows: UnitProgress[] = [];
  for (const updateId of updateIds)
    rows.push(...(await track(updateId)).map((row) => (removes ? countGone(row) : row)));
  if (earlier === undefined) return { ids, sizes, rows, units: rows };
  // An update that the push type has forgotten adds nothing.
  const first = await track(earlier.first).catch((error: unknown) => {
    if (isNonRetryable(error)) return [];
    throw error;
  });
  return { ids, sizes, rows, units: withEarlier(earlier.units, first, rows) };
}

function summarizeTracked(units: readonly UnitProgress[], unheard: readonly string[], progress: Progress) {
  const waits = findLongestWait(units);
  return {
    ...(waits ? { waits } : {}),
    progress,
    late: judgeTimeout(units),
    missing: units.reduce((sum, unit) => sum + countMissingTasks(unit), 0),
    failed: units.reduce((sum, unit) => sum + unit.failed, 0),
    unfinished: units.some(isUnfinished),
    unheard: toNamed(unheard, FLEET_LIMITS.leftOut),
  };
}

/** The wait of the unit with the most others ahead of it. */
function findLongestWait(units: readonly UnitProgress[]): TurnWait | undefined {
  const all = units.flatMap(({ reason = '', ahead }) => (ahead === undefined ? [] : [{ reason, ahead }]));
  return all.sort((one, other) => other.ahead - one.ahead)[0];
}

const isUnfinished = ({ state, targeted, gone, live }: UnitProgress): boolean =>
  state !== 'done' && state !== 'failed' && targeted - gone > live;
