import { limitTargets, type TaskCounts } from '../domain/deploy/lockstep';
import { targetsFor, type PhasePlan, type PlannedTarget, type Want } from '../domain/deploy/plan';
import { countMissingTasks } from '../domain/deploy/progress';
import type { Selection } from '../domain/deploy/snapshot';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import type { UnitProgress } from '../domain/fleet/unit';
import { runCancellable } from './cancellation';
import { askOfPresent } from './fetchUnits';
import { lookAtUpdates, trackProved, type FollowHeartbeat, type UpdateFollowRequest } from './updateLooks';
import { look } from './look';
import {
  keyOfRun,
  pushRequestKey,
  callIfOffered,
  findReservedUpdates,
  sendEach,
  toWire,
  unitNeeds,
  getTargetUnit,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';
import { sendUpdates, type PhaseUpdateRequest, type SentUpdates } from './updateSender';
import { unitsIn } from './snapshots';
import { createSteering } from './updateCommands';
import { type UpdateTrackingRequest, type TrackedUpdate, updateProgress } from './unitTracker';

/** The wanted state of the units of a phase, the same for each. */
export interface PhaseWork {
  readonly selection: Selection;
  readonly want: Want;
}

export interface UpdateRequest extends PhaseWork, PhaseUpdateRequest {
  /** Lockstep: the number of tasks of each unit; other units are left alone. */
  readonly counts?: TaskCounts;
}

/** `phase` names it in the idempotency key. */
export interface Prefetch extends PhaseWork {
  readonly phase: PhasePlan['key'];
}

/** The share of the requests to some units that goes to a version; `step` names it in the idempotency key, such as `0/2` or `revert/1`. */
export interface Traffic {
  readonly step: string;
  readonly selection: Selection;
  readonly percent: number;
  readonly toVersion: string;
}

/** The updates of a phase: thin calls with keys, so that a repetition changes nothing, and one that watches. */
export function createUpdateActivities(ports: PushPorts, invoke: Invoke) {
  const targetsOf = async ({ selection, want, counts }: PhaseWork & Pick<UpdateRequest, 'counts'>) =>
    limitTargets(targetsFor(await unitsIn(ports.snapshots, selection), want), counts);
  return {
    /** The number of units to update, and of their tasks that are not on the version. */
    countOutdated: async (call: DeployCall, work: PhaseWork): Promise<{ units: number; outdated: number }> => {
      const targets = await targetsOf(work);
      if (targets.length === 0) return { units: 0, outdated: 0 };
      const exclude = await findReservedUpdates(ports, call);
      const ask = (some: readonly PlannedTarget[]) => unitNeeds(invoke, call, some, exclude);
      // Like a revert, a rollback does not wait for units that are gone.
      const units = await (call.back
        ? askOfPresent(invoke, call, targets, { idOf: getTargetUnit, ask })
        : ask(targets));
      return { units: targets.length, outdated: units.reduce((sum, { outdated }) => sum + outdated, 0) };
    },

    executeUpdates: (call: DeployCall, request: UpdateRequest): Promise<SentUpdates> =>
      runCancellable(async () => sendUpdates(ports, invoke, call, request, await targetsOf(request))),

    trackUpdates: (
      call: DeployCall,
      tracking: UpdateTrackingRequest & Pick<UpdateFollowRequest, 'proof'>,
    ): Promise<TrackedUpdate> => trackProved(ports, invoke, call, tracking),

    /** The units of an update that are not finished; empty if there are more than a workflow should carry. */
    unitsBehind: async (call: DeployCall, tracking: UpdateTrackingRequest): Promise<UnitProgress[]> => {
      const { units } = await updateProgress(ports, invoke, call, tracking);
      const behind = units.filter((unit) => countMissingTasks(unit) > 0);
      return behind.length > FLEET_LIMITS.chunk ? [] : behind;
    },

    /** Looks once and heartbeats the counts; answers with the last counts once the fate of the phase is clear. */
    followUpdates: (call: DeployCall, following: UpdateFollowRequest): Promise<TrackedUpdate> =>
      look({ clock: ports.clock, ...following }, (now, before: FollowHeartbeat | undefined) =>
        lookAtUpdates(ports, invoke, call, following, now, before),
      ),

    ...createSteering(ports, invoke),

    /** Sends a share of the requests to a version. @returns false if the push type has no such method. */
    shiftTraffic: (call: DeployCall, traffic: Traffic): Promise<boolean> =>
      runCancellable(() => shiftUnits(ports, invoke, call, traffic)),

    /** Asks the fleet to fetch the artifacts of a phase before it begins. @returns false if the push type has no such method. */
    prefetch: async (call: DeployCall, { phase, ...work }: Prefetch): Promise<boolean> => {
      const targets = await targetsOf(work);
      const exclude = await findReservedUpdates(ports, call);
      const name = pushRequestKey(`${call.deployId}/${phase}/prefetch`, exclude);
      return callIfOffered(() =>
        sendEach(call, targets, getTargetUnit, ({ items, key }) =>
          invoke(call, 'prefetch', toWire(call, items, exclude), key(name)),
        ),
      );
    },
  };
}

async function shiftUnits(
  { snapshots }: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { step, selection, percent, toVersion }: Traffic,
): Promise<boolean> {
  const ids = (await unitsIn(snapshots, selection)).map(({ id }) => id);
  const name = keyOfRun(`${call.deployId}/${step}/traffic`);
  return callIfOffered(async () => {
    // Called even with no units, to find out whether the method exists.
    if (ids.length === 0) await invoke(call, 'shiftTraffic', { units: [], percent, toVersion }, name);
    await sendEach(call, ids, String, ({ items, key }) =>
      invoke(call, 'shiftTraffic', { units: [...items], percent, toVersion }, key(name)),
    );
  });
}
