import { DEFAULT_AMOUNTS, DEFAULT_PACE } from '../../deploy/defaults';
import { formatAmount, type PhaseAmount } from '../../fleet/amount';
import type { DeploySpec } from '../deploy';
import { listDeployActions } from '../deployActions';
import type { HealthCheck } from '../health';
import type { PipelineSpec } from '../pipeline';
import type { Path } from '../problem';

/** The deploys of a pipeline, each with the path of its `with`. */
export function listPlacedDeploys(
  spec: PipelineSpec,
): { readonly path: Path; readonly name: string; readonly deploy: DeploySpec }[] {
  return listDeployActions(spec).map(([name, action]) => ({
    path: ['actions', name, 'with'],
    name,
    deploy: action.with,
  }));
}

/** An action that judges tasks by checks: a deploy or a canary, with the times at which it does. */
export interface JudgingAction {
  readonly name: string;
  readonly path: Path;
  readonly checks: readonly HealthCheck[];
  readonly intervalMs: number;
  /** Parallel mode: tasks are also judged while a phase updates. */
  readonly whileUpdating: boolean;
  /** In order, without the completion, in which all tasks are updated. */
  readonly phases: readonly JudgedPhase[];
  /** The longest of all phases and the completion. */
  readonly longestBakeMs: number;
}

export interface JudgedPhase {
  readonly name: string;
  readonly amount: PhaseAmount;
  readonly bakeMs: number;
}

/** All actions that judge by checks. */
export function listJudgingActions(spec: PipelineSpec): JudgingAction[] {
  return Object.entries(spec.actions).flatMap(([name, action]): JudgingAction[] => {
    if (action.type !== 'deploy' && action.type !== 'canary') return [];
    const { healthChecks: checks, healthInterval: intervalMs } = action.with;
    const judging = { name, path: ['actions', name, 'with'], checks, intervalMs };
    if (action.type === 'canary') {
      const { amount, bake: bakeMs, keepUntil } = action.with;
      const longestBakeMs = keepUntil === undefined ? bakeMs : Infinity;
      return [{ ...judging, whileUpdating: false, phases: [{ name: 'the canary', amount, bakeMs }], longestBakeMs }];
    }
    const { mode, completion, phases = DEFAULT_PHASES } = action.with;
    const judged = phases.map(({ name: own, amount, bake }, index) => ({
      name: own ?? `phase ${index + 1}`,
      ...{ amount, bakeMs: bake },
    }));
    const last = completion?.bake ?? judged.at(-1)?.bakeMs ?? DEFAULT_PACE.bake;
    const longestBakeMs = Math.max(last, ...judged.map(({ bakeMs }) => bakeMs));
    return [{ ...judging, whileUpdating: mode === 'parallel', phases: judged, longestBakeMs }];
  });
}

const DEFAULT_PHASES = DEFAULT_AMOUNTS.map((amount) => ({ ...DEFAULT_PACE, name: formatAmount(amount), amount }));
