import type { WorkerOptions } from '@temporalio/worker';
import { conveyorError } from '../domain/errors';
import { DEPLOYMENT } from '../domain/taskQueues';

/** By which build a worker is known where workers are versioned (docs/guides/cluster.md#upgrades). */
export const WORKER_BUILD = 'CONVEYOR_WORKER_BUILD';

/**
 * A worker of a build gets what began on that build, and everything new once Temporal calls the build current. A workflow says itself
 * whether it is pinned (workflows/versioning.ts); but a task in which nothing is left to do, as after an activity that was cancelled, the
 * SDK completes without it and with the default, which would take a pinned deploy to another build. Only those cancel activities.
 * @throws ConveyorError `usage`
 */
export function buildOptions(build: string | undefined): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (build === undefined || build === '') return {};
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(build))
    throw conveyorError('usage', {
      text: `${WORKER_BUILD} ${build} cannot name a build`,
      hint: 'use letters, digits, dots, hyphens and underscores, 64 at most, such as 0.3.0 or a commit',
    });
  return {
    workerDeploymentOptions: {
      version: { deploymentName: DEPLOYMENT, buildId: build },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}
