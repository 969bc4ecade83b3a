import type { Rule } from '../lint';
import { errorAt, type Finding, type Path } from '../problem';
import type { DeploySpec } from '../deploy';
import { deploysOf } from './deploys';

/** In lockstep every unit goes as far as every other. */

const inStep: Rule = (spec) =>
  deploysOf(spec).flatMap(({ path, deploy }) => (deploy.lockstep ? outOfStep(path, deploy) : []));

export const lockstepRules: readonly Rule[] = [inStep];

function outOfStep(path: Path, { phases = [] }: DeploySpec): Finding[] {
  return phases.flatMap((phase, index) => {
    if ('scope' in phase && phase.scope === '*' && !('units' in phase.amount)) return [];
    const name = phase.name ?? `phase ${index + 1}`;
    const message = `${name} updates some units before others, which lockstep is there to prevent`;
    const hint = 'use scope: "*" and an amount of tasks such as 5%, or remove lockstep';
    return [errorAt([...path, 'phases', index], 'out-of-step', message, hint)];
  });
}
