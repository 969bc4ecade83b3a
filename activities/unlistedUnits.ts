import { hasUnit, type BroughtVersion } from '../domain/broughtVersions';
import type { RestoredDeploy } from '../domain/deploy/heldUnits';
import { NAMED_UNLISTED, type UnlistedUnit, type UnlistedUnits } from '../domain/deploy/unlistedUnits';
import type { RevertRules } from '../domain/deploy/versionBefore';
import type { Unit } from '../domain/fleet/unit';
import { hasMark } from '../domain/unitMarks';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { unitNeeds, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { readHeld } from './snapshots';

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

/** The fields of a plan that say which units it is about, and the units that the push type lists for it. */
interface UnlistedQuestion {
  readonly kind: 'deploy' | 'rollback' | 'follow-on' | 'removal';
  readonly only?: readonly string[];
  readonly restores?: RestoredDeploy;
  readonly since?: readonly BroughtVersion[];
  readonly removed?: string;
  readonly rules: Pick<RevertRules, 'deployed'>;
  readonly listed: readonly Unit[];
}

/** The units that a follow-on should update, or that a removal should remove, and that are not listed; `gone`: those that have no task any more. */
export async function lookForUnlisted(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  question: UnlistedQuestion,
): Promise<{ readonly unlisted?: UnlistedUnits; readonly gone: readonly string[] }> {
  const { kind, listed, rules } = question;
  const wanted = kind === 'removal' ? await listUnitsToRemove(ports, question) : (question.only ?? []);
  const before = wanted.map((id) => ({ id, version: null }));
  const found = await inspectUnlistedUnits(ports, invoke, call, { before, listed, version: rules.deployed });
  if (found === undefined) return { gone: [] };
  const gone = kind === 'removal' ? found.units.filter(({ tasks }) => tasks?.size === 0) : [];
  const units = found.units.filter((unit) => !gone.includes(unit));
  const ids = gone.map(({ id }) => id);
  if (units.length > 0) return { unlisted: { count: found.count - gone.length, units }, gone: ids };
  return { ...(found.count > gone.length ? { unlisted: found } : {}), gone: ids };
}

/** Units that the last deploy of the pipeline held, without those that it has removed, and those that other pipelines have updated since. */
async function listUnitsToRemove(
  { snapshots }: PushPorts,
  { restores, since = [], removed = '' }: UnlistedQuestion,
): Promise<readonly string[]> {
  const held = await readHeld(snapshots, restores?.held);
  return held.filter((id) => !hasMark(removed, id) && !since.some((one) => hasUnit(one, id)));
}
