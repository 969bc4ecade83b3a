import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { followsBuilds, type WorkflowType } from '../domain/builds';

/** A global of the sandbox, set if the worker has a build. */
const HAS_BUILD = 'conveyorWorkerHasBuild';

/**
 * The behaviour of a workflow type when workers are versioned (docs/design/workflows.md#versions-of-workers). The server refuses it from a
 * worker without a build. The history cannot tell which worker this is: it names the build that began it, even after all later ones.
 */
export const buildVersioningOptions = (type: WorkflowType): WorkflowDefinitionOptions =>
  HAS_BUILD in globalThis ? { versioningBehavior: followsBuilds(type) ? 'AUTO_UPGRADE' : 'PINNED' } : {};

/** The bundle of workflows for a worker that has a build. */
export const bundleForBuild = (code: string): string => `globalThis.${HAS_BUILD} = true; ${code}`;
