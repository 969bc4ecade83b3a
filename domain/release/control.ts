import { stringsIn } from '../excess';
import { ACCESS_LIMITS } from '../limits';
import { UNKNOWN_ACTOR, type CommandInput, type ReleaseVerb } from '../verbs';
import { whyNotApprove } from './approval';
import { hasActionEnded } from './nextActions';
import { whyNotOverrideOffer } from './overrideOffer';
import { whyNotSkipWindow } from './skipWindow';
import { getActionStates, type PickRecord, type ReleaseControl, type ReleaseRecord } from './state';

export const RELEASE_FREE: ReleaseControl = { frozen: null, picks: {}, approvals: {}, paused: false, ending: null };

/** The reason why a verb cannot be taken now; undefined if it can. */
export function whyNotRelease(
  control: ReleaseControl,
  record: ReleaseRecord,
  verb: ReleaseVerb,
  input: CommandInput = {},
): string | undefined {
  if (hasEnded(record) && !(verb === 'revert' && hasSomethingToUndo(record))) return 'it has ended';
  if (control.ending !== null && verb !== 'revert')
    return `${control.ending.actor} has already ${control.ending.revert ? 'reverted' : 'cancelled'} it`;
  return VERBS[verb].refuse(control, record, input);
}

/** All of its actions have ended, so it is about to end. */
const hasEnded = (record: ReleaseRecord): boolean => Object.values(getActionStates(record)).every(hasActionEnded);

/** Until its workflow is gone, a release passes a revert of its deploys on to its pipeline, which learns only then that the release has ended. */
const hasSomethingToUndo = ({ deploys }: ReleaseRecord): boolean =>
  deploys.some(({ result }) => result.outcome === 'succeeded');

/** The meaning of a verb for a release. */
interface VerbOfRelease {
  /** The reason why it cannot be taken; undefined if it can. `whyNotRelease` has the reasons that all verbs share. */
  readonly refuse: (control: ReleaseControl, record: ReleaseRecord, input: CommandInput) => string | undefined;
  /** @param of the present artifacts of the release */
  readonly apply: (control: ReleaseControl, input: CommandInput, of?: readonly string[]) => ReleaseControl;
  /** The effect now. */
  readonly effect: string;
}

const VERBS: Readonly<Record<ReleaseVerb, VerbOfRelease>> = {
  pause: {
    refuse: ({ paused }) => (paused ? 'it is already paused' : undefined),
    apply: (control) => ({ ...control, paused: true }),
    effect: 'no further action starts, and running deploys pause',
  },
  resume: {
    refuse: ({ paused }) => (paused ? undefined : 'it is not paused'),
    apply: (control) => ({ ...control, paused: false }),
    effect: 'it continues, and its deploys resume',
  },
  cancel: {
    refuse: () => undefined,
    apply: (control, input) => recordReleaseEnding(control, input, false),
    effect: 'running actions are cancelled and nothing else starts',
  },
  revert: {
    refuse: () => undefined,
    apply: (control, input) => recordReleaseEnding(control, input, true),
    effect: 'its running deploys are reverted, a rollback undoes those that succeeded, and nothing else starts',
  },
  pick: {
    refuse: whyNotPick,
    apply: (control, input, of) => withPick(control, input.action ?? '', createPick(input, of)),
    effect: 'the decision is recorded, and the release follows it',
  },
  retry: {
    refuse: (_control, record, input) => whyNotRetry(record, input),
    apply: (control, { action = '' }) => withoutPick(control, action),
    effect: 'the action starts again, and actions skipped because of it are decided again',
  },
  'skip-window': {
    refuse: (_control, record, input) => whyNotSkipWindow(record, input),
    apply: (control) => control,
    effect: 'the present wait for a window or soak ends; all other waits remain',
  },
  'override-offer': {
    refuse: (_control, record, input) => whyNotOverrideOffer(record, input),
    apply: (control) => control,
    effect: 'the deploy no longer waits for users of its offers; all other waits remain',
  },
};

/** The effect of a verb that was taken. */
export const effectOfRelease = (verb: ReleaseVerb): string => VERBS[verb].effect;

function whyNotPick(
  { picks, approvals }: ReleaseControl,
  record: ReleaseRecord,
  input: CommandInput,
): string | undefined {
  const { action } = input;
  if (action === undefined || input.approve === undefined) return 'a pick needs an action and approve: true or false';
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  const picked = picks[action];
  if (known.approval && picked?.approve !== false) {
    // Under rules of the platform, only approvers of the artifacts to deploy count; the view lists them.
    const by = known.approval.rules ? known.approval.by : (approvals[action] ?? []).map(({ actor }) => actor);
    return whyNotApprove({ ...known.approval, by }, input);
  }
  if (picked) return `${picked.actor} has already ${picked.approve ? 'approved' : 'rejected'} ${action}`;
  return known.pickBy === null ? `${action} does not wait for a person (it is ${known.state})` : undefined;
}

function whyNotRetry(record: ReleaseRecord, { action }: CommandInput): string | undefined {
  if (action === undefined) return 'a retry needs an action';
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  return known.state === 'failed' ? undefined : `${action} has not failed (it is ${known.state})`;
}

/** @param of the present artifacts of the release, which a pick approves; missing for an emergency. */
export const takeRelease = (
  control: ReleaseControl,
  verb: ReleaseVerb,
  input: CommandInput,
  of?: readonly string[],
): ReleaseControl => VERBS[verb].apply(control, input, of);

/** A later cancel does not take back a revert. */
function recordReleaseEnding(
  control: ReleaseControl,
  { actor = UNKNOWN_ACTOR, reason = '', notBad, permitted }: CommandInput,
  revert: boolean,
): ReleaseControl {
  if (control.ending?.revert) return control;
  const by = permitted === undefined ? {} : { permitted };
  return { ...control, ending: { actor, reason, revert, notBad: notBad === true, ...by } };
}

const createPick = (
  { actor = UNKNOWN_ACTOR, reason = '', approve, vouched }: CommandInput,
  of: readonly string[] | undefined,
): PickRecord => ({
  actor,
  reason,
  approve: approve === true,
  ...(of && { of }),
  ...(vouched && { vouched: stringsIn(vouched).slice(0, ACCESS_LIMITS.principals.max) }),
});

function withPick(control: ReleaseControl, action: string, picked: PickRecord): ReleaseControl {
  const before = control.approvals[action] ?? [];
  const approvals = picked.approve ? { ...control.approvals, [action]: [...before, picked] } : control.approvals;
  return { ...control, picks: { ...control.picks, [action]: picked }, approvals };
}

/** The approvals stay valid for another deploy of the same artifacts; after a rejection all are asked again. */
function withoutPick(control: ReleaseControl, action: string): ReleaseControl {
  const { [action]: picked, ...picks } = control.picks;
  const { [action]: approved = [], ...others } = control.approvals;
  const kept = picked?.approve === false ? [] : approved.filter(({ of }) => of !== undefined);
  return { ...control, picks, approvals: kept.length > 0 ? { ...others, [action]: kept } : others };
}
