import { buildNoticeRequest } from '../domain/notify/format';
import type { Notice } from '../domain/notify/notice';
import { linkNotice } from '../domain/notify/link';
import { slackApp, type SlackThread } from '../domain/notify/slackApp';
import type { Registry } from '../settings/registry';
import { asFailure } from './failure';
import { sendDelivery, type NotifyPorts } from './noticeRequest';
import { findReceiver, type WrittenReceiver } from './notifyReceiver';
import { sendMail } from './sendMail';
import { postToSlack } from './slackMessages';

export interface NotifyRequest extends WrittenReceiver {
  readonly event: Notice;
  /** The message of the release that an earlier notice has made. */
  readonly thread?: SlackThread;
}

/** The result for a receiver that keeps one message for each release. */
export interface NotifyReceipt {
  readonly thread: SlackThread;
}

export type NotifyParts = Omit<NotifyPorts, 'notifications'> & { readonly registry: Pick<Registry, 'notifications'> };

export type NotifyActivities = ReturnType<typeof createNotifyActivities>;

export function createNotifyActivities({ registry, ...rest }: NotifyParts) {
  /** One delivery uses one configuration throughout. */
  const now = (): NotifyPorts => ({ ...rest, notifications: registry.notifications });
  return {
    /**
     * Delivers one notice, at least once; receivers recognise a repetition by `webhook-id`. Addresses with secrets in them come
     * from this worker's environment and appear in no error.
     * @throws notification-refused (not retried), notification-undelivered
     */
    notify: (request: NotifyRequest): Promise<NotifyReceipt | undefined> =>
      asFailure(() => deliverNotice(now(), request)),
  };
}

/** Sends nothing if the receiver's service has no place for the notice. */
export async function deliverNotice(
  ports: NotifyPorts,
  { event, thread, ...written }: NotifyRequest,
): Promise<NotifyReceipt | undefined> {
  const receiver = await findReceiver(written, ports);
  const { key, format } = receiver;
  const facts = { key, link: linkNotice(ports.notifications.links, event) };
  const { mail: account } = receiver;
  if (account !== undefined) {
    await sendMail(ports, { receiver, account, written, event, facts });
    return undefined;
  }
  if (format === slackApp) return { thread: await postToSlack(ports, { receiver, written, event, thread, facts }) };
  const content = buildNoticeRequest(format, event, facts);
  if (content !== undefined) await sendDelivery(ports, { receiver, written, content, id: event.id });
  return undefined;
}
