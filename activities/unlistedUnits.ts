import type { Unit } from '../domain/fleet/unit';
import { NAMED_UNLISTED, type UnlistedUnit, type UnlistedUnits } from '../domain/deploy/unlistedUnits';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { unitNeeds, type DeployCall, type Invoke, type PushPorts } from './pushCalls';

/** Units that are no longer listed, with their version if the push type still reports it; nothing if all are listed. */
export async function inspectUnlistedUnits(
  { clock }: Pick<PushPorts, 'clock'>,
  invoke: Invoke,
  call: DeployCall,
  {
    before,
    listed,
    version,
  }: { readonly before: readonly BeforeUnit[]; readonly listed: readonly Unit[]; readonly version: string },
): Promise<UnlistedUnits | undefined> {
  const there = new Set(listed.map(({ id }) => id));
  const gone = before.filter(({ id }) => !there.has(id));
  if (gone.length === 0) return undefined;
  const asked = gone.slice(0, NAMED_UNLISTED).map(async ({ id, version: ran }): Promise<UnlistedUnit> => {
    const needs = unitNeeds(invoke, call, [{ unit: id, version, artifacts: [] }], []);
    // Does not wait long, since the push type may no longer know a unit that is gone.
    const [need] = (await promptly(clock, REVERT_PATIENCE_MS, needs)) ?? [];
    const tasks = need && { updated: Math.max(0, need.size - need.outdated), size: need.size };
    return { id, version: ran, ...(tasks && { tasks }) };
  });
  return { count: gone.length, units: await Promise.all(asked) };
}

type BeforeUnit = Pick<Unit, 'id' | 'version'>;
