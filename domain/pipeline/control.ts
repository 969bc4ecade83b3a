import { matchesIdentity } from '../artifact';
import { formatTime } from '../text';
import { UNKNOWN_ACTOR, type CommandInput, type PipelineVerb } from '../verbs';
import { parseUser } from '../offers/board';
import { formatFreezeEnd, whyNotFreeze } from './freeze';
import { whyBadFull } from './knownBad';
import { queueUndeploy, undeployUnderWay, whyNotUndeploy } from './undeploy';
import { allowVersion, type PipelineStopRecord, type PipelineState } from './state';

/** The meaning of a verb for a pipeline. */
interface VerbOfPipeline {
  /** The reason why it cannot be taken now; undefined if it can. */
  readonly refuse: (state: PipelineState, input: CommandInput, nowMs: number) => string | undefined;
  readonly apply: (state: PipelineState, input: CommandInput, nowMs: number) => PipelineState;
  /** The effect now. */
  readonly effect: string;
}

const VERBS: Readonly<Record<PipelineVerb, VerbOfPipeline>> = {
  hold: {
    refuse: ({ held }) => (held ? `${held.actor} already holds it: ${held.reason}` : undefined),
    apply: (state, input, nowMs) => ({ ...state, held: createHold(input, nowMs) }),
    effect: 'no deploy starts; builds, tests, running deploys and reverts continue',
  },
  unhold: {
    refuse: (state) => (state.held ? whyBadFull(state) : 'it is not held'),
    apply: (state) => ({ ...state, held: null }),
    effect: 'deploys start again',
  },
  freeze: {
    refuse: whyNotFreeze,
    apply: (state, input, nowMs) => ({
      ...state,
      frozen: { ...createHold(input, nowMs), ...(input.until ? { until: formatFreezeEnd(input.until) } : {}) },
    }),
    effect: 'nothing starts, and running deploys pause before their next phase; reverts continue',
  },
  unfreeze: {
    refuse: ({ frozen }) => (frozen ? undefined : 'it is not frozen'),
    apply: (state) => ({ ...state, frozen: null }),
    effect: 'releases and deploys continue',
  },
  'allow-artifact': {
    refuse: ({ knownBad }, { artifact }) => {
      if (artifact === undefined) return 'it needs the artifact as name@version';
      return knownBad.some((bad) => matchesIdentity(bad.artifact, artifact))
        ? undefined
        : `${artifact} is not known-bad`;
    },
    apply: (state, { artifact = '' }) => allowVersion(state, artifact),
    effect: 'it may be deployed again',
  },
  retire: {
    refuse: whyNotRetire,
    apply: (state, input, nowMs) => ({ ...state, retired: createHold(input, nowMs) }),
    effect: 'it accepts no more releases; conveyor apply brings it back with its numbers and records',
  },
  undeploy: {
    refuse: whyNotUndeploy,
    apply: queueUndeploy,
    effect: 'its units are removed once no other pipeline uses its offers',
  },
  'end-use': {
    refuse: ({ spec }, { user = '' }) =>
      parseUser(user) === undefined || parseUser(user)?.pipeline === spec.pipeline
        ? 'it needs a deploy of another pipeline as pipeline/action'
        : undefined,
    apply: (state) => state,
    effect: 'its offers no longer wait for that deploy; if it runs again and wishes for them, it is a user again',
  },
};

/** The reason why a verb cannot be taken now; undefined if it can. */
export const whyNotPipeline = (
  state: PipelineState,
  verb: PipelineVerb,
  input: CommandInput,
  nowMs: number,
): string | undefined => VERBS[verb].refuse(state, input, nowMs);

export const takePipeline = (
  state: PipelineState,
  verb: PipelineVerb,
  input: CommandInput,
  nowMs: number,
): PipelineState => VERBS[verb].apply(state, input, nowMs);

/** The effect of a verb that was taken. @param state the state after it */
export function effectOfPipeline(verb: PipelineVerb, state: PipelineState): string {
  const { spec, held, frozen } = state;
  if (verb === 'unhold' && frozen)
    return `it is no longer held, but still frozen: conveyor unfreeze ${spec.pipeline} lets deploys start`;
  if (verb === 'unfreeze' && held)
    return `it is no longer frozen, but still held: conveyor unhold ${spec.pipeline} lets deploys start`;
  const release = verb === 'undeploy' ? undeployUnderWay(state) : undefined;
  if (release !== undefined)
    return `release ${release} removes its units once no other pipeline uses its offers, and it is held from now on: conveyor status ${spec.pipeline}/${release}`;
  return VERBS[verb].effect;
}

/** Running releases need their pipeline to the end. */
function whyNotRetire({ active }: PipelineState): string | undefined {
  if (active.length === 0) return undefined;
  const numbers = active.map(({ number }) => number);
  const shown = numbers.slice(0, MAX_RELEASES_SHOWN).join(', ');
  const more = numbers.length > MAX_RELEASES_SHOWN ? ` and ${numbers.length - MAX_RELEASES_SHOWN} more` : '';
  return `${numbers.length === 1 ? 'release' : 'releases'} ${shown}${more} ${numbers.length === 1 ? 'has not ended: wait for it, or cancel it' : 'have not ended: wait for them, or cancel them'}`;
}

const MAX_RELEASES_SHOWN = 5;

function createHold({ actor = UNKNOWN_ACTOR, reason = '' }: CommandInput, nowMs: number): PipelineStopRecord {
  return { actor, reason, at: formatTime(nowMs) };
}
