import { Socket } from 'node:net';
import { Context } from '@temporalio/activity';
import { createTransport } from 'nodemailer';
import { conveyorError } from '../domain/errors';
import { isLoopback } from '../domain/loopback';
import { nameMail, writeMail } from '../domain/notify/email';
import type { ReceiverFacts } from '../domain/notify/format';
import type { Notice } from '../domain/notify/notice';
import type { MailAccount } from '../settings/mailAccount';
import type { NotifyPorts } from './noticeRequest';
import type { NoticeReceiver, WrittenReceiver } from './notifyReceiver';

interface MailNotice {
  readonly receiver: NoticeReceiver;
  readonly account: MailAccount;
  readonly written: WrittenReceiver;
  readonly event: Notice;
  readonly facts: ReceiverFacts;
}

/** Submission with STARTTLS, and with TLS from the beginning (RFC 8314). */
const SUBMISSION_PORT = { 'smtp:': 587, 'smtps:': 465 } as const;

/**
 * Sends one mail to all recipients of a receiver. The whole conversation takes `notifications.timeout` at most.
 * @throws notification-refused (not retried) also if the server has refused some of the recipients; notification-undelivered
 */
export async function sendMail({ notifications }: NotifyPorts, notice: MailNotice): Promise<void> {
  const { account, written, event, facts } = notice;
  const names = nameMail(event, account.from);
  // The transport has limits for each step, which a slow server may meet for ever.
  const socket = new Socket();
  const signal = AbortSignal.any([AbortSignal.timeout(notifications.timeoutMs), Context.current().cancellationSignal]);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop);
  try {
    const { rejected } = await createTransport(describeConnection(notice, socket)).sendMail({
      from: account.from,
      to: [...account.recipients],
      ...writeMail(event, facts),
      messageId: `<${names.id}>`,
      references: `<${names.thread}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    if (rejected.length > 0) throw new RefusedRecipients(rejected);
  } catch (error) {
    if (signal.aborted) throw failDelivery(written, `no answer within ${notifications.timeoutMs / 1000} s`);
    throw toNoticeError(error as SmtpError, written);
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

function describeConnection({ receiver: { target, key }, account: { login } }: MailNotice, socket: Socket) {
  const protocol = target.protocol as keyof typeof SUBMISSION_PORT;
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  return {
    ...{ host, port: Number(target.port) || SUBMISSION_PORT[protocol], secure, socket },
    // A password and a text go over no network in clear. A relay on this machine rarely has a certificate that is trusted.
    ...(isLoopback(host) ? { ignoreTLS: true } : { requireTLS: true }),
    ...(login === undefined ? {} : { auth: { user: login, pass: key } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

class RefusedRecipients extends Error {
  constructor(addresses: readonly string[]) {
    super(`the server refused ${addresses.join(', ')}`);
  }
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
}

const failDelivery = ({ to }: WrittenReceiver, detail: string): Error =>
  conveyorError('notification-undelivered', { to, detail });

/**
 * A server answers 4xx to a mail that it may take later, and 5xx to one that it refuses. Only codes are shown: the words of the server may name the
 * login, and those of the network name the address.
 */
function toNoticeError(error: SmtpError, written: WrittenReceiver): Error {
  const { responseCode, code = 'unknown', message } = error;
  const refused = (detail: string) => conveyorError('notification-refused', { to: written.to, detail });
  if (error instanceof RefusedRecipients) return refused(message);
  if (responseCode === undefined) return failDelivery(written, /\bE[A-Z_]{4,}\b/.exec(message)?.[0] ?? code);
  const detail = `the mail server answered ${responseCode}`;
  return responseCode >= 500 ? refused(detail) : failDelivery(written, detail);
}
