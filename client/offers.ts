import { WorkflowNotFoundError } from '@temporalio/client';
import { workflowIds } from '../domain/ids';
import type { OfferBoard } from '../domain/offers/board';
import { listOffers } from '../domain/offers/view';
import type { PipelineState } from '../domain/pipeline/state';
import type { OfferView } from '../domain/views';
import type { Temporal } from './connection';

/** The status of a pipeline waits at most this long for its offers. */
const BESIDE_MS = 2_000;

/** The offers of a pipeline, with their users. Undefined if it has none, or they do not answer in time. */
export async function readOffers(
  { client }: Temporal,
  { spec }: Pick<PipelineState, 'spec'>,
): Promise<readonly OfferView[] | undefined> {
  const handle = client.workflow.getHandle(workflowIds.offers(spec.pipeline));
  try {
    const board = await client.withDeadline(Date.now() + BESIDE_MS, () => handle.query<OfferBoard>('board'));
    return some(listOffers(board, spec.offers));
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? some(listOffers(null, spec.offers)) : undefined;
  }
}

const some = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);
