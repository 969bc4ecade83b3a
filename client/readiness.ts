import { conveyorError } from '../domain/errors';
import type { ReadinessPart } from './api';
import type { Temporal } from './connection';

/** A probe that takes longer says nothing any more. */
const READINESS_TIMEOUT_MS = 2_000;
/** Of grpc.health.v1. */
const SERVING = 1;
/** Task queues have workflows and activities. */
const OF_WORKFLOWS = 1;

/** Whether the Temporal server says that it serves, and whether a worker polls. No workflow is asked; never throws. */
export async function temporalReadiness(
  { connection, client, address, namespace }: Temporal,
  taskQueue: string,
): Promise<readonly ReadinessPart[]> {
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + READINESS_TIMEOUT_MS, call);
  const temporal = async (): Promise<string | undefined> => {
    const { status } = await connection.healthService.check({ service: SERVICE });
    return status === SERVING ? undefined : 'the Temporal server does not serve';
  };
  const worker = async (): Promise<string | undefined> =>
    (await isPolled({ client, namespace }, taskQueue)) ? undefined : `no worker polls the task queue ${taskQueue}`;
  const part = async (name: ReadinessPart['name'], look: () => Promise<string | undefined>): Promise<ReadinessPart> => {
    const why = await within(look).catch(
      (error: unknown) =>
        conveyorError('temporal-unreachable', {
          address,
          detail: error instanceof Error ? error.message : String(error),
        }).message,
    );
    return { name, ok: why === undefined, detail: why ?? 'answers' };
  };
  return Promise.all([part('temporal', temporal), part('worker', worker)]);
}

/** Whether a worker has polled a task queue in the last minutes. */
export async function isPolled({ client, namespace }: Pick<Temporal, 'client' | 'namespace'>, taskQueue: string) {
  const { pollers } = await client.workflowService.describeTaskQueue({
    ...{ namespace, taskQueue: { name: taskQueue }, taskQueueType: OF_WORKFLOWS },
  });
  return (pollers ?? []).length > 0;
}

const SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';
