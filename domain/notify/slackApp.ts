import type { Format, ReceiverFacts } from './format';
import type { Notice } from './notice';
import { slackMessage } from './slack';
import { formatButton, labelButton, listButtonCommands } from './slackButtons';

/** The message of a release in a channel of Slack: later notices change it, and add to its thread. */
export interface SlackThread {
  readonly channel: string;
  /** Slack's name of the message. */
  readonly ts: string;
}

/** A call of Slack's Web API. */
export interface SlackCall {
  readonly method: 'chat.postMessage' | 'chat.update';
  readonly body: object;
}

/**
 * Messages by the bot of an app, with buttons. The key is the token of the bot. A receiver of this format gets several calls for a notice
 * (activities/slackMessages.ts); this is the first of them.
 */
export const slackApp: Format = {
  contentType: 'application/json; charset=utf-8',
  home: 'https://slack.com/api',
  needsKey: true,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  path: () => '/chat.postMessage',
  body: (notice, facts) => postMessage(notice, '', facts).body,
};

/** A new message in the channel. */
export const postMessage = (notice: Notice, channel: string, facts: ReceiverFacts = {}): SlackCall => ({
  method: 'chat.postMessage',
  body: { channel, ...withButtons(notice, facts), unfurl_links: false, unfurl_media: false },
});

/** The message as it is now; its buttons are those of the newest notice. */
export const updateMessage = (notice: Notice, { channel, ts }: SlackThread, facts: ReceiverFacts = {}): SlackCall => ({
  method: 'chat.update',
  body: { channel, ts, ...withButtons(notice, facts) },
});

/** The notice in the thread below the message, where it stays. */
export const postInThread = (notice: Notice, { channel, ts }: SlackThread): SlackCall => ({
  method: 'chat.postMessage',
  body: { channel, thread_ts: ts, ...slackMessage(notice), unfurl_links: false, unfurl_media: false },
});

function withButtons(notice: Notice, { link = null }: ReceiverFacts): object {
  const { text, blocks } = slackMessage(notice);
  const buttons = listButtonCommands(notice).map((command) => ({
    ...{ type: 'button', action_id: `conveyor-${command.verb}`, value: formatButton(command) },
    text: { type: 'plain_text', text: labelButton(command.verb) },
    ...(command.verb === 'revert' ? { style: 'danger' } : {}),
  }));
  const opens = { type: 'button', action_id: 'conveyor-open', text: { type: 'plain_text', text: 'Open' } };
  const elements = [...buttons, ...(link === null ? [] : [{ ...opens, url: link }])];
  return { text, blocks: elements.length === 0 ? blocks : [...blocks, { type: 'actions', elements }] };
}
