import type { Rule } from '../rule';
import { errorAt, type Finding, type Path } from '../problem';
import type { DeploySpec } from '../deploy';
import { listPlacedDeploys } from './deploys';

/** In lockstep all units advance equally. */
const inStep: Rule = (spec) =>
  listPlacedDeploys(spec).flatMap(({ path, deploy }) => (deploy.lockstep ? outOfStep(path, deploy) : []));

/** A canary takes its tasks from the version that carries the traffic, but no traffic follows them. */
const withoutCanaries: Rule = (spec) => {
  const inLockstep = listPlacedDeploys(spec).filter(({ deploy }) => deploy.lockstep);
  return Object.entries(spec.actions).flatMap(([name, action]) => {
    if (action.type !== 'canary') return [];
    const { pushType } = action.with;
    const beside = inLockstep.find(({ deploy }) => deploy.pushType === pushType);
    if (beside === undefined) return [];
    const message = `${name} takes tasks away from the traffic, which ${beside.name} shifts in lockstep`;
    const hint = `remove ${name}, and let the first phase of ${beside.name} be small, such as 5%`;
    return [errorAt(['actions', name], 'canary-in-lockstep', message, hint)];
  });
};

export const lockstepRules: readonly Rule[] = [inStep, withoutCanaries];

function outOfStep(path: Path, { phases = [] }: DeploySpec): Finding[] {
  return phases.flatMap((phase, index) => {
    if ('scope' in phase && phase.scope === '*' && !('units' in phase.amount)) return [];
    const name = phase.name ?? `phase ${index + 1}`;
    const message = `${name} updates some units before others, which lockstep is there to prevent`;
    const hint = 'use scope: "*" and an amount of tasks such as 5%, or remove lockstep';
    return [errorAt([...path, 'phases', index], 'out-of-step', message, hint)];
  });
}
