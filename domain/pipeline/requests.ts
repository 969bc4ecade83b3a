import { identityOf, type Artifact } from '../artifact';
import { mayCommand, type Policy } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import type { Trigger } from '../views';
import { whyNeverApproved } from '../release/approval';
import { rollbackOf } from './rollback';
import { isFull, MAX_QUEUED, whyNotQueued } from './queue';
import { isKnownBad, type Emergency, type PipelineState } from './state';
import { completed, missing, repeated } from './submissions';

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

/**
 * What a finder, a verified webhook or a parent's release submits needs no owner; a person does, however they ask. What came
 * before is answered as before; what is not given is taken from what the pipeline knows.
 */
export function refuseRelease(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  parentOwners: readonly string[] = [],
): Refusal | undefined {
  if (trigger.kind === 'parent' && !consents(state, trigger.parent ?? '', parentOwners))
    return {
      code: 'not-permitted',
      message: `${state.spec.pipeline} has no owner in common with ${trigger.parent ?? 'its parent'} and no label that names it`,
    };
  const wrong = refuseArtifacts(state, artifacts, trigger, Object.keys(state.spec.artifacts));
  if (wrong !== undefined || repeated(state, artifacts, trigger) !== undefined) return wrong;
  const names = missing(state, artifacts);
  if (names.length > 0)
    return { code: 'missing-artifact', message: `a release needs a version of ${names.join(', ')}`, names };
  return refuseNow(state, completed(state, artifacts));
}

/** As `refuseRelease`, but for artifacts that are not there yet. */
export function refuseSubmission(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
): Refusal | undefined {
  const wrong = refuseArtifacts(state, artifacts, trigger, Object.keys(state.spec.artifacts));
  if (wrong !== undefined || repeated(state, artifacts, trigger) !== undefined) return wrong;
  return refuseNow(state, artifacts);
}

/** An emergency names a deploy, and brings what that deploys. It bypasses the line, and no freeze: whoever froze the pipeline unfreezes it. */
export function refuseEmergency(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  { action: name }: Emergency,
): Refusal | undefined {
  const action = state.spec.actions[name];
  if (action?.type !== 'deploy')
    return {
      code: 'invalid-state',
      message: action ? `${name} is no deploy but a ${action.type}` : `it has no action ${name}`,
    };
  const wrong = refuseArtifacts(state, artifacts, trigger, action.inputs);
  if (wrong !== undefined || repeated(state, artifacts, trigger) !== undefined) return wrong;
  if (state.frozen)
    return {
      code: 'invalid-state',
      message: `${state.frozen.actor} has frozen it: ${state.frozen.reason}. Unfreeze it first`,
    };
  const names = action.inputs.filter((input) => !artifacts.some((artifact) => artifact.name === input));
  if (names.length > 0)
    return { code: 'missing-artifact', message: `${name} needs a version of ${names.join(', ')}`, names };
  const never = whyNeverApproved(state.spec, policyOf(state), trigger);
  if (never !== undefined) return { code: 'invalid-state', message: never };
  return refuseBad(state, artifacts);
}

function refuseArtifacts(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  wanted: readonly string[],
): Refusal | undefined {
  const { spec } = state;
  if (!isPlatform(trigger) && !mayCommand(policyOf(state), trigger.actor))
    return notPermitted(trigger.actor, spec.pipeline);
  const unknown = artifacts.find(({ name }) => !wanted.includes(name));
  if (unknown)
    return {
      code: 'unknown-artifact',
      message: `${spec.pipeline} takes no artifact ${unknown.name}`,
      names: [unknown.name, ...wanted],
    };
  const twice = artifacts.find((artifact, index) => artifacts.findIndex(({ name }) => name === artifact.name) < index);
  if (twice) return { code: 'invalid-state', message: `${twice.name} is given twice` };
  return undefined;
}

/** A child is released by a parent that one of its owners owns as well, or that it names in a label: `parent: inference`. */
function consents(state: PipelineState, parent: string, parentOwners: readonly string[]): boolean {
  const { owners, labels } = state.spec;
  const [pipeline] = parent.split('/');
  return (
    labels['parent'] === pipeline ||
    parentOwners.some((owner) => owners.includes(owner) || mayCommand(policyOf(state), owner))
  );
}

const isPlatform = ({ kind }: Trigger): boolean => kind === 'finder' || kind === 'webhook' || kind === 'parent';

/** Refused last of all: what cannot be taken now. */
function refuseNow(state: PipelineState, artifacts: readonly Artifact[]): Refusal | undefined {
  if (isFull(state))
    return {
      code: 'invalid-state',
      message: `${MAX_QUEUED} releases wait already, and with supersede: never none of them is dropped`,
    };
  return refuseBad(state, artifacts);
}

function refuseBad(state: PipelineState, artifacts: readonly Artifact[]): Refusal | undefined {
  const bad = artifacts.find((artifact) => isKnownBad(state, artifact));
  return bad && { code: 'known-bad', message: isKnownBad(state, bad)?.reason ?? '', names: [identityOf(bad)] };
}

export function refuseCancelQueued(state: PipelineState, number: number, actor: string): Refusal | undefined {
  if (!mayCommand(policyOf(state), actor)) return notPermitted(actor, state.spec.pipeline);
  const why = whyNotQueued(state, number);
  return why === undefined ? undefined : { code: 'invalid-state', message: why };
}

export function refuseRollBack(state: PipelineState, of: number, actor: string): Refusal | undefined {
  if (!mayCommand(policyOf(state), actor)) return notPermitted(actor, state.spec.pipeline);
  if (state.active.some(({ trigger }) => trigger.kind === 'rollback' && trigger.of === of))
    return { code: 'invalid-state', message: 'it is being rolled back already' };
  const back = rollbackOf(state, of);
  return 'impossible' in back ? { code: 'invalid-state', message: back.impossible } : undefined;
}
