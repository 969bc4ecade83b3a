import { ConveyorError } from '../domain/errors';
import { toPastDeploy, type PastDeploy } from '../domain/health/pastDeploy';
import { findTruths } from '../domain/health/truth';
import type { NamedDeploy } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { deployId } from '../domain/ids';
import type { DeployStatus } from '../domain/views';
import type { ConveyorClient } from './api';

export interface PastDeploys {
  /** Newest first, without deploys in which nothing baked, because they tell nothing about checks. */
  readonly deploys: readonly PastDeploy[];
  /** Ids of deploys whose history Temporal no longer keeps. */
  readonly lost: readonly string[];
}

/**
 * The deploys of one action that began at `sinceMs` or later and are over. Throws the errors of `history` and `status`.
 */
export async function pastDeploys(
  client: Pick<ConveyorClient, 'history' | 'status'>,
  { pipeline }: Pick<PipelineSpec, 'pipeline'>,
  [name, action]: NamedDeploy,
  sinceMs: number,
): Promise<PastDeploys> {
  const history = await client.history(pipeline);
  const truths = findTruths(history);
  const deploys: PastDeploy[] = [];
  const lost: string[] = [];
  for (const row of history) {
    const id = deployId(pipeline, row.number, name);
    const truth = truths.get(id);
    if (truth === undefined || Date.parse(row.startedAt) < sinceMs) continue;
    const status = await pastDeployStatus(client, id);
    const past = status && toPastDeploy(row, name, action.with, status, truth);
    if (status === undefined) lost.push(id);
    else if (past) deploys.push(past);
  }
  return { deploys, lost };
}

async function pastDeployStatus(client: Pick<ConveyorClient, 'status'>, id: string): Promise<DeployStatus | undefined> {
  try {
    return (await client.status(id)) as DeployStatus;
  } catch (error) {
    if (error instanceof ConveyorError && UNKNOWN_CODES.has(error.code)) return undefined;
    throw error;
  }
}

const UNKNOWN_CODES: ReadonlySet<string> = new Set(['unknown-release', 'unknown-deploy']);
