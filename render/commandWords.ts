import type { OfferedCommand } from '../domain/commandOffers';
import type { StartVerb, Verb } from '../domain/verbs';

/** The verbs as people read them on a button. */
const VERB_WORDS: { readonly [V in Verb | StartVerb]?: string } = {
  'skip-phase': 'Skip phase',
  'skip-bake': 'Skip the bake',
  'skip-health-check': 'Skip a health check',
  'skip-window': 'Skip the window',
  'allow-artifact': 'Allow',
  'end-use': 'End the use by',
  'override-offer': 'Override the offer for',
};

/** The words of a button, such as `Approve deploy-eu`, `Skip phase half`, `Revert`. */
export function describeCommand(command: Omit<OfferedCommand, 'effect'>): string {
  const { verb, target, approve, artifact, user, phase } = command;
  const words = VERB_WORDS[verb] ?? `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
  const [, , action] = target.split('/');
  if (verb === 'pick') return `${approve === true ? 'Approve' : 'Reject'} ${action ?? target}`;
  if (verb === 'retry' || verb === 'override-offer') return `${words} ${action ?? target}`;
  if (verb === 'skip-phase') return `${words} ${phase ?? ''}`.trim();
  return [words, artifact, user].filter((word) => word !== undefined).join(' ');
}
