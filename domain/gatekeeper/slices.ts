import { hasId, ruleHolds, type CompiledProject } from './evaluate';
import { bucketOf, PARTS, sampleKey } from './hash';
import type { GateUser, Project } from './project';

/**
 * Deploys of a project take its users in slices: equal parts of the range in which `pass` draws them. A slice of a rule is what a task is to other
 * push types.
 */
export const SLICES = 100;

/** The project without what a deploy under way adds: the users of its rules. */
export const withoutSlices = ({ rules }: Project): Project => ({
  rules: rules.map((rule) => ({ ...rule, if: rule.if.filter(({ restraint }) => restraint !== 'slice') })),
});

/**
 * `checkout.employees/7`: the rule that a user falls under, and the slice; undefined if no rule applies to them, or it is unknown. A user without an
 * id is in no slice: they pass only once a rule lets all pass (`mixOf`), so they would count as updated before they are.
 */
export function taskOf(whole: CompiledProject, user: GateUser, slices: number = SLICES): string | undefined {
  if (!hasId(user)) return undefined;
  for (const [at, compiled] of whole.rules.entries()) {
    const holds = ruleHolds(compiled, user);
    if (holds === undefined) return undefined;
    if (!holds) continue;
    const slice = Math.floor((bucketOf(sampleKey(whole.name, user.id)) * slices) / PARTS);
    return `${whole.name}.${compiled.rule.name ?? at}/${slice}`;
  }
  return undefined;
}
