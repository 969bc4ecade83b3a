import {
  toTaskCounts,
  strideBack,
  strideForward,
  type LockstepUnit,
  type Stride,
  type TaskCounts,
} from '../domain/deploy/lockstep';
import { refuseManyInStep } from '../domain/deploy/planLimits';
import { targetsFor, type PlannedTarget } from '../domain/deploy/plan';
import { askOfPresent, fetchUnits, orRefused } from './fetchUnits';
import { unitNeeds, getTargetUnit, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { allTargets, type RevertRequest } from './reverts';
import { unitsIn } from './snapshots';
import type { PhaseWork } from './updates';

/** The traffic to shift, and then the tasks to send. */
export interface PlannedStride {
  readonly percent: number;
  /** The units whose traffic is shifted. */
  readonly shifts: readonly string[];
  /** The tasks to send; left out if they are all that is wanted, which makes this the last stride. */
  readonly counts?: TaskCounts;
  /** Nothing is left to do after it. */
  readonly isLast: boolean;
}

/**
 * Lockstep: the next step, as `domain/deploy/lockstep.ts` defines it. A canary's tasks count like others on their
 * version.
 */
export function createStrideActivities(ports: PushPorts, invoke: Invoke) {
  return {
    /** Towards the amount of the phase. */
    planStride: async (call: DeployCall, { selection, want }: PhaseWork): Promise<PlannedStride> => {
      const { version, amount = ALL_TASKS } = want;
      const ids = (await unitsIn(ports.snapshots, selection)).map(({ id }) => id);
      await orRefused(async () => refuseManyInStep(call.pushType, ids.length));
      const ask = (some: readonly string[]) => lockstepUnits(invoke, call, some, version);
      // Like a revert, a rollback does not wait for units that are gone.
      const units = await (call.back ? askOfPresent(invoke, call, ids, { idOf: String, ask }) : ask(ids));
      const stride = strideForward(units, amount);
      return toPlannedStride(stride, 'all' in amount || ids.length === 0);
    },

    /**
     * Away from the version to remove. Units that are unavailable, or that were refused, do not delay the others: they keep their traffic,
     * and come last. The last update finds the units that are gone.
     */
    planStrideBack: async (call: DeployCall, request: RevertRequest): Promise<PlannedStride> => {
      const { units: fetched } = await orRefused(() => fetchUnits(invoke, call));
      const available = new Map(fetched.map((unit) => [unit.id, unit.available]));
      const targets = (await allTargets(ports, request)).filter(({ unit }) => available.has(unit));
      const left = await targetNeeds(invoke, call, targets);
      const ids = targets.map(getTargetUnit);
      const units = (await lockstepUnits(invoke, call, ids, request.rules.deployed)).map((unit) => ({
        ...unit,
        left: left.get(unit.id)?.outdated ?? 0,
      }));
      const aside = new Set(request.aside);
      const present = units.filter(({ id }) => available.get(id) && !aside.has(id));
      const isThere = present.some((unit) => unit.left > 0);
      const stride = strideBack(isThere ? present : units);
      return toPlannedStride(
        { ...stride, isLast: stride.isLast && (!isThere || present.length === units.length) },
        true,
      );
    },
  };
}

const ALL_TASKS = { all: true } as const;

const toPlannedStride = (stride: Stride, isWhole: boolean): PlannedStride => {
  const { percent, shifts, isLast } = stride;
  const counts = toTaskCounts(stride, isWhole);
  return { percent, shifts, isLast, ...(counts ? { counts } : {}) };
};

async function targetNeeds(invoke: Invoke, call: DeployCall, targets: readonly PlannedTarget[]) {
  const units = await unitNeeds(invoke, call, targets, []);
  return new Map(units.map((unit) => [unit.id, unit]));
}

async function lockstepUnits(
  invoke: Invoke,
  call: DeployCall,
  ids: readonly string[],
  version: string,
): Promise<LockstepUnit[]> {
  const want = { version, artifacts: [], amount: ALL_TASKS };
  const known = await targetNeeds(
    invoke,
    call,
    targetsFor(
      ids.map((id) => ({ id })),
      want,
    ),
  );
  return [...known.values()].map(({ id, size, outdated, budget, down }) => ({
    id,
    size,
    budget,
    // Of a removed unit, tasks that are to be made count as outdated, and not as tasks.
    on: Math.max(0, size - outdated),
    down,
  }));
}
