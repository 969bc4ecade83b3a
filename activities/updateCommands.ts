import { groupUnits } from '../domain/deploy/groups';
import type { Selection } from '../domain/deploy/snapshot';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { keyOfRun, sendEach, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { unitsIn } from './snapshots';

/** Groups of units, by name. */
export interface GroupNames {
  readonly pauseBy: string;
  readonly names: readonly string[];
}

/** Halts and resumes an update that has begun: all of it, or some groups of its units. `nth` numbers the halts, and also the resumes. */
export function createSteering({ snapshots, clock }: PushPorts, invoke: Invoke) {
  const steer =
    (method: 'pauseUpdates' | 'resumeUpdates', verb: string) =>
    async (call: DeployCall, updateIds: readonly string[], nth: number, some?: GroupsOf): Promise<void> => {
      const units = some && (await unitsOfGroups(snapshots, some));
      for (const updateId of updateIds) {
        const name = keyOfRun(`${updateId}/${verb}${units ? '/units' : ''}/${nth}`);
        if (!units) await invoke(call, method, { updateId }, name);
        else
          await sendEach(call, units, String, ({ items, key }) =>
            invoke(call, method, { updateId, units: [...items] }, key(name)),
          );
      }
    };
  const cancelEach = async (call: DeployCall, updateIds: readonly string[]): Promise<true> => {
    for (const updateId of updateIds) await invoke(call, 'cancelUpdates', { updateId }, `${updateId}/cancel`);
    return true;
  };
  return {
    pauseUpdates: steer('pauseUpdates', 'pause'),
    resumeUpdates: steer('resumeUpdates', 'resume'),
    /** @returns false if the push type does not confirm the cancel in time for a revert; without `atOnce` it always waits for that. */
    cancelUpdates: async (
      call: DeployCall,
      updateIds: readonly string[],
      { atOnce = false }: { readonly atOnce?: boolean } = {},
    ): Promise<boolean> => {
      const cancelling = cancelEach(call, updateIds);
      return atOnce ? (await promptly(clock, REVERT_PATIENCE_MS, cancelling)) !== undefined : cancelling;
    },
  };
}

/** The units of an update in some groups, or (with `but`) in all other groups. */
export interface GroupsOf extends GroupNames {
  readonly selection: Selection;
  readonly but?: true;
}

async function unitsOfGroups(
  snapshots: PushPorts['snapshots'],
  { selection, pauseBy, names, but }: GroupsOf,
): Promise<string[]> {
  const groups = groupUnits(await unitsIn(snapshots, selection), pauseBy);
  return groups.filter(({ name }) => names.includes(name) !== (but ?? false)).flatMap(({ units }) => units);
}
