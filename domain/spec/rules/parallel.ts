import type { Rule } from '../rule';
import { warningAt, type Finding, type Path } from '../problem';
import type { DeploySpec } from '../deploy';
import { deploysOf } from './deploys';

/** Groups that pause by themselves. */
const ofParallelMode: Rule = (spec) =>
  deploysOf(spec).flatMap(({ path, deploy }) => (deploy.mode === 'parallel' ? [] : unused(path, deploy)));

export const parallelRules: readonly Rule[] = [ofParallelMode];

/** Without parallel mode the first unhealthy verdict is one about the whole deploy. */
function unused(path: Path, { pauseBy, maxPaused }: DeploySpec): Finding[] {
  const asked = [...(pauseBy === 'unit' ? [] : ['pauseBy']), ...(maxPaused === undefined ? [] : ['maxPaused'])];
  return asked.map((field) =>
    warningAt(
      [...path, field],
      'no-effect',
      `${field} has no effect in sequential mode, where health is checked after the updates`,
      `add mode: parallel, or remove ${field}`,
    ),
  );
}
