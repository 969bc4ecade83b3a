import { setTimeout as wait } from 'node:timers/promises';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { isUnanswered, type Temporal } from './connection';
import { getPinnedBuild } from './builds';
import { readPolling, type PollingState } from './readiness';
import { temporalUnreachable } from './unreachable';
import { whyNothingIsStored } from './writes';

/** A running worker has answered by then, unless it is busy. */
const ANSWERED_SOON_MS = 5_000;
const POLLER_CHECK_TIMEOUT_MS = 2_000;

/** The addressed workflow, and its name for people. */
interface Recipient {
  readonly workflowId: string;
  readonly id: string;
}

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * Calls a workflow, and gives up once no answer can come: no worker polls its task queue, or the server is silent, too,
 * or stores nothing. It waits for a busy worker or one that was just lost. @throws no-worker, temporal-unreachable, and
 * the errors of the call
 */
export async function unlessUnpolled<T>(
  temporal: Temporal,
  asked: Recipient,
  call: () => Promise<T>,
  sleep: Sleep = (ms, signal) => wait(ms, undefined, { signal, ref: false }),
): Promise<T> {
  const over = new AbortController();
  const silence = async (): Promise<never> => {
    await sleep(ANSWERED_SOON_MS, over.signal);
    const polled = await probeQueue(temporal, asked);
    if (polled === 'silent' || polled?.isPolled === false) throw await notAnswered(temporal, asked, polled);
    const why = polled && (await whyNothingIsStored(temporal, polled.queue, Date.now()).catch(() => undefined));
    if (why !== undefined) throw await temporalUnreachable(temporal, `it stores nothing: ${why}`);
    // Leaves the outcome to the call itself.
    return new Promise<never>(() => undefined);
  };
  try {
    return await Promise.race([temporal.client.withAbortSignal(over.signal, call), silence()]);
  } finally {
    over.abort();
  }
}

/**
 * Why a workflow did not answer: the server itself is silent, no worker polls its task queue, or the workers are busy or were
 * just lost; and the time of the last poll.
 */
export async function noWorker(temporal: Temporal, asked: Recipient): Promise<ConveyorError> {
  return notAnswered(temporal, asked, await probeQueue(temporal, asked));
}

async function notAnswered(temporal: Temporal, { id }: Recipient, polled: QueueLook): Promise<ConveyorError> {
  if (polled === 'silent') return temporalUnreachable(temporal, 'it takes too long to answer');
  const { isPolled = true, queue, lastPollAt = null, build } = polled ?? {};
  const missing = { ...(isPolled ? {} : { queue }), ...(build === undefined ? {} : { build }) };
  return conveyorError('no-worker', { id, lastPollAt, ...missing });
}

/** The pollers of a workflow's task queue; undefined if the server does not answer. */
type QueueLook = (PollingState & { readonly queue: string }) | 'silent' | undefined;

/** A silent server is asked once more, because it may have been busy for a moment. */
async function probeQueue(temporal: Temporal, asked: Recipient): Promise<QueueLook> {
  const seen = await lookAtQueue(temporal, asked);
  return seen === 'silent' ? lookAtQueue(temporal, asked) : seen;
}

async function lookAtQueue(temporal: Temporal, { workflowId }: Recipient): Promise<QueueLook> {
  const { client } = temporal;
  try {
    return await client.withDeadline(Date.now() + POLLER_CHECK_TIMEOUT_MS, async () => {
      const { taskQueue: queue, raw } = await client.workflow.getHandle(workflowId).describe();
      return {
        queue,
        ...(await readPolling(temporal, queue, getPinnedBuild(raw?.workflowExecutionInfo?.versioningInfo))),
      };
    });
  } catch (error) {
    return isUnanswered(error) ? 'silent' : undefined;
  }
}
