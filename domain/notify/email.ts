import type { Format, ReceiverFacts } from './format';
import type { Notice } from './notice';
import { cutHeadline, cutLine, listNoticeFacts } from './words';

/** A mail in plain text, by SMTP (RFC 5321). Its sender, recipients and login are those of a receiver of the settings. */
export const email: Format = {
  contentType: 'text/plain',
  needsMailbox: true,
  body: writeMail,
};

/** The content of a mail: one line of at most 200 characters, and a text of at most some 12,000. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
}

const SUBJECT_LENGTH = 200;
const REASON_LENGTH = 4_000;
const FACT_LENGTH = 1_000;

export function writeMail(notice: Notice, { link = null }: ReceiverFacts = {}): MailContent {
  const facts = listNoticeFacts(notice).map(([name, value]) => `${name}: ${cutLine(value, FACT_LENGTH)}`);
  const { deploy, release } = notice;
  const more = [...(link === null ? [] : [link]), `conveyor status ${deploy ?? release}`];
  return {
    subject: cutHeadline(notice, SUBJECT_LENGTH),
    text: `${[[cutHeadline(notice, REASON_LENGTH)], facts, more].map((lines) => lines.join('\n')).join('\n\n')}\n`,
  };
}

/**
 * The ids of the mail and of its thread, without angle brackets (RFC 5322). A notice that is sent again has the same id, so a mailbox may drop
 * it; the mails of a release are one thread.
 */
export function nameMail(
  { id, release }: Pick<Notice, 'id' | 'release'>,
  from: string,
): { id: string; thread: string } {
  const host = from.slice(from.lastIndexOf('@') + 1);
  const name = (text: string): string => `${encodeURIComponent(text).replace(/[()]/g, '_')}@${host}`;
  return { id: name(id), thread: name(release) };
}
