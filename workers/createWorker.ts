import type { Client } from '@temporalio/client';
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { createActionActivities } from '../activities/actionService';
import { createCalendarActivities } from '../activities/calendar';
import { createChildActivities } from '../activities/children';
import { createFinderActivities } from '../activities/finders';
import { createHolderActivities, readGuests } from '../activities/holders';
import { createNotifyActivities } from '../activities/notify';
import { createPushTypeActivities, type Ports } from '../activities/pushType';
import { createScriptActivities } from '../activities/script';
import { createWaitForActivities } from '../activities/waitFor';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';

/** What a worker is made of; tests give it a virtual clock, an embedded simulator and a short heartbeat. */
export interface WorkerParts extends Ports {
  readonly connection: NativeConnection;
  /** For the activities that start and look at workflows. */
  readonly client: Client;
  readonly index: PipelineIndex;
  readonly namespace: string;
  readonly taskQueue: string;
  /** The workflow bundle, made once by the build. */
  readonly codePath: string;
  readonly options?: Partial<WorkerOptions>;
}

/**
 * A worker for workflows and activities. Heartbeats go out at once rather than at 80 % of their timeout, so that a
 * successor of a killed worker goes on where it was; a cached workflow moves on after a second (guides/patterns.md).
 */
export function createWorker({
  connection,
  client,
  index,
  namespace,
  taskQueue,
  codePath,
  options,
  ...ports
}: WorkerParts): Promise<Worker> {
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath },
    activities: {
      ...createPushTypeActivities({ ...ports, guests: (lockId) => readGuests(client, lockId) }),
      ...createActionActivities(ports),
      ...createHolderActivities({ client, taskQueue }),
      ...createChildActivities({ client, index }),
      ...createCalendarActivities(ports),
      ...createFinderActivities({ ...ports, client, index }),
      ...createScriptActivities({ clock: ports.clock, scripts: ports.registry.scripts }),
      ...createWaitForActivities({ client }),
      ...createNotifyActivities({ ...ports, notifications: ports.registry.notifications }),
    },
    maxHeartbeatThrottleInterval: '1s',
    stickyQueueScheduleToStartTimeout: '1s',
    maxConcurrentWorkflowTaskExecutions: 120,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
    ...options,
  });
}
