import { setTimeout as wait } from 'node:timers/promises';
import { conveyorError } from '../domain/errors';
import type { Temporal } from './connection';
import { isPolled } from './readiness';

/** A worker that is there has answered by then, unless it is busy. */
const SOON_MS = 5_000;
const POLLER_CHECK_TIMEOUT_MS = 2_000;

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * Asks a workflow, and gives up once it is clear that nobody will answer: no worker polls its task queue. One that is busy, or was lost a
 * moment ago, is waited for.
 * @throws no-worker, and what the call throws
 */
export async function unlessUnpolled<T>(
  temporal: Temporal,
  { workflowId, id }: { readonly workflowId: string; readonly id: string },
  call: () => Promise<T>,
  sleep: Sleep = (ms, signal) => wait(ms, undefined, { signal, ref: false }),
): Promise<T> {
  const over = new AbortController();
  const silence = async (): Promise<never> => {
    await sleep(SOON_MS, over.signal);
    const queue = await unpolledQueue(temporal, workflowId);
    // Then it is the call that ends this.
    if (queue === undefined) return new Promise<never>(() => undefined);
    throw conveyorError('no-worker', { id, queue });
  };
  try {
    return await Promise.race([temporal.client.withAbortSignal(over.signal, call), silence()]);
  } finally {
    over.abort();
  }
}

/** The task queue of a workflow that has not ended, if nobody polls it. */
async function unpolledQueue(temporal: Temporal, workflowId: string): Promise<string | undefined> {
  const { client } = temporal;
  try {
    return await client.withDeadline(Date.now() + POLLER_CHECK_TIMEOUT_MS, async () => {
      const { taskQueue } = await client.workflow.getHandle(workflowId).describe();
      return (await isPolled(temporal, taskQueue)) ? undefined : taskQueue;
    });
  } catch {
    return undefined;
  }
}
