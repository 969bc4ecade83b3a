import type { WorkerOptions } from '@temporalio/worker';
import { conveyorError } from '../domain/errors';
import { DEPLOYMENT } from '../domain/taskQueues';

/** The build of a worker, if workers are versioned (docs/guides/cluster.md#upgrades). */
export const WORKER_BUILD = 'CONVEYOR_WORKER_BUILD';

/**
 * A worker of a build gets workflows that began on that build, and all new work once the build is current in Temporal.
 * A workflow declares itself whether it is pinned (workflows/versioning.ts); but the SDK completes a task without
 * commands, as after a cancelled activity, without that declaration and with the default, which would move a pinned
 * deploy to another build. Only deploys cancel activities.
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
