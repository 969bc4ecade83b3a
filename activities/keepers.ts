import { hasUnit, findKeeper, type BroughtVersion, type TaskCounts } from '../domain/broughtVersions';
import type { Inheritance } from '../domain/deploy/planRevert';
import type { Unit } from '../domain/fleet/unit';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { unitNeeds, type DeployCall, type Invoke, type PushPorts } from './pushCalls';

type Counts = ReadonlyMap<string, TaskCounts>;

/**
 * The units that a rollback or follow-on leaves to other pipelines, by id, with the versions that those have brought. If a deploy stopped half-way,
 * of another pipeline or of this one, the version of a unit does not show what it left there. So the push type counts the tasks of the unit. If it
 * does not answer in time, the version of the unit decides.
 * @param inherited the changes that earlier deploys of this pipeline left behind; they go back, even if other versions run there
 */
export async function findKeepers(
  ports: Pick<PushPorts, 'clock'>,
  invoke: Invoke,
  call: DeployCall,
  units: readonly Unit[],
  { since = [], inherited }: { readonly since?: readonly BroughtVersion[]; readonly inherited?: Inheritance },
): Promise<ReadonlyMap<string, BroughtVersion>> {
  const count = async (some: readonly Unit[], version: string): Promise<Counts> =>
    some.length === 0 ? new Map() : countTasks(ports, invoke, call, some, version);
  const counts = new Map<BroughtVersion, Counts>();
  for (const one of since.filter(({ stopped }) => stopped))
    counts.set(
      one,
      await count(
        units.filter(({ id }) => hasUnit(one, id)),
        one.version,
      ),
    );
  const keepers = new Map<string, BroughtVersion>();
  for (const unit of units) {
    const keeper = findKeeper(unit, since, (one) => counts.get(one)?.get(unit.id));
    if (keeper) keepers.set(unit.id, keeper);
  }
  const kept = units.filter(({ id }) => keepers.has(id) && !inherited?.settled?.includes(id));
  for (const version of inherited?.left ?? []) {
    const left = await count(kept, version);
    const isLeft = ({ id, mixed }: Unit): boolean => mixed || (left.get(id)?.on ?? 0) > 0;
    for (const unit of kept) if (isLeft(unit) && keepers.get(unit.id)?.version !== version) keepers.delete(unit.id);
  }
  return keepers;
}

/** Empty if the push type does not answer in time. */
async function countTasks(
  { clock }: Pick<PushPorts, 'clock'>,
  invoke: Invoke,
  call: DeployCall,
  units: readonly Unit[],
  version: string,
): Promise<Counts> {
  const targets = units.map(({ id }) => ({ unit: id, version, artifacts: [] }));
  const needs = await promptly(clock, REVERT_PATIENCE_MS, unitNeeds(invoke, call, targets, []));
  return new Map((needs ?? []).map(({ id, size, outdated }) => [id, { on: Math.max(0, size - outdated), size }]));
}
