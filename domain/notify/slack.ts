import { formatIdentity } from '../artifact';
import { onOneLine } from '../plainText';
import type { Format } from './format';
import { noticeHeadline, type Notice, type NoticeOn } from './notice';

/** A message for incoming webhooks of Slack, and of compatible services. */
export const slack: Format = {
  contentType: 'application/json',
  hosts: /^hooks\.slack(-gov)?\.com$/,
  body: slackMessage,
};

interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly object[];
}

/** `text` is for notifications on phones, `blocks` for the channel. */
export function slackMessage(notice: Notice): SlackMessage {
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

const MARKS: Readonly<Record<NoticeOn, string>> = {
  succeeded: ':white_check_mark:',
  paused: ':double_vertical_bar:',
  reverted: ':leftwards_arrow_with_hook:',
  failed: ':x:',
  cancelled: ':no_entry_sign:',
  expired: ':hourglass:',
  'offer-broken': ':warning:',
  'on-call': ':rotating_light:',
  answered: ':raised_hand:',
  settled: ':white_check_mark:',
};

const SLACK_LENGTH = 2_900;

/** Slack makes no links or mentions from it. */
const QUOTED = { type: 'mrkdwn', verbatim: true } as const;

const forSlack = (text: string): string =>
  onOneLine(text).slice(0, SLACK_LENGTH).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
