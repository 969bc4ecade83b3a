import { isVersionOf } from '../artifact';
import { UNKNOWN_ACTOR, type CommandInput, type PipelineVerb } from '../verbs';
import { allowed, heldBy, type PipelineState } from './state';

/** Why a verb cannot be taken now; undefined when it can. */
export function whyNotPipeline(state: PipelineState, verb: PipelineVerb, input: CommandInput): string | undefined {
  switch (verb) {
    case 'hold':
      return state.held ? `${state.held.actor} holds it already: ${state.held.reason}` : undefined;
    case 'unhold':
      return state.held ? undefined : 'it is not held';
    case 'allow-artifact': {
      const { artifact } = input;
      if (artifact === undefined) return 'it needs the artifact as name@version';
      return state.knownBad.some((bad) => isVersionOf(bad.artifact, artifact))
        ? undefined
        : `${artifact} is not known to be bad`;
    }
  }
}

export function takePipeline(
  state: PipelineState,
  verb: PipelineVerb,
  input: CommandInput,
  nowMs: number,
): PipelineState {
  switch (verb) {
    case 'hold':
      return heldBy(state, input.actor ?? UNKNOWN_ACTOR, input.reason ?? '', nowMs);
    case 'unhold':
      return { ...state, held: null };
    case 'allow-artifact':
      return allowed(state, input.artifact ?? '');
  }
}

export const PIPELINE_EFFECTS: Readonly<Record<PipelineVerb, string>> = {
  hold: 'no deploy starts; builds and tests go on, running deploys and reverts too',
  unhold: 'deploys start again',
  'allow-artifact': 'it may be deployed again',
};
