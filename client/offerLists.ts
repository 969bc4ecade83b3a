import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { conveyorError } from '../domain/errors';
import { NAME, workflowIds } from '../domain/ids';
import type { OfferBoard } from '../domain/offers/board';
import { summarizeOffers, viewOffers } from '../domain/offers/view';
import type { OfferList, OfferSummary, PipelineOffers } from '../domain/views';
import type { OfferQuery } from './api';
import { readVisibility } from './lists';
import { findBoard, listFileOffers } from './offers';
import { findWorkflowProblems } from './problems';
import { index } from './visibility';
import type { Workflows } from './workflows';

/** The offers of one pipeline with all that is known of them. @throws unknown-pipeline, no-worker */
export async function pipelineOffers(workflows: Workflows, pipeline: string): Promise<PipelineOffers> {
  const state = await workflows.pipelineState(pipeline);
  const board = await workflows.withWording(pipeline, () => findBoard(workflows.temporal.client, pipeline), {
    notFound: () => conveyorError('unknown-pipeline', { pipeline }),
    workflowId: workflowIds.offers(pipeline),
  });
  return viewOffers(pipeline, board, listFileOffers(state), workflows.isInRange);
}

/** The number of pipelines that a list asks, how many of them at once, and the time for each and for all of them; ms. */
const [MAX_ASKED, AT_ONCE, EACH_MS, ALL_MS] = [1_000, 20, 3_000, 10_000];

/** The offers of all pipelines, by name. Those that do not answer are named. */
export async function listAllOffers(workflows: Workflows, { to, limit }: OfferQuery): Promise<OfferList> {
  const { temporal } = workflows;
  const infos = await readVisibility(workflows, 'offer', () => findOffering(temporal.client));
  const asked = infos.slice(0, MAX_ASKED);
  const summarize = (pipeline: string, board: OfferBoard) => summarizeOffers(pipeline, board, workflows.isInRange, to);
  const [found, unread] = await askBoards(temporal.client, asked, summarize);
  const problemOf = unread.length === 0 ? () => undefined : await findWorkflowProblems(temporal, unread);
  return {
    offers: found.slice(0, limit),
    more: Math.max(0, found.length - limit),
    unread: unread.map((info) => ({
      id: getPipeline(info),
      problem: problemOf(info) ?? 'its offers did not answer in time',
    })),
    unasked: infos.length - asked.length,
  };
}

const PREFIX = workflowIds.offers('');
const getPipeline = ({ workflowId }: WorkflowExecutionInfo): string => workflowId.slice(PREFIX.length);

/** All pipelines with offers or users, by name. Offers that were ended from outside still count; those that ended by themselves are empty. */
async function findOffering(client: Client): Promise<readonly WorkflowExecutionInfo[]> {
  const infos: WorkflowExecutionInfo[] = [];
  for await (const info of index(client, 'offers', { condition: "ExecutionStatus != 'Completed'", pageSize: 1_000 }))
    if (info.workflowId.startsWith(PREFIX) && NAME.test(getPipeline(info))) infos.push(info);
  return infos.sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
}

/** The offers of these pipelines, and the pipelines that did not answer, both in the same order. */
async function askBoards(
  client: Client,
  infos: readonly WorkflowExecutionInfo[],
  summarize: (pipeline: string, board: OfferBoard) => readonly OfferSummary[],
): Promise<readonly [OfferSummary[], WorkflowExecutionInfo[]]> {
  const untilMs = Date.now() + ALL_MS;
  const found: OfferSummary[] = [];
  const unread: WorkflowExecutionInfo[] = [];
  for (let at = 0; at < infos.length; at += AT_ONCE) {
    const some = infos.slice(at, at + AT_ONCE);
    const boards = await Promise.all(
      some.map((info) =>
        client
          .withDeadline(Math.min(untilMs, Date.now() + EACH_MS), () => findBoard(client, getPipeline(info)))
          .catch(() => undefined),
      ),
    );
    for (const [n, info] of some.entries()) {
      const board = boards[n];
      if (board === undefined) unread.push(info);
      else if (board !== null) found.push(...summarize(getPipeline(info), board));
    }
  }
  return [found, unread];
}
