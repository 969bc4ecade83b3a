import { UNKNOWN_ACTOR, type CommandInput, type ReleaseVerb } from '../verbs';
import { isOver } from './nextActions';
import { statesOf, type ReleaseRecord } from './state';

/** What the operators asked of a release: verbs reach its running deploys too, which have rules of their own. */
export interface ReleaseControl {
  readonly paused: boolean;
  /** Cancel, or revert with nothing deployed yet: nothing else starts. */
  readonly ending: {
    readonly actor: string;
    readonly reason: string;
    readonly revert: boolean;
    readonly notBad: boolean;
  } | null;
}

export const RELEASE_FREE: ReleaseControl = { paused: false, ending: null };

/** Why a verb cannot be taken now; undefined when it can. */
export function whyNotRelease(control: ReleaseControl, record: ReleaseRecord, verb: ReleaseVerb): string | undefined {
  if (Object.values(statesOf(record)).every(isOver)) return 'it has ended';
  if (control.ending !== null && verb !== 'revert')
    return `${control.ending.actor} has ${control.ending.revert ? 'reverted' : 'cancelled'} it already`;
  if (verb === 'pause' && control.paused) return 'it is paused already';
  if (verb === 'resume' && !control.paused) return 'it is not paused';
  if (verb === 'revert' && record.deploys.some(({ result }) => result.outcome === 'succeeded'))
    return 'a deploy of it has succeeded already; revert the release once it has ended';
  return undefined;
}

export function takeRelease(control: ReleaseControl, verb: ReleaseVerb, input: CommandInput): ReleaseControl {
  const { actor = UNKNOWN_ACTOR, reason = '' } = input;
  switch (verb) {
    case 'pause':
      return { ...control, paused: true };
    case 'resume':
      return { ...control, paused: false };
    case 'cancel':
    case 'revert':
      return control.ending?.revert
        ? control
        : { ...control, ending: { actor, reason, revert: verb === 'revert', notBad: input.notBad === true } };
  }
}

export const RELEASE_EFFECTS: Readonly<Record<ReleaseVerb, string>> = {
  pause: 'no further action starts, and running deploys pause',
  resume: 'it goes on, and its deploys resume',
  cancel: 'running actions are cancelled and nothing else starts',
  revert: 'its deploys are reverted and nothing else starts',
};
