import { isVersionOf } from '../artifact';
import { formatTime } from '../text';
import { UNKNOWN_ACTOR, type CommandInput, type PipelineVerb } from '../verbs';
import { endOf, whyNotFreeze } from './freeze';
import { whyBadFull } from './knownBad';
import { allowed, type Held, type PipelineState } from './state';

/** Why a verb cannot be taken now; undefined when it can. */
export function whyNotPipeline(
  state: PipelineState,
  verb: PipelineVerb,
  input: CommandInput,
  nowMs: number,
): string | undefined {
  switch (verb) {
    case 'hold':
      return state.held ? `${state.held.actor} holds it already: ${state.held.reason}` : undefined;
    case 'unhold':
      return state.held ? whyBadFull(state) : 'it is not held';
    case 'freeze':
      return whyNotFreeze(state, input, nowMs);
    case 'unfreeze':
      return state.frozen ? undefined : 'it is not frozen';
    case 'retire':
      return whyNotRetire(state);
    case 'allow-artifact': {
      const { artifact } = input;
      if (artifact === undefined) return 'it needs the artifact as name@version';
      return state.knownBad.some((bad) => isVersionOf(bad.artifact, artifact))
        ? undefined
        : `${artifact} is not known to be bad`;
    }
  }
}

/** What runs needs its pipeline to the end. */
function whyNotRetire({ active }: PipelineState): string | undefined {
  if (active.length === 0) return undefined;
  const numbers = active.map(({ number }) => number);
  const shown = numbers.slice(0, SHOWN).join(', ');
  const more = numbers.length > SHOWN ? ` and ${numbers.length - SHOWN} more` : '';
  return `${numbers.length === 1 ? 'release' : 'releases'} ${shown}${more} of it ${numbers.length === 1 ? 'has' : 'have'} not ended: wait, or cancel`;
}

const SHOWN = 5;

export function takePipeline(
  state: PipelineState,
  verb: PipelineVerb,
  input: CommandInput,
  nowMs: number,
): PipelineState {
  switch (verb) {
    case 'hold':
      return { ...state, held: heldSince(input, nowMs) };
    case 'unhold':
      return { ...state, held: null };
    case 'freeze':
      return {
        ...state,
        frozen: { ...heldSince(input, nowMs), ...(input.until ? { until: endOf(input.until) } : {}) },
      };
    case 'unfreeze':
      return { ...state, frozen: null };
    case 'retire':
      return { ...state, retired: heldSince(input, nowMs) };
    case 'allow-artifact':
      return allowed(state, input.artifact ?? '');
  }
}

const heldSince = ({ actor = UNKNOWN_ACTOR, reason = '' }: CommandInput, nowMs: number): Held => ({
  actor,
  reason,
  at: formatTime(nowMs),
});

export const PIPELINE_EFFECTS: Readonly<Record<PipelineVerb, string>> = {
  hold: 'no deploy starts; builds and tests go on, running deploys and reverts too',
  unhold: 'deploys start again',
  freeze: 'nothing starts, and running deploys pause before their next phase; reverts go on',
  unfreeze: 'releases and deploys go on',
  'allow-artifact': 'it may be deployed again',
  retire: 'it takes nothing more; conveyor apply brings it back with its numbers and books',
};
