import { decideApproved, type ApprovalAsk } from '../domain/access/approvals';
import { grantAccess, denyAccess } from '../domain/access/decision';
import type { PlatformFacts } from '../domain/access/platform';
import { newlyProtected, unitsOfRules, wantsUnits } from '../domain/access/protection';
import type { Units } from '../domain/access/request';
import { wantsSigned } from '../domain/access/signatureRule';
import { decideRollback, decideDeploy, decideUse } from '../domain/access/usage';
import type { Artifact } from '../domain/artifact';
import type { RestoredDeploy } from '../domain/deploy/heldUnits';
import type { Fleet } from '../domain/deploy/state';
import type { Unit } from '../domain/fleet/unit';
import type { DeploySpec } from '../domain/spec/deploy';
import { requireAllowed, whetherSigned } from './authority';
import { asFailure } from './failure';
import type { DeployCall, PushPorts } from './pushCalls';
import { readHeld } from './snapshots';

/**
 * Whether a deploy may update units. A rollback may update the units that its pipeline held in the release that it restores; for other units it needs
 * the same right as a deploy.
 * @throws ApplicationFailure `not-permitted`, which names the owners of the units
 */
export const allowDeploy = (
  { platform, snapshots }: PushPorts,
  call: DeployCall,
  units: readonly Unit[],
  restores: RestoredDeploy = {},
): Promise<void> =>
  asFailure(async () => {
    const { back, ...behalf } = call;
    const wanted = { pushType: call.pushType, units: collectUnitIds(units) };
    const isSeen = back && !call.imported;
    const held = isSeen && decidesByHeld(platform?.(), call, wanted) ? await readHeld(snapshots, restores.held) : [];
    requireAllowed(platform, behalf, call.pipeline, (facts, owners) =>
      isSeen
        ? decideRollback(facts, owners, { ...wanted, pipeline: call.pipeline }, held)
        : decideDeploy(facts, owners, wanted),
    );
  });

/** Whether a rollback depends on the units that the pipeline held: if its owners lack a right, or a rule is about units. */
const decidesByHeld = (facts: PlatformFacts | undefined, { owners }: DeployCall, wanted: Units): boolean =>
  facts !== undefined &&
  facts.policy !== null &&
  (wantsUnits(facts.policy, wanted.pushType) || !decideDeploy(facts, owners, wanted).allowed);

/**
 * Rules match units by name: units that joined after planning may belong to another team, or a rule may protect them but none of the others.
 * @throws ApplicationFailure `not-permitted`
 */
export async function allowJoined(
  ports: PushPorts,
  call: DeployCall,
  { joined, before }: { readonly joined: readonly Unit[]; readonly before: readonly Unit[] },
  restores?: RestoredDeploy,
): Promise<void> {
  if (joined.length === 0) return;
  await allowDeploy(ports, call, joined, restores);
  const policy = ports.platform?.().policy ?? null;
  if (policy === null || call.byAdmin || !wantsUnits(policy, call.pushType)) return;
  const { pipeline, pushType, back, ...behalf } = call;
  const held = back && !call.imported ? await readHeld(ports.snapshots, restores?.held) : [];
  const holds = { pushType, units: collectUnitIds(joined) };
  const why = newlyProtected(policy, { pipeline, holds, had: [...collectUnitIds(before), ...held] });
  await asFailure(async () =>
    requireAllowed(ports.platform, behalf, pipeline, () =>
      why === undefined ? grantAccess('no other rule', 'the same rules protect them all') : denyAccess(why),
    ),
  );
}

/**
 * Whether the rules still admit a release, with the units of its plan.
 * @throws ApplicationFailure `not-permitted`
 */
export const allowApproved = (
  { platform }: PushPorts,
  { pipeline, pushType }: DeployCall,
  units: readonly Unit[],
  approvals: ApprovalAsk | undefined,
): Promise<void> =>
  asFailure(async () => {
    if (approvals === undefined) return;
    const holds = { pushType, units: collectUnitIds(units) };
    requireAllowed(platform, {}, pipeline, (facts) => decideApproved(facts, { ...approvals, holds }));
  });

/** For the record that a deploy keeps of its units. */
export function unitsOfRulesNow(
  { platform }: PushPorts,
  { pushType }: DeployCall,
  units: readonly Unit[],
): Pick<Fleet, 'ofRules'> {
  const policy = platform?.().policy ?? null;
  const found = policy === null ? [] : unitsOfRules(policy, { pushType, units: collectUnitIds(units) });
  return found.length === 0 ? {} : { ofRules: found };
}

/**
 * Like `whetherSigned`, for units. A rollback is exempt from rules about its pipeline, and from rules that already applied to its version when it
 * was first deployed.
 */
export async function whetherSignedFor(
  { platform, snapshots }: PushPorts,
  call: DeployCall,
  units: readonly Unit[],
  {
    artifacts,
    restores = {},
  }: { readonly artifacts: readonly Artifact[]; readonly restores?: RestoredDeploy | undefined },
): Promise<ReturnType<typeof whetherSigned>> {
  const holds = { pushType: call.pushType, units: collectUnitIds(units) };
  if (platform === undefined || !wantsSigned(platform(), { pipeline: call.pipeline, holds })) return {};
  const { back, ...asked } = call;
  const had = back && !call.imported ? await readHeld(snapshots, restores.held) : undefined;
  return whetherSigned(platform, asked, artifacts, { holds, had });
}

const collectUnitIds = (units: readonly Unit[]): readonly string[] => units.map(({ id }) => id);

/** @throws ApplicationFailure `not-permitted`, which names the owners of the data source */
export const allowSources = ({ platform }: PushPorts, call: DeployCall, { healthChecks }: DeploySpec): Promise<void> =>
  asFailure(() => {
    for (const name of new Set(healthChecks.flatMap(({ source }) => source ?? [])))
      requireAllowed(platform, call, call.pipeline, (facts, owners) =>
        decideUse(facts, owners, { kind: 'data-source', name }),
      );
    return Promise.resolve();
  });
