import { formatIdentity } from '../artifact';
import { onOneLine } from '../plainText';
import type { Format } from './format';
import { noticeHeadline, type Notice, type NotifyOn } from './notice';

/** A message for incoming webhooks of Slack, and of compatible services. */
export const slack: Format = {
  contentType: 'application/json',
  hosts: /^hooks\.slack(-gov)?\.com$/,
  body: slackMessage,
};

/** `text` is for notifications on phones, `blocks` for the channel. */
function slackMessage(notice: Notice): object {
  const { release, phase, actor, artifacts } = notice;
  const details = [
    `release ${release}`,
    ...(phase === null ? [] : [`phase ${phase}`]),
    ...(artifacts.length === 0 ? [] : [artifacts.map(formatIdentity).join(', ')]),
    ...(actor === null ? [] : [`by ${actor}`]),
  ];
  return {
    text: forSlack(noticeHeadline(notice)),
    blocks: [
      { type: 'section', text: { ...QUOTED, text: `${MARKS[notice.on]} ${forSlack(noticeHeadline(notice))}` } },
      { type: 'context', elements: [{ ...QUOTED, text: forSlack(details.join(' · ')) }] },
    ],
  };
}

const MARKS: Readonly<Record<NotifyOn, string>> = {
  succeeded: ':white_check_mark:',
  paused: ':double_vertical_bar:',
  reverted: ':leftwards_arrow_with_hook:',
  failed: ':x:',
  cancelled: ':no_entry_sign:',
  expired: ':hourglass:',
};

const SLACK_LENGTH = 2_900;

/** Slack makes no links or mentions from it. */
const QUOTED = { type: 'mrkdwn', verbatim: true } as const;

const forSlack = (text: string): string =>
  onOneLine(text).slice(0, SLACK_LENGTH).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
