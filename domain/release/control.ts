import { textsIn } from '../excess';
import { ACCESS_LIMITS } from '../limits';
import { UNKNOWN_ACTOR, type CommandInput, type ReleaseVerb } from '../verbs';
import { whyNotApprove } from './approval';
import { isOver } from './nextActions';
import { whyNotSkipWindow } from './skipWindow';
import { statesOf, type Picked, type ReleaseControl, type ReleaseRecord } from './state';

export const RELEASE_FREE: ReleaseControl = { frozen: null, picks: {}, approvals: {}, paused: false, ending: null };

/** Why a verb cannot be taken now; undefined when it can. */
export function whyNotRelease(
  control: ReleaseControl,
  record: ReleaseRecord,
  verb: ReleaseVerb,
  input: CommandInput = {},
): string | undefined {
  if (Object.values(statesOf(record)).every(isOver)) return 'it has ended';
  if (control.ending !== null && verb !== 'revert')
    return `${control.ending.actor} has ${control.ending.revert ? 'reverted' : 'cancelled'} it already`;
  switch (verb) {
    case 'pause':
      return control.paused ? 'it is paused already' : undefined;
    case 'resume':
      return control.paused ? undefined : 'it is not paused';
    case 'revert':
      return record.deploys.some(({ result }) => result.outcome === 'succeeded')
        ? 'a deploy of it has succeeded already; revert the release once it has ended'
        : undefined;
    case 'pick':
      return whyNotPick(control, record, input);
    case 'retry':
      return whyNotRetry(record, input);
    case 'skip-window':
      return whyNotSkipWindow(record, input);
    case 'cancel':
      return undefined;
  }
}

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
    // Under rules of the platform those count who approved what would be deployed: the view knows who.
    const by = known.approval.rules ? known.approval.by : (approvals[action] ?? []).map(({ actor }) => actor);
    return whyNotApprove({ ...known.approval, by }, input);
  }
  if (picked) return `${picked.actor} has ${picked.approve ? 'approved' : 'rejected'} ${action} already`;
  return known.pickBy === null ? `${action} does not wait for a person (it is ${known.state})` : undefined;
}

function whyNotRetry(record: ReleaseRecord, { action }: CommandInput): string | undefined {
  if (action === undefined) return 'a retry needs an action';
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  return known.state === 'failed' ? undefined : `${action} has not failed (it is ${known.state})`;
}

/** @param of what the release has by now, which a pick approves; missing of emergencies. */
export function takeRelease(
  control: ReleaseControl,
  verb: ReleaseVerb,
  input: CommandInput,
  of?: readonly string[],
): ReleaseControl {
  const { actor = UNKNOWN_ACTOR, reason = '' } = input;
  switch (verb) {
    case 'pause':
      return { ...control, paused: true };
    case 'resume':
      return { ...control, paused: false };
    case 'skip-window':
      return control;
    case 'cancel':
    case 'revert':
      return control.ending?.revert
        ? control
        : { ...control, ending: { actor, reason, revert: verb === 'revert', notBad: input.notBad === true } };
    case 'pick':
      return withPick(control, input.action ?? '', {
        actor,
        reason,
        approve: input.approve === true,
        ...(of && { of }),
        ...(input.vouched && { vouched: textsIn(input.vouched).slice(0, ACCESS_LIMITS.principals.max) }),
      });
    case 'retry':
      return withoutPick(control, input.action ?? '');
  }
}

function withPick(control: ReleaseControl, action: string, picked: Picked): ReleaseControl {
  const before = control.approvals[action] ?? [];
  const approvals = picked.approve ? { ...control.approvals, [action]: [...before, picked] } : control.approvals;
  return { ...control, picks: { ...control.picks, [action]: picked }, approvals };
}

/** Who approved what is deployed again has approved it; after a rejection all are asked anew. */
function withoutPick(control: ReleaseControl, action: string): ReleaseControl {
  const { [action]: picked, ...picks } = control.picks;
  const { [action]: approved = [], ...others } = control.approvals;
  const kept = picked?.approve === false ? [] : approved.filter(({ of }) => of !== undefined);
  return { ...control, picks, approvals: kept.length > 0 ? { ...others, [action]: kept } : others };
}

export const RELEASE_EFFECTS: Readonly<Record<ReleaseVerb, string>> = {
  pause: 'no further action starts, and running deploys pause',
  resume: 'it goes on, and its deploys resume',
  cancel: 'running actions are cancelled and nothing else starts',
  revert: 'its deploys are reverted and nothing else starts',
  pick: 'the decision is on record, and the release follows it',
  'skip-window': 'what waits for its window, or soaks, goes on without; everything else is waited for as ever',
  retry: 'the action starts again, and what was skipped because of it is decided anew',
};
