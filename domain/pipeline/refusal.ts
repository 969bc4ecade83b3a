import type { Excess } from '../unfit';
import { whyNotCommand, type Policy } from '../principals';
import type { PipelineState } from './state';

/** The reason why a request to a pipeline is refused; `code` is one of domain/errors.ts. */
export interface Refusal {
  readonly code:
    | 'not-permitted'
    | 'invalid-state'
    | 'key-reused'
    | 'not-rerunnable'
    | 'known-bad'
    | 'digest-changed'
    | 'missing-artifact'
    | 'unknown-artifact'
    | 'unknown-pipeline'
    | 'over-limit'
    | 'queue-full'
    | 'emergency-full';
  readonly message: string;
  /** Further values for the wording of the error. */
  readonly names?: readonly string[];
}

export const toPolicy = (state: Pick<PipelineState, 'spec' | 'groups'>): Policy => ({
  owners: state.spec.owners,
  groups: state.groups,
});

/** Undefined if the actor may command the pipeline. */
export function notPermitted(
  policy: Policy,
  acting: { readonly actor: string; readonly permitted?: string | undefined },
  pipeline: string,
): Refusal | undefined {
  const message = whyNotCommand(policy, acting, pipeline);
  return message === undefined ? undefined : { code: 'not-permitted', message };
}

export const tooLarge = (excess: Excess | undefined): Refusal | undefined =>
  excess && {
    code: 'over-limit',
    message: `${excess.what} is ${excess.size}, more than ${excess.limit}`,
    names: [excess.what, excess.size, excess.limit],
  };
