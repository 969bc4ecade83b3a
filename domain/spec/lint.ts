import type { PipelineSpec } from './pipeline';
import type { Finding } from './problem';
import type { Rule } from './rule';
import { artifactRules } from './rules/artifacts';
import { attemptRules } from './rules/attempts';
import { blackoutRules } from './rules/blackouts';
import { childrenRules } from './rules/children';
import { firingRules } from './rules/firing';
import { graphRules } from './rules/graph';
import { healthRules } from './rules/health';
import { graphLimit, limitRules } from './rules/limits';
import { lockstepRules } from './rules/lockstep';
import { notifyRules } from './rules/notify';
import { parallelRules } from './rules/parallel';
import { phaseOrderRules } from './rules/phaseOrder';
import { phaseRules } from './rules/phases';
import { referenceRules } from './rules/references';
import { scheduleRules } from './rules/schedule';
import { soakRules } from './rules/soak';

const RULES: readonly Rule[] = [
  ...referenceRules,
  ...artifactRules,
  ...graphRules,
  ...scheduleRules,
  ...blackoutRules,
  ...soakRules,
  ...attemptRules,
  ...phaseRules,
  ...phaseOrderRules,
  ...parallelRules,
  ...lockstepRules,
  ...healthRules,
  ...firingRules,
  ...childrenRules,
  ...notifyRules,
  ...limitRules,
];

/** Everything that the schema cannot see: errors keep a pipeline from being applied, warnings say what is unwise and why. */
export function lintPipeline(spec: PipelineSpec): Finding[] {
  // The rest is said once there are fewer: it takes a time that grows with the square of them, and more.
  const rules = graphLimit(spec).length > 0 ? limitRules : RULES;
  return rules.flatMap((rule) => rule(spec));
}
