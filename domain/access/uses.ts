import { MANUAL, WORKER_FINDERS } from '../finder/standard';
import type { StepSpec } from '../spec/deploy';
import type { ActionSpec, PipelineSpec } from '../spec/pipeline';
import type { UseKind } from './platform';

/** A shared resource that a pipeline uses; the units of a push type are known only at the deploy. */
export interface Use {
  readonly kind: UseKind | 'push-type' | 'scripts';
  readonly name: string;
}

/** All that a pipeline would use, each once. A check without a data source uses that of its push type. */
export function listUses(spec: PipelineSpec): readonly Use[] {
  const finders = Object.values(spec.artifacts).flatMap(({ finder }) =>
    finder === MANUAL || WORKER_FINDERS.includes(finder) ? [] : [{ kind: 'artifact-finder', name: finder } as const],
  );
  const mutexes = Object.entries(spec.mutex).flatMap(([name, { scope }]) =>
    scope === 'global' ? [{ kind: 'mutex', name } as const] : [],
  );
  const all: Use[] = [...Object.values(spec.actions).flatMap(usesOfAction), ...finders, ...mutexes];
  return [...new Map(all.map((use) => [`${use.kind} ${use.name}`, use])).values()];
}

const SCRIPTS: Use = { kind: 'scripts', name: '' };

function usesOfAction(action: ActionSpec): Use[] {
  switch (action.type) {
    case 'deploy':
    case 'canary': {
      const sources = action.with.healthChecks.flatMap(({ source }) =>
        source === undefined ? [] : [{ kind: 'data-source', name: source } as const],
      );
      const steps = action.type === 'deploy' ? stepsAndHooks(action.with) : [];
      return [{ kind: 'push-type', name: action.with.pushType }, ...sources, ...steps.flatMap(usesOfStep)];
    }
    case 'custom-script':
      return [SCRIPTS];
    case 'manual-pick':
    case 'wait-for':
      return [];
    case 'custom':
      return [{ kind: 'action-service', name: action.with.service }];
    default:
      return [{ kind: 'action-service', name: action.type }];
  }
}

type DeploySettings = Extract<ActionSpec, { type: 'deploy' }>['with'];

const stepsAndHooks = ({ phases = [], completion }: DeploySettings): readonly StepSpec[] =>
  [...phases, ...(completion ? [completion] : [])].flatMap(({ pre = [], post = [] }) => [...pre, ...post]);

const usesOfStep = (step: StepSpec): Use[] =>
  [step, ...(step.undo ? [step.undo] : [])].map((call) =>
    'service' in call ? { kind: 'action-service', name: call.service } : SCRIPTS,
  );
