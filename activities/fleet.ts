import type { ApprovalAsk } from '../domain/access/approvals';
import { combineVersions, type Artifact } from '../domain/artifact';
import { buildKeptUnits, marksOfMany, type BroughtVersion, type KeptUnits } from '../domain/broughtVersions';
import {
  planCanary,
  planDeploy,
  planFollowOn,
  planRemoval,
  planRollback,
  pickPhaseUnits,
  withoutBakes,
  type DeployPlan,
  type PhasePlan,
} from '../domain/deploy/plan';
import { whyAllKept } from '../domain/deploy/keptUnitsText';
import { PlanError } from '../domain/deploy/planLimits';
import { cumulativeShares, classifyPattern } from '../domain/deploy/pattern';
import { someWithoutPast, type Inheritance } from '../domain/deploy/planRevert';
import { versionOfAll, type RevertRules } from '../domain/deploy/versionBefore';
import { toNamed, toPart, type NamedUnits, type Snapshot } from '../domain/deploy/snapshot';
import { ranEach } from '../domain/deploy/ranEach';
import type { RestoredDeploy } from '../domain/deploy/heldUnits';
import type { CanaryInput, Fleet } from '../domain/deploy/state';
import type { UnlistedUnits } from '../domain/deploy/unlistedUnits';
import { filterConcerned, unavailable } from '../domain/deploy/unavailable';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import { markUnits } from '../domain/unitMarks';
import type { Unit } from '../domain/fleet/unit';
import type { DeploySpec } from '../domain/spec/deploy';
import { whetherSigned } from './authority';
import { stillWaiting } from './failure';
import type { DeployCall, Invoke, PushPorts } from './pushCalls';
import { allowApproved, allowDeploy, allowSources, unitsOfRulesNow, whetherSignedFor } from './fleetAccess';
import { fetchAgain, past, type FleetLook, type LookRequest } from './fetchAgain';
import { fetchUnits, orRefused } from './fetchUnits';
import { findKeepers } from './keepers';
import { lookForUnlisted } from './unlistedUnits';

/** The deploy to plan, and its kind. */
export interface PlanRequest {
  readonly spec: DeploySpec;
  readonly artifacts: readonly Artifact[];
  readonly kind: 'deploy' | 'rollback' | 'follow-on' | 'removal';
  readonly canary?: CanaryInput;
  readonly skipBake: boolean;
  /** For a follow-on: its units. */
  readonly only?: readonly string[];
  /** As in a look. */
  readonly since?: readonly BroughtVersion[];
  readonly inherited?: Inheritance;
  /** For a rollback or a removal. */
  readonly restores?: RestoredDeploy;
  /** For a removal: the marks of the units that it has removed. */
  readonly removed?: string;
  /** The approvals of its release. */
  readonly approvals?: ApprovalAsk;
  readonly rules: RevertRules;
}

export interface ImpossiblePlan {
  readonly impossible: string;
  /** All units are left to other pipelines. */
  readonly isKept?: true;
}

export type PlannedFleet =
  | ImpossiblePlan
  | {
      readonly plan: DeployPlan;
      readonly fleet: Fleet;
      readonly unavailable: NamedUnits;
      /** The signatures that counted, if a rule wants some. */
      readonly signed?: string;
      /** Units that are left to other pipelines. */
      readonly kept?: KeptUnits;
      /** For a follow-on or a removal: units that it should update or remove but that are not listed. */
      readonly unlisted?: UnlistedUnits;
    };

/** The present state of the units of a phase. */
export interface PhaseLook {
  /** The number of units in the phase. */
  readonly units: number;
  readonly unavailable: NamedUnits;
  /** The unavailable units of all phases. */
  readonly allUnavailable: NamedUnits;
}

/** Reads the units of a deploy, plans from them, and looks at them again, without passing them through its workflow. */
export function createFleetActivities(ports: PushPorts, invoke: Invoke) {
  return {
    /** Checks the signatures of its artifacts and its config, and finds the service of the units. */
    validateConfig: (call: DeployCall, artifacts: readonly Artifact[] = [], restores?: RestoredDeploy) =>
      validateDeploy(ports, invoke, call, artifacts, restores),

    /** Reads the units, records the version that each runs, and plans. */
    planUnits: (call: DeployCall, request: PlanRequest): Promise<PlannedFleet> =>
      orImpossible(() => planFleet(ports, invoke, call, request)),

    /** The present units. */
    fetchAgain: (call: DeployCall, then: Snapshot, request: LookRequest): Promise<FleetLook> =>
      fetchAgain(ports, invoke, call, then, request),

    lookAtPhase: async (call: DeployCall, phase: Pick<PhasePlan, 'scope' | 'amount'>): Promise<PhaseLook> => {
      const { units } = await orRefused(() => fetchUnits(invoke, call));
      const inside = pickPhaseUnits(phase, units);
      return {
        units: inside.length,
        unavailable: toNamedUnits(unavailable(inside)),
        allUnavailable: toNamedUnits(unavailable(units)),
      };
    },

    /** The units that are available again; empty if none of them are listed any more, although others are. */
    waitForUnits: async (call: DeployCall, wanted: readonly string[], intervalMs: number) => {
      // Weeks of waiting outlast a bad token, so a refusal is tried again.
      const fetched = fetchUnits(invoke, call).catch((error: Error) =>
        Promise.reject(stillWaiting(error.message, intervalMs)),
      );
      return requireReturnedUnits((await fetched).units, wanted, intervalMs);
    },
  };
}

async function planFleet(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  request: PlanRequest,
): Promise<PlannedFleet> {
  const { units: all, inPages } = await fetchUnits(invoke, call);
  const meant = filterConcerned(all, request.only);
  const keepers = await findKeepers(ports, invoke, { ...call, inPages }, meant, request);
  const kept = buildKeptUnits(keepers, request.since ?? []);
  const units = filterConcerned(all, request.only, keepers);
  const { unlisted, gone } = await lookForUnlisted(ports, invoke, call, { ...request, listed: all });
  const isOver = request.kind !== 'removal' || unlisted === undefined;
  if (kept && units.length === 0 && isOver) return { impossible: whyAllKept(kept), isKept: true };
  await Promise.all([allowDeploy(ports, call, units, request.restores), allowSources(ports, call, request.spec)]);
  // Checks again: while the deploy waited for the lock, units and rules may have been added, and keys removed.
  await allowApproved(ports, call, units, request.approvals);
  const signed = await whetherSignedFor(ports, call, units, request);
  if ('refused' in signed) return { impossible: signed.refused };
  const plan = buildDeployPlan(units, request);
  const before = await past(ports, units, request.inherited);
  const each = ranEach(before, request.rules);
  const marks =
    request.kind === 'removal'
      ? markUnits([...units.map(({ id }) => id), ...gone])
      : marksOfMany(meant.map(({ id }) => id));
  const fleet: Fleet = {
    ...{ units: units.length, tasks: units.reduce((sum, { size }) => sum + size, 0), inPages },
    snapshot: await ports.snapshots.write(call.deployId, before),
    withoutPast: someWithoutPast(
      before,
      request.rules,
      plan.phases.map((phase) => toPart(phase)),
    ),
    ran: versionOfAll(before),
    ...(each === undefined ? {} : { ranEach: each }),
    ...unitsOfRulesNow(ports, call, units),
    ...(marks === undefined ? {} : { marks }),
    shares: cumulativeShares(plan, units),
    pattern: classifyPattern(plan, units),
  };
  const left = {
    unavailable: toNamedUnits(unavailable(units)),
    ...(kept && { kept }),
    ...(unlisted && { unlisted }),
  };
  return { plan, fleet, ...left, ...signed };
}

async function validateDeploy(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  artifacts: readonly Artifact[],
  restores?: RestoredDeploy,
) {
  const signed = whetherSigned(ports.platform, call, artifacts);
  if ('refused' in signed) return { problems: [], service: '', unsigned: signed.refused };
  // A rollback names no version here, so that the push type cannot refuse one.
  const brings =
    call.back || artifacts.length === 0 ? {} : { version: combineVersions(artifacts), artifacts: [...artifacts] };
  const { problems } = await invoke(call, 'validateConfig', brings);
  const found =
    problems.length > 0 ? { service: '' } : await resolveService(ports, invoke, call, { artifacts, restores });
  return { problems, ...found };
}

const toNamedUnits = (ids: readonly string[]): NamedUnits => toNamed(ids, FLEET_LIMITS.leftOut);

/** The service whose lock a deploy takes: none if its owners may not have all of the units, or if a signature is missing for one. */
async function resolveService(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  brings: { readonly artifacts: readonly Artifact[]; readonly restores: RestoredDeploy | undefined },
): Promise<{ readonly service: string; readonly unsigned?: string }> {
  // Without rules, one unit is enough to find the service.
  if (ports.platform?.().policy) {
    const { units } = await orRefused(() => fetchUnits(invoke, call));
    await allowDeploy(ports, call, units, brings.restores);
    const signed = await whetherSignedFor(ports, call, units, brings);
    if ('refused' in signed) return { service: '', unsigned: signed.refused };
  }
  return { service: (await invoke(call, 'fetchDeployUnits', { limit: 1 })).service };
}

async function orImpossible(plan: () => Promise<PlannedFleet>): Promise<PlannedFleet> {
  try {
    return await plan();
  } catch (error) {
    if (error instanceof PlanError) return { impossible: error.message };
    throw error;
  }
}

function buildDeployPlan(
  units: readonly Unit[],
  { spec, artifacts, rules, kind, canary, skipBake }: PlanRequest,
): DeployPlan {
  const { deployed } = rules;
  if (canary) return planCanary(spec, units, artifacts, deployed, canary);
  if (kind === 'removal') return planRemoval(spec, units, deployed);
  const make = { deploy: planDeploy, rollback: planRollback, 'follow-on': planFollowOn }[kind];
  const planned = make(spec, units, artifacts, deployed);
  return skipBake ? withoutBakes(planned) : planned;
}

/**
 * Looks once. Until some units are back it fails and gives the time of the next try, so that weeks take no worker's
 * time.
 */
function requireReturnedUnits(units: readonly Unit[], wanted: readonly string[], intervalMs: number) {
  if (units.length === 0) throw stillWaiting('the push type names no units', intervalMs);
  const left = units.filter(({ id }) => wanted.includes(id));
  const available = left.filter((unit) => unit.available).map(({ id }) => id);
  if (left.length > 0 && available.length === 0)
    throw stillWaiting(`${left.map(({ id }) => id).join(', ')} unavailable`, intervalMs);
  return { available };
}
