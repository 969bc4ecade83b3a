import type { Artifact } from '../artifact';
import { tasksOf, type Amount, type PhaseAmount } from '../fleet/amount';
import { inScope, type Scope } from '../fleet/scope';
import type { Unit } from '../fleet/unit';
import type { CompletionSpec, DeploySpec, PhaseSpec, StepSpec } from '../spec/deploy';
import { DEFAULT_AMOUNTS, DEFAULT_PACE } from './defaults';
import { PlanError, refuseFleet, refuseManyPhases, refuseNoGroups } from './planLimits';

/**
 * One step of a deploy (docs/design/deploy.md#plan). The runner treats all three kinds alike; a revert is a plan of one phase. A phase
 * names units by scope, never by list, so a plan is as small for a million units as for two.
 */
export interface PhasePlan {
  readonly kind: 'partial' | 'completion' | 'revert';
  /** Names the phase in update ids: its index, or `revert`. */
  readonly key: number | 'revert';
  readonly name: string;
  readonly scope: Scope;
  readonly amount: PhaseAmount;
  readonly bakeMs: number;
  /** The amount of the phase's targeted tasks that must be updated and live. */
  readonly success: Amount;
  readonly updateTimeoutMs: number;
  /** The steps before its updates and after its bake; left out if there are none. */
  readonly pre?: readonly StepSpec[];
  readonly post?: readonly StepSpec[];
}

export interface DeployPlan {
  readonly version: string;
  readonly artifacts: readonly Artifact[];
  readonly phases: readonly PhasePlan[];
}

/** The request of one phase to one unit (docs/reference/protocols.md#push-type). */
export interface PlannedTarget {
  readonly unit: string;
  readonly version: string;
  readonly artifacts: readonly Artifact[];
  readonly amount?: Amount;
  readonly updatedBy?: readonly string[];
}

/**
 * The phases as written, with `forEach` expanded, and the completion at the end of every plan.
 * @throws PlanError if there are no units or a scope matches none, unless `allowEmpty`.
 */
export function planDeploy(
  spec: DeploySpec,
  units: readonly Unit[],
  artifacts: readonly Artifact[],
  version: string,
): DeployPlan {
  refuseFleet(spec, units);
  refuseNoGroups(spec, units);
  const written = spec.phases ?? DEFAULT_AMOUNTS.map(defaultPhase);
  const partial = written
    .flatMap((phase) => expand(phase, units, spec.allowEmpty))
    .map((phase, index): PhasePlan => toPlan(phase, index));
  for (const phase of partial) refuseEmpty(phase, units, spec.allowEmpty);
  const completion = completionPhase(partial.length, written.at(-1), spec.completion);
  refuseManyPhases(partial.length + 1);
  return { version, artifacts, phases: [...partial, completion] };
}

/**
 * The plan of a rollback after a release has ended: one phase over everything, without a bake or steps (docs/design/deploy.md#verbs). The phases
 * of the file do not run, so a phase whose units are gone does not prevent a rollback.
 * @throws PlanError if there are no units, unless `allowEmpty`.
 */
export function planRollback(
  spec: DeploySpec,
  units: readonly Unit[],
  artifacts: readonly Artifact[],
  version: string,
): DeployPlan {
  const completion = { ...spec.completion, bake: 0, pre: [], post: [] };
  return completionOnly({ ...spec, completion }, units, artifacts, version);
}

/** The plan of an undeploy: all units at once, of which there may be none. @throws PlanError if there are too many. */
export function planRemoval(spec: DeploySpec, units: readonly Unit[], version: string): DeployPlan {
  const { phases } = planRollback({ ...spec, allowEmpty: true }, units, [], version);
  return { version, artifacts: [], phases: phases.map((phase) => ({ ...phase, name: 'removal' })) };
}

/**
 * The plan of a follow-on, once the units that a release left out have returned: one phase over them, which bakes as a completion
 * does.
 * @throws PlanError like `planDeploy`.
 */
export function planFollowOn(
  spec: DeploySpec,
  units: readonly Unit[],
  artifacts: readonly Artifact[],
  version: string,
): DeployPlan {
  return completionOnly(spec, units, artifacts, version);
}

/**
 * One phase over all units, without a completion, since a canary leaves nothing behind.
 * @throws PlanError like `planDeploy`.
 */
export function planCanary(
  spec: DeploySpec,
  units: readonly Unit[],
  artifacts: readonly Artifact[],
  version: string,
  { amount, bakeMs }: { readonly amount: Amount; readonly bakeMs: number },
): DeployPlan {
  refuseFleet(spec, units);
  const phase = toPlan({ ...DEFAULT_PACE, name: 'canary', scope: '*', amount, bake: bakeMs }, 0);
  return { version, artifacts, phases: [phase] };
}

/** For an emergency in which a wait does more harm than the risk. */
export const withoutBakes = (plan: DeployPlan): DeployPlan => ({
  ...plan,
  phases: plan.phases.map((phase) => ({ ...phase, bakeMs: 0 })),
});

/** The wanted state of each unit of a phase. */
export const toWant = (
  { amount }: Pick<PhasePlan, 'amount'>,
  { version, artifacts }: Pick<DeployPlan, 'version' | 'artifacts'>,
): Want => ({ version, artifacts, amount: 'units' in amount ? { all: true } : amount });

export const targetsFor = (units: readonly Pick<Unit, 'id'>[], want: Want): PlannedTarget[] =>
  units.map(({ id }) => ({ unit: id, ...want }));

/** The wanted state of each unit of a phase. */
export type Want = Pick<PlannedTarget, 'version' | 'artifacts' | 'amount'>;

/** The units in a phase. With `{ units: 5% }` it has whole units, in the order of their ids. */
export function pickPhaseUnits<U extends Unit>(phase: Pick<PhasePlan, 'scope' | 'amount'>, units: readonly U[]): U[] {
  const inside = units.filter((unit) => inScope(phase.scope, unit));
  if (!('units' in phase.amount)) return inside;
  const ordered = [...inside].sort((a, b) => (a.id < b.id ? -1 : 1));
  return ordered.slice(0, tasksOf(phase.amount.units, ordered.length));
}

/** The number of a unit's tasks on the version after the phase. */
export function countPlannedTasks(phase: Pick<PhasePlan, 'amount'>, unit: Unit): number {
  return 'units' in phase.amount ? unit.size : tasksOf(phase.amount, unit.size);
}

function completionOnly(
  spec: DeploySpec,
  units: readonly Unit[],
  artifacts: readonly Artifact[],
  version: string,
): DeployPlan {
  refuseFleet(spec, units);
  return { version, artifacts, phases: [completionPhase(0, spec.phases?.at(-1), spec.completion)] };
}

/** A phase with a definite scope. */
type ScopedPhase = PhaseSpec & { readonly scope: Scope };

const defaultPhase = (amount: Amount): PhaseSpec => ({ scope: '*', amount, ...DEFAULT_PACE });

function expand(phase: PhaseSpec, units: readonly Unit[], allowEmpty: boolean): ScopedPhase[] {
  if (!('forEach' in phase)) return [phase];
  const values = [...new Set(units.map((unit) => unit.labels[phase.forEach]))].filter((value) => value !== undefined);
  if (values.length === 0 && !allowEmpty)
    throw new PlanError(`no unit has the label ${phase.forEach} that forEach names`);
  return values.sort().map((value) => ({
    ...phase,
    name: `${phase.name ?? phase.forEach}-${value}`,
    scope: `${phase.forEach}:${value}`,
  }));
}

const toPlan = (phase: ScopedPhase, index: number): PhasePlan => ({
  kind: 'partial',
  key: index,
  name: phase.name ?? `phase-${index + 1}`,
  scope: phase.scope,
  amount: phase.amount,
  bakeMs: phase.bake,
  success: phase.success,
  updateTimeoutMs: phase.updateTimeout,
  ...steps(phase.pre, phase.post),
});

const steps = (pre: readonly StepSpec[], post: readonly StepSpec[]): Pick<PhasePlan, 'pre' | 'post'> => ({
  ...(pre.length > 0 ? { pre } : {}),
  ...(post.length > 0 ? { post } : {}),
});

function refuseEmpty(phase: PhasePlan, units: readonly Unit[], allowEmpty: boolean): void {
  if (allowEmpty || pickPhaseUnits(phase, units).length > 0) return;
  const known = units.map((unit) => unit.id).slice(0, 5);
  throw new PlanError(
    `the scope ${phase.scope} of phase ${phase.name} matches none of the units (${known.join(', ')}${units.length > 5 ? ', …' : ''})`,
  );
}

/** The completion has the pace of the last phase in the file, unless `completion:` overrides it. */
function completionPhase(key: number, last = defaultPhase({ all: true }), override: CompletionSpec = {}): PhasePlan {
  return {
    kind: 'completion',
    key,
    name: 'completion',
    scope: '*',
    amount: { all: true },
    bakeMs: override.bake ?? last.bake,
    success: override.success ?? last.success,
    updateTimeoutMs: override.updateTimeout ?? last.updateTimeout,
    ...steps(override.pre ?? last.pre, override.post ?? last.post),
  };
}
