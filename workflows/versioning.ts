import type { VersioningBehavior } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

/**
 * How a workflow type behaves when workers are versioned (DESIGN §4 rule 10). Said only where they are: a server
 * refuses the annotation from a worker that has no deployment version.
 */
export const versioned = (versioningBehavior: VersioningBehavior) => () =>
  workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior } : {};
