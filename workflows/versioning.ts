import type { VersioningBehavior } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

/**
 * How a workflow type behaves when workers are versioned (docs/design/workflows.md#versions-of-workers). Set only when workers are versioned: a server
 * refuses the annotation from a worker that has no deployment version.
 */
export const versioned = (versioningBehavior: VersioningBehavior) => () =>
  workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior } : {};
