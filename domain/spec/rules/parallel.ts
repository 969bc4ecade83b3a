import type { Rule } from '../rule';
import { warningAt, type Finding, type Path } from '../problem';
import type { DeploySpec } from '../deploy';
import { listPlacedDeploys } from './deploys';

/** Groups that pause by themselves. */
const ofParallelMode: Rule = (spec) =>
  listPlacedDeploys(spec).flatMap(({ path, deploy }) =>
    deploy.mode === 'parallel' ? [] : findUnusedOptions(path, deploy),
  );

export const parallelRules: readonly Rule[] = [ofParallelMode];

/** Without parallel mode the first unhealthy verdict applies to the whole deploy. */
function findUnusedOptions(path: Path, { pauseBy, maxPaused }: DeploySpec): Finding[] {
  const unusedKeys = [...(pauseBy === 'unit' ? [] : ['pauseBy']), ...(maxPaused === undefined ? [] : ['maxPaused'])];
  return unusedKeys.map((field) =>
    warningAt(
      [...path, field],
      'no-effect',
      `${field} has no effect in sequential mode, where health is checked after the updates`,
      `add mode: parallel, or remove ${field}`,
    ),
  );
}
