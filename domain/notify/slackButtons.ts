import { parseId } from '../ids';
import type { Notice } from './notice';

/** The verbs that buttons in Slack give, each with a dialog for the reason. */
const BUTTON_VERBS = ['pick', 'pause', 'resume', 'revert'] as const;

type ButtonVerb = (typeof BUTTON_VERBS)[number];

/** The command of a button: a verb and its target. */
export interface ButtonCommand {
  readonly verb: ButtonVerb;
  /** `kvstore/12` or `kvstore/12/deploy` */
  readonly id: string;
}

const BUTTON_LABELS: Readonly<Record<ButtonVerb, string>> = {
  pick: 'Approve',
  pause: 'Pause',
  resume: 'Resume',
  revert: 'Revert',
};

export const labelButton = (verb: ButtonVerb): string => BUTTON_LABELS[verb];

/** The commands that a notice suggests. A button that no longer fits is refused when it is clicked, with the reason. */
export function listButtonCommands({ id, on, deploy, release }: Notice): readonly ButtonCommand[] {
  const target = deploy ?? release;
  if (on === 'paused' && id.endsWith('/approval/paused')) return [{ verb: 'pick', id: target }];
  if (on === 'paused' || on === 'on-call')
    return (['pause', 'resume', 'revert'] as const).map((verb) => ({ verb, id: target }));
  return on === 'succeeded' ? [{ verb: 'revert', id: target }] : [];
}

/** `revert kvstore/12/deploy` */
export const formatButton = ({ verb, id }: ButtonCommand): string => `${verb} ${id}`;

/** Undefined for any other text: what comes back from Slack is checked. */
export function parseButton(text: string): ButtonCommand | undefined {
  const [given, id = '', ...rest] = text.split(' ');
  const verb = BUTTON_VERBS.find((one) => one === given);
  const target = parseId(id);
  return verb === undefined || rest.length > 0 || target === undefined || target.kind === 'pipeline'
    ? undefined
    : { verb, id };
}
