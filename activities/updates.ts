import { countUnits, type Counted } from '../domain/deploy/counts';
import { groupsOf } from '../domain/deploy/groups';
import { counted, judgeEach, type TaskCounts } from '../domain/deploy/lockstep';
import { targetsFor, type PhasePlan, type PlannedTarget } from '../domain/deploy/plan';
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
import type { UnitProgress } from '../domain/fleet/unit';
import { plural } from '../domain/text';
import { isNonRetryable } from './failure';
import { stillThere } from './fleet';
import { look } from './look';
import {
  eachChunk,
  pushRequestKey,
  offered,
  reservedUpdates,
  sendEach,
  toWire,
  unitNeeds,
  unitOf,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';
import { unitsIn } from './snapshots';

/** What a phase asks of its units: to each the same. */
export interface PhaseWork {
  readonly selection: Selection;
  readonly want: Pick<PlannedTarget, 'version' | 'artifacts' | 'amount'>;
}

export interface UpdateRequest extends PhaseWork {
  readonly updateId: string;
  readonly wholeUnit: boolean;
  /** Lockstep: so many tasks of these units, and no others. */
  readonly counts?: TaskCounts;
}

/** `phase` names it in the idempotency key. */
export interface Prefetch extends PhaseWork {
  readonly phase: PhasePlan['key'];
}

/** How much of the requests of some units goes to a version; `step` names it in the idempotency key, such as `0/2` or `revert/1`. */
export interface Traffic {
  readonly step: string;
  readonly selection: Selection;
  readonly percent: number;
  readonly toVersion: string;
}

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
  /** Of a revert: nobody waits for units that are gone. */
  readonly withoutGone?: boolean;
}

/** How long to follow an update: until its criterion is met or cannot be met any more. */
export interface Following extends Tracking {
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
}

/** What was sent: to how many units, known by which ids, and which did not take it. */
export interface SentUpdates {
  readonly updateIds: readonly string[];
  readonly count: number;
  readonly refused: Named;
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
  /** Some task is still to be updated. */
  readonly unfinished: boolean;
  /** Units of which the push type says nothing, least of all that they are updated. */
  readonly unheard: Named;
}

/** Groups of units, by their names. */
export interface GroupNames {
  readonly pauseBy: string;
  readonly names: readonly string[];
}

/** The updates of a phase: thin calls, keyed so that a repetition changes nothing, and one that watches. */
export function createUpdateActivities(ports: PushPorts, invoke: Invoke) {
  const targetsOf = async ({ selection, want, counts }: PhaseWork & Pick<UpdateRequest, 'counts'>) =>
    counted(targetsFor(await unitsIn(ports.snapshots, selection), want), counts);
  const track = (call: DeployCall, tracking: Tracking) => trackUpdates(ports, invoke, call, tracking);
  return {
    /** How many units there are to update, and how many tasks of them are not on the version. */
    countOutdated: async (call: DeployCall, work: PhaseWork): Promise<{ units: number; outdated: number }> => {
      const targets = await targetsOf(work);
      if (targets.length === 0) return { units: 0, outdated: 0 };
      const exclude = await reservedUpdates(ports, call);
      const units = await unitNeeds(invoke, call, targets, exclude);
      return { units: targets.length, outdated: units.reduce((sum, { outdated }) => sum + outdated, 0) };
    },

    executeUpdates: async (call: DeployCall, { updateId, wholeUnit, ...work }: UpdateRequest): Promise<SentUpdates> => {
      const targets = await targetsOf(work);
      const exclude = await reservedUpdates(ports, call);
      const name = pushRequestKey(`${updateId}/execute`, exclude);
      const accepted = await eachChunk(call, targets, unitOf, async ({ items, key }) => {
        const request = { updateId, wholeUnit, urgency: 'normal' as const, ...toWire(call, items, exclude) };
        return (await invoke(call, 'executeUpdates', request, key(name))).accepted;
      });
      return { updateIds: [updateId], count: targets.length, refused: missingUnits(targets.map(unitOf), accepted) };
    },

    trackUpdates: track,

    /** The units of an update that are not through; none when they are more than a workflow should carry. */
    unitsBehind: async (call: DeployCall, tracking: Tracking): Promise<UnitProgress[]> => {
      const { units } = await updateProgress(ports, invoke, call, tracking);
      const behind = units.filter((unit) => missingOf(unit) > 0);
      return behind.length > FLEET_LIMITS.chunk ? [] : behind;
    },

    /** Looks once and heartbeats the counts; answers with the last ones once the fate of the phase is clear. */
    followUpdates: (call: DeployCall, following: Following): Promise<TrackedUpdate> =>
      look<TrackedUpdate, Counted>({ clock: ports.clock, ...following }, async () => {
        const tracked = await track(call, following);
        const { units, totals, progress } = tracked;
        if (progress.kind !== 'going') return { done: tracked };
        return { seen: { units, totals }, message: `${totals.live} of ${plural(totals.targeted, 'task')} live` };
      }),

    ...steering(ports, invoke),

    /** Sends a share of the requests to a version. @returns false where the push type has no such method. */
    shiftTraffic: async (call: DeployCall, { step, selection, percent, toVersion }: Traffic): Promise<boolean> => {
      const ids = (await unitsIn(ports.snapshots, selection)).map(({ id }) => id);
      const name = `${call.deployId}/${step}/traffic`;
      return offered(async () => {
        // Also of no units: whether the method is there.
        if (ids.length === 0) await invoke(call, 'shiftTraffic', { units: [], percent, toVersion }, name);
        await sendEach(call, ids, String, ({ items, key }) =>
          invoke(call, 'shiftTraffic', { units: [...items], percent, toVersion }, key(name)),
        );
      });
    },

    /** Asks the fleet to fetch what a phase brings before it begins. @returns false where the push type has no such method. */
    prefetch: async (call: DeployCall, { phase, ...work }: Prefetch): Promise<boolean> => {
      const targets = await targetsOf(work);
      const exclude = await reservedUpdates(ports, call);
      const name = pushRequestKey(`${call.deployId}/${phase}/prefetch`, exclude);
      return offered(() =>
        sendEach(call, targets, unitOf, ({ items, key }) =>
          invoke(call, 'prefetch', toWire(call, items, exclude), key(name)),
        ),
      );
    },
  };
}

/** Those of the wanted ids that are not among the others. */
function missingUnits(wanted: readonly string[], ids: readonly string[]): Named {
  const there = new Set(ids);
  return named(
    wanted.filter((id) => !there.has(id)),
    FLEET_LIMITS.leftOut,
  );
}

async function trackUpdates(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  tracking: Tracking,
): Promise<TrackedUpdate> {
  const { success, each, unreachable, withoutGone } = tracking;
  const { ids, units } = await updateProgress(ports, invoke, call, tracking);
  const answered = new Set(units.map(({ id }) => id));
  const silent = ids.filter((id) => !answered.has(id));
  const unheard = withoutGone && silent.length > 0 ? await stillThere(invoke, call, silent) : silent;
  return {
    ...countUnits(units, each ? FLEET_LIMITS.lockstepUnits : SHOWN_UNITS),
    ...trackedOf(units, unheard, (each ? judgeEach : judgeProgress)(units, success, unreachable)),
  };
}

/** The units of an update as they are now, with what earlier tries of its phase did. */
async function updateProgress(
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
  return {
    progress,
    late: judgeTimeout(units),
    missing: units.reduce((sum, unit) => sum + missingOf(unit), 0),
    failed: units.reduce((sum, unit) => sum + unit.failed, 0),
    unfinished: units.some(isUnfinished),
    unheard: named(unheard, FLEET_LIMITS.leftOut),
  };
}

const isUnfinished = ({ state, targeted, gone, live }: UnitProgress): boolean =>
  state !== 'done' && state !== 'failed' && targeted - gone > live;

/** What stops an update that has begun, and lets it continue: all of it, or some groups of its units. `nth` counts either by itself. */
function steering({ snapshots }: PushPorts, invoke: Invoke) {
  const steer =
    (method: 'pauseUpdates' | 'resumeUpdates', verb: string) =>
    async (call: DeployCall, updateIds: readonly string[], nth: number, some?: GroupsOf): Promise<void> => {
      const units = some && (await unitsOfGroups(snapshots, some));
      for (const updateId of updateIds) {
        const name = `${updateId}/${verb}${units ? '/units' : ''}/${nth}`;
        if (!units) await invoke(call, method, { updateId }, name);
        else
          await sendEach(call, units, String, ({ items, key }) =>
            invoke(call, method, { updateId, units: [...items] }, key(name)),
          );
      }
    };
  return {
    pauseUpdates: steer('pauseUpdates', 'pause'),
    resumeUpdates: steer('resumeUpdates', 'resume'),
    cancelUpdates: async (call: DeployCall, updateIds: readonly string[]): Promise<void> => {
      for (const updateId of updateIds) await invoke(call, 'cancelUpdates', { updateId }, `${updateId}/cancel`);
    },
  };
}

/** The units of an update that belong to some groups, or (`but`) to all others. */
export interface GroupsOf extends GroupNames {
  readonly selection: Selection;
  readonly but?: true;
}

async function unitsOfGroups(
  snapshots: PushPorts['snapshots'],
  { selection, pauseBy, names, but }: GroupsOf,
): Promise<string[]> {
  const groups = groupsOf(await unitsIn(snapshots, selection), pauseBy);
  return groups.filter(({ name }) => names.includes(name) !== (but ?? false)).flatMap(({ units }) => units);
}
