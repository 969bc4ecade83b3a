import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { workflowIds } from '../domain/ids';
import type { OfferBoard } from '../domain/offers/board';
import type { RangeTest } from '../domain/offers/judge';
import { readBoard } from '../domain/offers/readBoard';
import { listBrokenFor } from '../domain/offers/risk';
import { listOffers } from '../domain/offers/view';
import type { PipelineState } from '../domain/pipeline/state';
import type { OfferSpec } from '../domain/spec/offers';
import type { BrokenUseView, OfferView, ReleaseStatus } from '../domain/views';
import type { Temporal } from './connection';

/** The status of a pipeline waits at most this long for its offers. */
const BESIDE_MS = 2_000;

/** The offers of a pipeline, with their users. Undefined if it has none, or they do not answer in time. */
export async function readOffers(
  { client }: Temporal,
  state: DeclaringState,
  isInRange: RangeTest,
): Promise<readonly OfferView[] | undefined> {
  try {
    const board = await client.withDeadline(Date.now() + BESIDE_MS, () => findBoard(client, state.spec.pipeline));
    return some(listOffers(board, listFileOffers(state), isInRange));
  } catch {
    return undefined;
  }
}

/** The broken offers of other pipelines that deploys of a pipeline use. Undefined if there are none; pipelines that do not answer in time are left out. */
export const readBrokenUses = (
  temporal: Temporal,
  { spec, uses = {} }: Pick<PipelineState, 'spec' | 'uses'>,
  isInRange: RangeTest,
): Promise<readonly BrokenUseView[] | undefined> =>
  findBrokenUses(temporal, spec.pipeline, Object.values(uses).flat(), isInRange);

/** A release that has ended, with the broken offers that its deploys use. */
export async function withBrokenUses(
  temporal: Temporal,
  release: ReleaseStatus,
  isInRange: RangeTest,
): Promise<ReleaseStatus> {
  if (release.endedAt === null) return release;
  const used = release.actions.flatMap(({ wishes = [] }) => wishes.filter(({ seq }) => seq !== null));
  const found = await findBrokenUses(
    temporal,
    release.pipeline,
    used.map(({ from }) => from),
    isInRange,
  );
  const brokenUses = some((found ?? []).filter((one) => one.release === release.number));
  return brokenUses ? { ...release, brokenUses } : release;
}

async function findBrokenUses(
  { client }: Temporal,
  pipeline: string,
  offering: readonly string[],
  isInRange: RangeTest,
): Promise<readonly BrokenUseView[] | undefined> {
  const asked = [...new Set(offering)].map(async (from) => {
    const board = await client.withDeadline(Date.now() + BESIDE_MS, () => findBoard(client, from)).catch(() => null);
    return board === null ? [] : listBrokenFor(pipeline, from, board, isInRange);
  });
  return some((await Promise.all(asked)).flat());
}

type DeclaringState = Pick<PipelineState, 'spec' | 'retired'>;

/** The offers that a pipeline makes with its next releases; a retired one makes none. */
export const listFileOffers = ({ spec, retired }: DeclaringState): readonly OfferSpec[] =>
  retired ? [] : (spec.offers ?? []);

const some = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

/** The newest state of the offers of a pipeline; null if it has never had any. */
export async function findBoard(client: Client, pipeline: string): Promise<OfferBoard | null> {
  const handle = client.workflow.getHandle(workflowIds.offers(pipeline));
  try {
    return await readBoard((query) => handle.query(query));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
