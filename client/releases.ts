import type { Artifact } from '../domain/artifact';
import { ConveyorError, unfitError } from '../domain/errors';
import { unfitArtifacts, unfitTrigger } from '../domain/excess';
import { releaseId, workflowIds } from '../domain/ids';
import type { StartResult, StartInput, SubmitResult } from '../workflows/messages';
import type { EmergencyPush, Rerun } from './api';
import type { Workflows } from './workflows';

/**
 * The ways to start a release: by hand or through the API, by artifacts from a finder or webhook, and in an emergency.
 */

export async function createRelease(workflows: Workflows, pipeline: string, input: StartInput) {
  const started = await executeUpdate<StartResult>(workflows, pipeline, 'start-release', input);
  return { ...started, id: releaseId(pipeline, started.number) };
}

export async function submitArtifacts(workflows: Workflows, pipeline: string, input: StartInput) {
  const submitted = await executeUpdate<SubmitResult>(workflows, pipeline, 'submit', input);
  return { ...submitted, id: submitted.number === null ? null : releaseId(pipeline, submitted.number) };
}

export function pushEmergency(
  workflows: Workflows,
  pipeline: string,
  action: string,
  artifacts: readonly Artifact[],
  {
    actor,
    reason,
    skipBake = false,
    key = null,
    permitted,
  }: Omit<EmergencyPush, 'key'> & { readonly key?: string | null },
) {
  const trigger = { kind: 'emergency', actor, key, reason, ...(permitted === undefined ? {} : { permitted }) } as const;
  return createRelease(workflows, pipeline, { artifacts, trigger, emergency: { action, skipBake } });
}

/** A new release with the inputs of an ended one; `key` and `reason` are as in `pushEmergency`. */
export async function rerunRelease(
  workflows: Workflows,
  pipeline: string,
  number: number,
  { actor, kind = 'manual', reason, key = null, permitted }: Rerun,
) {
  const artifacts = await readReleaseArtifacts(workflows, pipeline, number);
  const by = permitted === undefined ? {} : { permitted };
  const trigger = { kind, actor, key, ...(reason === undefined ? {} : { reason }), ...by } as const;
  const id = releaseId(pipeline, number);
  const started = await executeUpdate<StartResult>(
    workflows,
    pipeline,
    'start-release',
    { artifacts, trigger, rerunOf: number },
    id,
  );
  return { ...started, id: releaseId(pipeline, started.number) };
}

/** A release that never started has no records, and its pipeline says so. */
async function readReleaseArtifacts(
  workflows: Workflows,
  pipeline: string,
  number: number,
): Promise<readonly Artifact[]> {
  try {
    return (await workflows.recollection(pipeline, number)).artifacts;
  } catch (error) {
    if (!(error instanceof ConveyorError) || error.code !== 'unknown-release') throw error;
    return (await workflows.release(pipeline, number)).artifacts;
  }
}

/** Text that is too large or not plain is not sent at all: Temporal would refuse it with its own error. */
async function executeUpdate<T>(
  workflows: Workflows,
  pipeline: string,
  update: string,
  input: StartInput,
  id = pipeline,
): Promise<T> {
  const unfit = unfitTrigger(input.trigger) ?? unfitArtifacts(input.artifacts);
  if (unfit) throw unfitError(unfit);
  return workflows.update<T>(workflowIds.pipeline(pipeline), id, update, input);
}
