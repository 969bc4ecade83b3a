import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { ArchiveRow } from '../../domain/archive/row';
import { deployRows, releaseRows } from '../../domain/archive/rows';
import { classifyCadence } from '../../domain/calendar/cadence';
import { workflowIds } from '../../domain/ids';
import type { ReleaseResult } from '../../domain/release/state';
import { pipelineSchema, type PipelineSpec } from '../../domain/spec/pipeline';
import type { ReleaseStatus } from '../../domain/views';
import { stateOf } from '../workflows/arrivals';
import type { VirtualWorld } from '../workflows/world';
import type { Inhabitant } from './population';

/**
 * The rows that a worker would have archived of a pipeline (client/endings.ts). The test server has no lists of what has closed, so
 * that releases are asked for by number.
 */
export async function rowsOf(world: VirtualWorld, { name, source }: Inhabitant): Promise<readonly ArchiveRow[]> {
  const spec = pipelineSchema.parse(source);
  const { nextNumber } = await stateOf(world, name);
  const rows: ArchiveRow[] = [];
  for (let number = 1; number < nextNumber; number += 1) rows.push(...(await rowsOfRelease(world, spec, number)));
  return rows;
}

async function rowsOfRelease(world: VirtualWorld, spec: PipelineSpec, number: number): Promise<ArchiveRow[]> {
  const status = await world.releaseStatus(spec.pipeline, number).catch(ifNone);
  if (status === undefined || status.endedAt === null) return [];
  const workflowId = workflowIds.release(spec.pipeline, number);
  const release = releaseRows({
    ...closed(workflowId, status.endedAt),
    input: { spec, trigger: status.trigger },
    status,
    deploys: await deploysOf(world, workflowId),
    cadence: classifyCadence(spec),
  });
  return [...release, ...(await rowsOfDeploys(world, spec, status))];
}

async function rowsOfDeploys(world: VirtualWorld, spec: PipelineSpec, release: ReleaseStatus): Promise<ArchiveRow[]> {
  const rows: ArchiveRow[] = [];
  for (const [name, action] of Object.entries(spec.actions)) {
    if (action.type !== 'deploy') continue;
    const status = await world.deployStatus(spec.pipeline, release.number, name).catch(ifNone);
    if (status === undefined || status.endedAt === null) continue;
    const id = workflowIds.deploy(spec.pipeline, release.number, name, 1);
    const rollback = release.trigger.kind === 'rollback';
    const input = { pipeline: spec.pipeline, release: release.number, action: name, spec: action.with, rollback };
    rows.push(...deployRows({ ...closed(id, status.endedAt), input, status }));
  }
  return rows;
}

async function deploysOf(world: VirtualWorld, workflowId: string): Promise<ReleaseResult['deploys']> {
  const result = world.client.workflow.result<() => Promise<ReleaseResult>>(workflowId, undefined, {
    followRuns: false,
  });
  // One that was cancelled has no result.
  return (await result.catch(ifNone))?.deploys ?? [];
}

const closed = (workflowId: string, endedAt: string) => ({
  ...{ workflowId, runId: 'virtual', closedMs: Date.parse(endedAt) },
});

function ifNone(error: unknown): undefined {
  if (error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError) return undefined;
  throw error;
}
