import { identityOf, type Artifact } from '../artifact';
import { mayCommand, type Policy } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import type { Trigger } from '../views';
import { rollbackOf } from './rollback';
import { isKnownBad, repeated, type PipelineState } from './state';

/** Why a request to a pipeline is refused; `code` is one of domain/errors.ts. */
export interface Refusal {
  readonly code:
    'not-permitted' | 'invalid-state' | 'known-bad' | 'missing-artifact' | 'unknown-artifact' | 'unknown-pipeline';
  readonly message: string;
  /** What the error's wording needs besides. */
  readonly names?: readonly string[];
}

export const policyOf = (state: Pick<PipelineState, 'spec' | 'groups'>): Policy => ({
  owners: state.spec.owners,
  groups: state.groups,
});

const notPermitted = (actor: string, pipeline: string): Refusal => ({
  code: 'not-permitted',
  message: `${actor} is not an owner of ${pipeline}`,
});

/** An owner of what there is may change it; who creates a pipeline must be an owner of what it becomes. */
export function refuseApply(
  state: PipelineState | null,
  spec: PipelineSpec,
  groups: Policy['groups'],
  actor: string,
): Refusal | undefined {
  const policy = state === null ? { owners: spec.owners, groups } : policyOf(state);
  return mayCommand(policy, actor) ? undefined : notPermitted(actor, spec.pipeline);
}

/** What a finder or a verified webhook submits needs no owner; a person does, however they ask. A submission that came before is answered as before. */
export function refuseRelease(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
): Refusal | undefined {
  const { spec } = state;
  const isPlatform = trigger.kind === 'finder' || trigger.kind === 'webhook';
  if (!isPlatform && !mayCommand(policyOf(state), trigger.actor)) return notPermitted(trigger.actor, spec.pipeline);
  if (repeated(state, artifacts, trigger) !== undefined) return undefined;
  const wanted = Object.keys(spec.artifacts);
  const unknown = artifacts.find(({ name }) => !wanted.includes(name));
  if (unknown)
    return {
      code: 'unknown-artifact',
      message: `${spec.pipeline} takes no artifact ${unknown.name}`,
      names: [unknown.name, ...wanted],
    };
  const twice = artifacts.find((artifact, index) => artifacts.findIndex(({ name }) => name === artifact.name) < index);
  if (twice) return { code: 'invalid-state', message: `${twice.name} is given twice` };
  const missing = wanted.filter((name) => !artifacts.some((artifact) => artifact.name === name));
  if (missing.length > 0)
    return { code: 'missing-artifact', message: `a release needs a version of ${missing.join(', ')}`, names: missing };
  const bad = artifacts.find((artifact) => isKnownBad(state, artifact));
  return bad && { code: 'known-bad', message: isKnownBad(state, bad)?.reason ?? '', names: [identityOf(bad)] };
}

export function refuseRollBack(state: PipelineState, of: number, actor: string): Refusal | undefined {
  if (!mayCommand(policyOf(state), actor)) return notPermitted(actor, state.spec.pipeline);
  if (state.active.some(({ trigger }) => trigger.kind === 'rollback' && trigger.of === of))
    return { code: 'invalid-state', message: 'it is being rolled back already' };
  const back = rollbackOf(state, of);
  return 'impossible' in back ? { code: 'invalid-state', message: back.impossible } : undefined;
}
