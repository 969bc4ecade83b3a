import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { workflowIds, type OfRelease } from '../domain/ids';
import { pageAnsweredSignal } from '../workflows/messages';
import type { Temporal } from './connection';
import { GRPC } from './grpcStatus';

/** A person has acknowledged the page about a deploy, or about all deploys of a release, in the service that paged them. */
export interface PageAcknowledgement {
  readonly of: OfRelease;
  /** `Alice in PagerDuty` */
  readonly by: string;
  readonly atMs: number;
}

/** Tells the release. @returns false if its workflow has ended, or never was. */
export async function answerPage(
  { client }: Pick<Temporal, 'client'>,
  { of, by, atMs }: PageAcknowledgement,
): Promise<boolean> {
  const release = client.workflow.getHandle(workflowIds.release(of.pipeline, of.number));
  const action = of.kind === 'action' ? of.action : null;
  try {
    await release.signal(pageAnsweredSignal, { action, by, atMs });
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    if (isGrpcServiceError(error) && error.code === GRPC.NOT_FOUND) return false;
    throw error;
  }
}
