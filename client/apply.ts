import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { ConveyorError, conveyorError } from '../domain/errors';
import { over } from '../domain/excess';
import { workflowIds } from '../domain/ids';
import { STATE_LIMITS } from '../domain/limits';
import { describeMove, listExported } from '../domain/offers/moved';
import { noteWithdrawn } from '../domain/offers/withdrawals';
import { toPipelineDocument, refuseImport, type PipelineDocument } from '../domain/pipeline/document';
import { refuseApply } from '../domain/pipeline/refuseApply';
import type { Refusal } from '../domain/pipeline/refusal';
import { hasOffered, type PipelineState } from '../domain/pipeline/state';
import { isGroup, type Policy } from '../domain/principals';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { jsonBytes } from '../domain/size';
import { judgeConfigs } from '../domain/spec/configFindings';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { paragraphs } from '../domain/markdown';
import type { pipeline as pipelineWorkflow } from '../workflows/pipeline';
import type { ApplyOutcome, ApplyInput, ImportInput } from '../workflows/messages';
import type { PipelineApplyResult } from './api';
import { WORKER_TIMEOUT_MS, type Temporal } from './connection';
import { noteOfferCycle, requireNoOfferCycle } from './offerCycles';
import { findBoard } from './offers';
import type { ClientOptions } from './options';
import { readPolling } from './readiness';
import { isWorkflowRunning, findPriorRecords, type PriorRecords } from './recovery';
import { overLimit } from './refusals';
import { untilTaken } from './retaken';
import { signRequest } from './seal';
import type { Workflows } from './workflows';

/** Starts the pipeline's workflow with its first spec, or changes its spec; an ended pipeline continues. */
export const applyPipeline = (
  workflows: Workflows,
  options: ClientOptions,
  spec: PipelineSpec,
  acting: PipelineActor,
) =>
  changePipeline(workflows, options, {
    ...{ update: 'apply', spec, acting, what: { spec } },
    refusal: (state, groups) => refuseApply(state, spec, groups, acting.actor, acting.permitted),
    check: async (previous) => [
      ...(await requireNoOfferCycle(workflows, spec)),
      ...(await noteUsed(workflows, spec)),
      ...(await requireValidConfigs(options, spec, acting.actor, previous)),
    ],
  });

/** @returns the remaining notes @throws config-rejected */
async function requireValidConfigs(
  { checkConfigs }: ClientOptions,
  spec: PipelineSpec,
  actor: string,
  previous: () => Promise<PipelineSpec | null>,
): Promise<readonly string[]> {
  const findings = (await checkConfigs?.(spec, actor)) ?? [];
  if (findings.every((finding) => 'problems' in finding && finding.problems.length === 0)) return [];
  const { refused, notes } = judgeConfigs(findings, spec, await previous());
  if (refused.length > 0) throw conveyorError('config-rejected', { pipeline: spec.pipeline, refused });
  return notes;
}

/** The actor who changes a pipeline, and the rule that permits it. */
interface PipelineActor {
  readonly actor: string;
  readonly permitted?: string | undefined;
}

/** The task queue of this client's workers. */
export const resolveTaskQueue = ({ taskQueue }: Pick<ClientOptions, 'taskQueue'>): string =>
  taskQueue ?? process.env['CONVEYOR_TASK_QUEUE'] ?? 'conveyor';

/** All records of a pipeline, even if it has ended. */
export async function exportPipeline(workflows: Workflows, pipeline: string): Promise<PipelineDocument> {
  const { client } = workflows.temporal;
  const state = await workflows.pipelineState(pipeline).catch(async (error: unknown) => {
    if (error instanceof ConveyorError && error.retryable) throw error;
    // Only an ended workflow may be read from its first event: a running one has newer records.
    const left = await findPriorRecords(client, pipeline).catch(() => undefined);
    return left?.state ?? Promise.reject(error as Error);
  });
  const board = hasOffered(state)
    ? await workflows.withWording(pipeline, () => findBoard(client, pipeline), {
        notFound: unknownPipeline(pipeline),
        workflowId: workflowIds.offers(pipeline),
      })
    : null;
  return toPipelineDocument(state, Date.now(), listExported(board));
}

/** Replaces the present records with exported ones. */
export async function importPipeline(
  workflows: Workflows,
  options: ClientOptions,
  document: PipelineDocument,
  acting: PipelineActor,
): Promise<PipelineApplyResult> {
  const excess = over(STATE_LIMITS.state, jsonBytes(document));
  if (excess) throw conveyorError('over-limit', excess);
  return changePipeline(workflows, options, {
    ...{ update: 'import', spec: document.spec, acting, what: { document } },
    refusal: (state, groups) => refuseImport(state, document, groups, acting.actor, acting.permitted),
    check: async () => [
      ...(await noteMove(workflows, document)),
      ...(await noteUsed(workflows, document.spec)),
      ...(await noteOfferCycle(workflows, document.spec)),
    ],
  });
}

/** Offers in use that a file withdraws. */
async function noteUsed(workflows: Workflows, { pipeline, offers = [] }: PipelineSpec): Promise<readonly string[]> {
  const { client } = workflows.temporal;
  const declared = offers.map(({ name }) => name);
  try {
    const board = await client.withDeadline(Date.now() + WORKER_TIMEOUT_MS, () => findBoard(client, pipeline));
    return noteWithdrawn(board, declared);
  } catch {
    return ['its offers did not answer: it is not known whether other pipelines use offers that the file withdraws'];
  }
}

/** The facts about offers that the file does not bring. A pipeline that does not answer counts as one that knows no user. */
async function noteMove(workflows: Workflows, document: PipelineDocument): Promise<readonly string[]> {
  const names = [...new Set([document.pipeline, ...Object.values(document.uses ?? {}).flat()])];
  const read = (name: string) => findBoard(workflows.temporal.client, name).catch(() => null);
  const boards = await Promise.all(names.map(async (name) => [name, await read(name)] as const));
  return describeMove(document, new Map(boards));
}

interface PipelineChange {
  readonly update: 'apply' | 'import';
  readonly spec: PipelineSpec;
  readonly acting: PipelineActor;
  readonly what: Pick<ApplyInput, 'spec'> | Pick<ImportInput, 'document'>;
  readonly refusal: (state: PipelineState | null, groups: Policy['groups']) => Refusal | undefined;
  /** Asks pipelines about offers, and push types about new configs. @returns their notes @throws offers-cycle, config-rejected */
  readonly check?: (previous: () => Promise<PipelineSpec | null>) => Promise<readonly string[]>;
}

async function changePipeline(
  workflows: Workflows,
  options: ClientOptions,
  { update, spec, acting, what, refusal, check }: PipelineChange,
): Promise<PipelineApplyResult> {
  const { pipeline, description } = spec;
  const { actor, permitted } = acting;
  const { client } = workflows.temporal;
  const left = await workflows.withWording(pipeline, () => findPriorRecords(client, pipeline), {
    notFound: unknownPipeline(pipeline),
  });
  const groups = options.platform?.groups ?? {};
  // A workflow started only to refuse would hide the remaining records.
  const early = left && refusal(left.state, groups);
  if (early) throw pipelineRefusal(update, pipeline, actor, early);
  if (left?.state && (await isWorkflowRunning(client, workflowIds.pipeline(pipeline))))
    throw conveyorError('invalid-state', {
      verb: update,
      id: pipeline,
      why: describeIdConflict(workflows.temporal, pipeline),
    });
  await workflows.withWording(pipeline, () => requireWorker(workflows.temporal, pipeline, resolveTaskQueue(options)), {
    notFound: unknownPipeline(pipeline),
  });
  const configNotes = (await check?.(async () => left?.state?.spec ?? (await specNow(workflows, pipeline)))) ?? [];
  const start = () =>
    new WithStartWorkflowOperation<typeof pipelineWorkflow>('pipeline', {
      workflowId: workflowIds.pipeline(pipeline),
      taskQueue: resolveTaskQueue(options),
      args: [left?.state ?? null],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `pipeline ${pipeline}`,
      staticDetails: paragraphs(description),
    });
  const input = {
    ...{ ...what, actor },
    ...(permitted === undefined ? {} : { permitted }),
    groups,
    settings: options.platform?.settings ?? DEFAULT_SETTINGS,
    ...(left === undefined ? {} : { found: left.found }),
  };
  const asked = signRequest(workflows.temporal.seal, update, input);
  const send = (updateId: string) =>
    client.workflow.executeUpdateWithStart<typeof pipelineWorkflow, ApplyOutcome, [object]>(update, {
      startWorkflowOperation: start(),
      ...{ args: [asked], updateId },
    });
  const { previous, created } = await workflows.withWording<ApplyOutcome>(pipeline, () => untilTaken(send), {
    notFound: unknownPipeline(pipeline),
    refused: (code, { message, details }) =>
      pipelineRefusal(update, pipeline, actor, { code, message, names: details?.[0] as readonly string[] | undefined }),
  });
  return { created, previous, ...toContinued(left), ...(configNotes.length > 0 ? { configNotes } : {}) };
}

/**
 * Null for a new pipeline. @throws the error of the query if it may succeed later, so that an existing pipeline is not
 * taken for a new one
 */
const specNow = (workflows: Workflows, pipeline: string): Promise<PipelineSpec | null> =>
  workflows.pipelineState(pipeline).then(
    ({ spec }) => spec,
    (error: unknown) => {
      if (error instanceof ConveyorError && error.retryable) throw error;
      return null;
    },
  );

/** A running workflow takes no records from outside, so that it does not continue with them. */
const describeIdConflict = ({ namespace }: Temporal, pipeline: string): string =>
  `Conveyor did not start the workflow that runs under its id, which has none of its records; end it and try again: temporal workflow terminate --namespace ${namespace} --workflow-id ${workflowIds.pipeline(pipeline)}`;

/** Enough time for a starting worker to poll. */
const STARTING_MS = 5_000;
const WORKER_POLL_MS = 500;

/**
 * A pipeline that begins on a task queue without workers would wait there for ever, even for callers who later name the right task queue.
 * @throws no-worker
 */
async function requireWorker(temporal: Temporal, pipeline: string, taskQueue: string): Promise<void> {
  if (await isWorkflowRunning(temporal.client, workflowIds.pipeline(pipeline))) return;
  for (let waitedMs = 0; ; waitedMs += WORKER_POLL_MS) {
    const { isPolled, build } = await readPolling(temporal, taskQueue);
    if (isPolled) return;
    if (waitedMs >= STARTING_MS)
      throw conveyorError('no-worker', {
        id: pipeline,
        unpolled: taskQueue,
        ...(build === undefined ? {} : { build }),
      });
    await sleep(WORKER_POLL_MS);
  }
}

function pipelineRefusal(
  verb: string,
  pipeline: string,
  actor: string,
  { code, message, names = [] }: { code: string; message: string; names?: readonly string[] | undefined },
): ConveyorError {
  if (code === 'over-limit') return overLimit(names);
  if (code === 'not-permitted')
    return conveyorError('not-permitted', { actor, pipeline, ...(isGroup(actor) ? { why: message } : {}) });
  return conveyorError('invalid-state', { verb, id: pipeline, why: message });
}

const unknownPipeline = (pipeline: string) => () => conveyorError('unknown-pipeline', { pipeline });

/** For an ended pipeline, the answer names the state with which it continues. */
const toContinued = (left: PriorRecords | undefined): Pick<PipelineApplyResult, 'continued'> =>
  left === undefined ? {} : { continued: { after: left.found.nextNumber - 1, books: left.state !== null } };
