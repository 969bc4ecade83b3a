import type { CommandInput } from '../verbs';
import { UNKNOWN_ACTOR } from '../verbs';
import { withAction, type ReleaseRecord } from './state';

/** Lets a deploy begin although its offers do not fit deploys of other pipelines that use them. */

/** The reason why a deploy cannot be let to begin now; undefined if it can. */
export function whyNotOverrideOffer(record: ReleaseRecord, { action }: CommandInput): string | undefined {
  if (action === undefined) return 'it needs a deploy as release/action';
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  if (known.override) return `${known.override.actor} has already overridden it`;
  if (known.unfit) return undefined;
  if (known.state === 'blocked' && known.wishes?.some(({ state }) => state === 'waiting'))
    return `${action} lacks a value that only another pipeline can offer (${known.blockedBy ?? ''}): release that pipeline, or change the wish, apply it and release again`;
  return `${action} does not wait for users of its offers (it is ${known.state})`;
}

export const offerOverridden = (
  record: ReleaseRecord,
  { action = '', actor = UNKNOWN_ACTOR, reason = '' }: CommandInput,
  at: string,
): ReleaseRecord => withAction(record, action, { override: { actor, at, reason } });
