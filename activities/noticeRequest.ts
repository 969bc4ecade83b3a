import { ApplicationFailure, Context } from '@temporalio/activity';
import { conveyorError } from '../domain/errors';
import type { NoticeRequest } from '../domain/notify/format';
import { readRetryAfterMs } from '../domain/notify/retryAfter';
import { NoAnswer, sendRequest, type Fetch, type HttpAnswer } from '../sdk/request';
import type { Notifications } from '../settings/notifications';
import { signatureHeaders } from '../settings/signature';
import type { Clock } from './clock';
import type { NoticeReceiver, WrittenReceiver } from './notifyReceiver';

export interface NotifyPorts {
  readonly clock: Clock;
  readonly notifications: Notifications;
  readonly fetch?: Fetch;
}

/** One request to a receiver. */
interface NoticeDelivery {
  readonly receiver: NoticeReceiver;
  /** The receiver in the words of the pipeline, for errors. */
  readonly written: WrittenReceiver;
  readonly content: NoticeRequest;
  /** The id of the notice. */
  readonly id: string;
  /** The largest answer that is read; by default none is. */
  readonly maxBytes?: number;
}

/** @throws notification-refused (not retried), notification-undelivered */
export async function sendDelivery(ports: NotifyPorts, delivery: NoticeDelivery): Promise<HttpAnswer> {
  const answer = await postNotice(ports, delivery, await buildSignedRequest(ports, delivery));
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return answer;
  const mayPass = status >= 500 || status === 408 || status === 429;
  const { url, to } = delivery.written;
  const error = conveyorError(mayPass ? 'notification-undelivered' : 'notification-refused', {
    ...{ url, to },
    detail: `it answered with status ${status}`,
  });
  const retryAfterMs = mayPass ? readRetryAfterMs(headers.get('retry-after'), await ports.clock.now()) : undefined;
  if (retryAfterMs === undefined) throw error;
  throw ApplicationFailure.create({ message: error.message, type: error.code, nextRetryDelay: retryAfterMs });
}

async function buildSignedRequest(
  { clock }: NotifyPorts,
  { receiver: { target, format, signingKeys }, content: { body: content, path = '', headers }, id }: NoticeDelivery,
): Promise<Request> {
  const body = JSON.stringify(content);
  const atMs = await clock.now();
  return new Request(path === '' ? target : `${target.href.replace(/\/+$/, '')}${path}`, {
    method: 'POST',
    // People have to correct an address that has moved: a signed message goes only to its intended receiver.
    redirect: 'manual',
    body,
    headers: {
      'content-type': format.contentType,
      ...signatureHeaders(signingKeys, { id, atMs, body }),
      ...headers,
    },
  });
}

/** Reports only the code of an error, because messages of the network name the address. */
async function postNotice(
  { notifications: { timeoutMs } }: NotifyPorts,
  { receiver: { fetch: ask }, written: { url, to }, maxBytes = 0 }: NoticeDelivery,
  request: Request,
): Promise<HttpAnswer> {
  const signal = Context.current().cancellationSignal;
  try {
    return await sendRequest(request, {}, { fetch: ask, timeoutMs, signal, maxBytes });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw conveyorError('notification-undelivered', { url, to, detail: error.isLate ? error.message : error.code });
  }
}
