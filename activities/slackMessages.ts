import { conveyorError } from '../domain/errors';
import type { ReceiverFacts } from '../domain/notify/format';
import type { Notice } from '../domain/notify/notice';
import { postInThread, postMessage, updateMessage, type SlackCall, type SlackThread } from '../domain/notify/slackApp';
import { readSlackAnswer, type SlackAnswer } from '../domain/notify/slackAnswer';
import { sendDelivery, type NotifyPorts } from './noticeRequest';
import type { NoticeReceiver, WrittenReceiver } from './notifyReceiver';

interface SlackNotice {
  readonly receiver: NoticeReceiver;
  readonly written: WrittenReceiver;
  readonly event: Notice;
  readonly thread: SlackThread | undefined;
  readonly facts: ReceiverFacts;
}

const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * The first notice of a release posts a message. Later ones change it and go into its thread. If the message is gone, the notice posts another.
 * @throws notification-refused, notification-undelivered
 */
export async function postToSlack(ports: NotifyPorts, notice: SlackNotice): Promise<SlackThread> {
  const { receiver, written, event, thread, facts } = notice;
  if (thread !== undefined) {
    const updated = await callSlack(ports, notice, updateMessage(event, thread, facts));
    if (updated.kind === 'ok') {
      requireOk(written, await callSlack(ports, notice, postInThread(event, thread)));
      return thread;
    }
    if (updated.kind !== 'gone') requireOk(written, updated);
  }
  const posted = requireOk(written, await callSlack(ports, notice, postMessage(event, receiver.channel ?? '', facts)));
  if (posted.thread !== undefined) return posted.thread;
  throw conveyorError('notification-refused', { to: written.to, detail: 'Slack names no message that it has posted' });
}

async function callSlack(
  ports: NotifyPorts,
  { receiver, written, event }: SlackNotice,
  { method, body }: SlackCall,
): Promise<SlackAnswer> {
  const { format, key } = receiver;
  const content = { path: `/${method}`, headers: format.headers?.(key) ?? {}, body };
  const { text } = await sendDelivery(ports, {
    ...{ receiver, written, content, id: event.id },
    maxBytes: MAX_ANSWER_BYTES,
  });
  return readSlackAnswer(text);
}

function requireOk({ to }: WrittenReceiver, answer: SlackAnswer): Extract<SlackAnswer, { kind: 'ok' }> {
  if (answer.kind === 'ok') return answer;
  const code = answer.kind === 'passing' ? 'notification-undelivered' : 'notification-refused';
  throw conveyorError(code, { to, detail: answer.kind === 'gone' ? 'its message is gone' : answer.why });
}
