import { cutLine } from './words';
import { formatButton, labelButton, type ButtonCommand } from './slackButtons';

/** Views of Slack: the dialog that asks for the reason of a command, and the one that tells its result. */

export const REASON_BLOCK = 'reason';
export const REASON_INPUT = 'text';

const TEXT_LENGTH = 2_900;
const ERROR_LENGTH = 250;

export function buildReasonDialog(command: ButtonCommand): object {
  const label = labelButton(command.verb);
  return {
    type: 'modal',
    callback_id: 'conveyor-command',
    private_metadata: formatButton(command),
    ...{ title: plain('Conveyor'), submit: plain(label), close: plain('Close') },
    blocks: [
      { type: 'section', text: plain(`${label} ${command.id}`) },
      {
        type: 'input',
        block_id: REASON_BLOCK,
        label: plain('Reason'),
        element: { type: 'plain_text_input', action_id: REASON_INPUT, multiline: false, max_length: 500 },
      },
    ],
  };
}

export const buildResultDialog = (text: string): object => ({
  type: 'modal',
  ...{ title: plain('Conveyor'), close: plain('Close') },
  blocks: [{ type: 'section', text: plain(cutLine(text, TEXT_LENGTH)) }],
});

/** Shown at the reason, so that the person can correct it or close the dialog. */
export const buildRefusal = (text: string): object => ({
  response_action: 'errors',
  errors: { [REASON_BLOCK]: cutLine(text, ERROR_LENGTH) },
});

/** Slack makes no links, mentions or emphasis of plain text. */
const plain = (text: string): object => ({ type: 'plain_text', text, emoji: false });
