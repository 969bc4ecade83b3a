import type { PipelineSpec } from './pipeline';
import type { Finding } from './problem';
import type { Rule } from './rule';
import { artifactRules } from './rules/artifacts';
import { attemptRules } from './rules/attempts';
import { blackoutRules } from './rules/blackouts';
import { childrenRules } from './rules/children';
import { firingRules } from './rules/firingChecks';
import { graphRules } from './rules/graph';
import { healthRules } from './rules/health';
import { graphLimit, limitRules } from './rules/limits';
import { lockstepRules } from './rules/lockstep';
import { notifyRules } from './rules/notify';
import { offerRules } from './rules/offers';
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
  ...offerRules,
  ...limitRules,
];

/** All findings that the schema cannot express. Errors prevent an apply; warnings describe unwise settings with the reason. */
export function lintPipeline(spec: PipelineSpec): Finding[] {
  // Above the limit, only that is reported: the other rules take time that grows at least with the square of the size.
  const rules = graphLimit(spec).length > 0 ? limitRules : RULES;
  return rules.flatMap((rule) => rule(spec));
}
