import { hasId, ruleHolds, type CompiledProject } from './evaluate';
import { computeBucket, PARTS, sampleKey } from './hash';
import type { GateUser, Project } from './project';

/**
 * Deploys of a project update its users in slices: equal parts of the sampling range of `pass`. A slice of a rule corresponds to a task of other push
 * types.
 */
export const SLICES = 100;

/** The project without the additions of a deploy under way: the rules that apply to its users. */
export const withoutSlices = ({ rules }: Project): Project => ({
  rules: rules.map((rule) => ({ ...rule, if: rule.if.filter(({ restraint }) => restraint !== 'slice') })),
});

/**
 * `checkout.employees/7`: the rule that applies to a user, and the slice; undefined if no rule applies, or it is unknown. A user without an id is in
 * no slice, since they pass only once a rule lets everyone pass (`mixOf`); otherwise they would count as updated too early.
 */
export function findSliceTask(whole: CompiledProject, user: GateUser, slices: number = SLICES): string | undefined {
  if (!hasId(user)) return undefined;
  for (const [at, compiled] of whole.rules.entries()) {
    const holds = ruleHolds(compiled, user);
    if (holds === undefined) return undefined;
    if (!holds) continue;
    const slice = Math.floor((computeBucket(sampleKey(whole.name, user.id)) * slices) / PARTS);
    return `${whole.name}.${compiled.rule.name ?? at}/${slice}`;
  }
  return undefined;
}
