import { setTimeout as wait } from 'node:timers/promises';
import { conveyorError, type ConveyorError } from '../domain/errors';
import type { Temporal } from './connection';
import { polling, type Polling } from './readiness';

/** A worker that is there has answered by then, unless it is busy. */
const SOON_MS = 5_000;
const POLLER_CHECK_TIMEOUT_MS = 2_000;

/** A workflow that is asked, and what people call it. */
interface Recipient {
  readonly workflowId: string;
  readonly id: string;
}

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * Asks a workflow, and gives up once it is clear that nobody will answer: no worker polls its task queue. One that is busy, or was lost a
 * moment ago, is waited for.
 * @throws no-worker, and what the call throws
 */
export async function unlessUnpolled<T>(
  temporal: Temporal,
  asked: Recipient,
  call: () => Promise<T>,
  sleep: Sleep = (ms, signal) => wait(ms, undefined, { signal, ref: false }),
): Promise<T> {
  const over = new AbortController();
  const silence = async (): Promise<never> => {
    await sleep(SOON_MS, over.signal);
    const polled = await pollingOf(temporal, asked);
    // Then it is the call that ends this.
    if (polled?.isPolled !== false) return new Promise<never>(() => undefined);
    throw notAnswered(asked, polled);
  };
  try {
    return await Promise.race([temporal.client.withAbortSignal(over.signal, call), silence()]);
  } finally {
    over.abort();
  }
}

/** Why a workflow did not answer: nobody polls its task queue, or who does is busy or was just lost; and when somebody polled last. */
export async function noWorker(temporal: Temporal, asked: Recipient): Promise<ConveyorError> {
  return notAnswered(asked, await pollingOf(temporal, asked));
}

function notAnswered({ id }: Recipient, polled: QueuePolling | undefined): ConveyorError {
  const { isPolled = true, queue, lastPollAt = null } = polled ?? {};
  return conveyorError('no-worker', { id, lastPollAt, ...(isPolled ? {} : { queue }) });
}

type QueuePolling = Polling & { readonly queue: string };

/** Of the task queue of a workflow that has not ended; undefined where the server does not say. */
async function pollingOf(temporal: Temporal, { workflowId }: Recipient): Promise<QueuePolling | undefined> {
  const { client } = temporal;
  try {
    return await client.withDeadline(Date.now() + POLLER_CHECK_TIMEOUT_MS, async () => {
      const { taskQueue: queue } = await client.workflow.getHandle(workflowId).describe();
      return { queue, ...(await polling(temporal, queue)) };
    });
  } catch {
    return undefined;
  }
}
