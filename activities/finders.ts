import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { decideUse } from '../domain/access/usage';
import type { SweepRepetition } from '../domain/finder/sweepLifetime';
import type { SweepMemory } from '../domain/finder/memory';
import { subscriptionPages, type Page } from '../domain/finder/pages';
import { OFFER, PIPELINE_OUTPUT, WORKER_FINDERS } from '../domain/finder/standard';
import {
  recordAnswer,
  forbidden,
  NOT_BEGUN,
  recordReception,
  buildSubmissions,
  type FinderAnswer,
  type Reception,
  type SweepSubmission,
  type SweepOutcome,
} from '../domain/finder/sweep';
import { groupBy } from '../domain/groupBy';
import { sweepId, workflowIds } from '../domain/ids';
import type { PipelineIndex, PipelineSubscriptions } from '../domain/pipeline/pipelineIndex';
import { recordMeasures, sweepMeasure } from '../domain/metrics';
import { callExtension } from '../sdk/client';
import type { Fetch } from '../sdk/request';
import { artifactFinderProtocol, MAX_SUBSCRIPTIONS } from '../sdk/protocol/artifactFinder';
import type { Registry } from '../settings/registry';
import { atOnce } from './atOnce';
import type { ReadPlatform } from './authority';
import { withHeartbeats, type Clock } from './clock';
import { asFailure } from './failure';
import { findOfferChanges } from './offerFinder';
import { findOutputs } from './pipelineOutput';
import { sweepAgain, type SweptAgain } from './sweepAgain';

export interface FinderParts {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly fetch?: Fetch;
  /** The rules of access in the present configuration. */
  readonly platform?: ReadPlatform;
  /** For submissions, and for the output of pipelines. */
  readonly client: Client;
  readonly index: PipelineIndex;
}

export interface SweepInput {
  readonly finder: string;
  /** The state that the last sweep left; null before the first. */
  readonly memory: SweepMemory | null;
  readonly heartbeatTimeoutMs: number;
  /** Absent for a single sweep. */
  readonly lasting?: SweepRepetition;
}

export type FinderActivities = ReturnType<typeof createFinderActivities>;

/** Submissions that are under way at the same time. */
const SUBMISSIONS_AT_ONCE = 20;
/** The time that a pipeline has to answer a submission. */
const SUBMIT_TIMEOUT_MS = 10_000;
/** If more pipelines than this are silent, the fault is not theirs. */
const MAX_SILENT = 100;

/** The looks of a finder for all its pipelines (Conveyor §5.1). */
export function createFinderActivities(parts: FinderParts) {
  return {
    /** A repetition is harmless, because a repeated submission makes no release. */
    sweep: async ({ lasting, ...order }: SweepInput): Promise<SweepOutcome | SweptAgain> => {
      const { finder, memory, heartbeatTimeoutMs } = order;
      if (lasting) return sweepAgain(parts, { ...order, lasting }, (before) => sweepMeasured(parts, finder, before));
      const context = Context.current();
      return withHeartbeats(
        heartbeatTimeoutMs / 3,
        () => context.heartbeat(),
        () => sweepMeasured(parts, finder, memory),
      );
    },
  };
}

async function sweepMeasured(parts: FinderParts, finder: string, memory: SweepMemory | null): Promise<SweepOutcome> {
  const beganMs = await parts.clock.now();
  const outcome = await sweepOnce(parts, finder, memory);
  recordMeasures(Context.current().metricMeter, [sweepMeasure(finder, (await parts.clock.now()) - beganMs)]);
  return outcome;
}

/**
 * Asks the finder once for each page of subscriptions and submits the artifacts that it found. A pipeline that refuses or does not answer stops
 * nothing; a finder that is down fails the attempt.
 */
async function sweepOnce(parts: FinderParts, finder: string, memory: SweepMemory | null): Promise<SweepOutcome> {
  const { cancellationSignal } = Context.current();
  const silent = new Silence();
  let outcome = NOT_BEGUN;
  const permitted = listPermittedPipelines(
    parts,
    finder,
    (pipeline, why) => (outcome = forbidden(outcome, pipeline, why)),
  );
  for await (const page of subscriptionPages(permitted, memory, MAX_SUBSCRIPTIONS)) {
    const answer = await getArtifacts(parts, finder, page);
    outcome = recordAnswer(outcome, page, answer);
    const byPipeline = groupBy(buildSubmissions(finder, page, answer), ({ pipeline }) => pipeline);
    await atOnce(SUBMISSIONS_AT_ONCE, byPipeline, async ([, submissions]) => {
      for (const submission of submissions) {
        cancellationSignal.throwIfAborted();
        const reception = await silent.unless(() => submitToPipeline(parts, submission));
        outcome = recordReception(outcome, submission, reception);
        // The next sweep begins with this artifact, so that no later one overtakes it.
        if (reception.kind === 'refused' && reception.again) break;
      }
    });
  }
  return outcome;
}

/**
 * The pipelines whose owners may use the finder now: since the apply, a rule may have been added, or an owner may have
 * left.
 */
async function* listPermittedPipelines(
  { index, platform }: FinderParts,
  finder: string,
  refuse: (pipeline: string, why: string) => void,
): AsyncGenerator<PipelineSubscriptions> {
  for await (const one of index.subscriptions(finder)) {
    const use = { kind: 'artifact-finder', name: finder } as const;
    // As in an apply, all pipelines may take the output and the offers of others.
    const isAsked = platform !== undefined && !WORKER_FINDERS.includes(finder);
    const decision = isAsked ? decideUse(platform(), one.owners, use) : undefined;
    if (decision?.allowed === false) refuse(one.pipeline, decision.why);
    else yield one;
  }
}

function getArtifacts(parts: FinderParts, finder: string, { asked, cursor }: Page): Promise<FinderAnswer> {
  const subscriptions = asked.map((each) => ({ ...each, with: { ...each.with } }));
  const request = { subscriptions, ...(cursor === null ? {} : { cursor }) };
  if (finder === PIPELINE_OUTPUT) return findOutputs(parts, request);
  if (finder === OFFER) return findOfferChanges(parts, request);
  const { registry, fetch } = parts;
  const { cancellationSignal, info } = Context.current();
  return untilAnswered(() =>
    callExtension({
      service: registry.find('artifact-finder', finder),
      protocol: artifactFinderProtocol,
      method: 'getArtifacts',
      request,
      context: { pipeline: '', release: 0, deployId: sweepId(finder), actor: `service:${finder}`, config: {} },
      ...(info.workflowExecution ? { runId: info.workflowExecution.workflowId } : {}),
      ...(fetch === undefined ? {} : { fetch }),
      signal: cancellationSignal,
    }),
  );
}

/**
 * The same sweep retries every failure of a finder, even a permanent refusal. Otherwise the next sweep would ask again, and each failed sweep
 * would stay in the list.
 */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await asFailure(ask);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    throw ApplicationFailure.create({ message: error.message, ...(error.type == null ? {} : { type: error.type }) });
  }
}

/** @throws Temporal's error if the pipeline does not answer. */
async function submitToPipeline(
  { client, clock }: FinderParts,
  { pipeline, artifacts, trigger }: SweepSubmission,
): Promise<Reception> {
  const handle = client.workflow.getHandle(workflowIds.pipeline(pipeline));
  const deadline = (await clock.now()) + SUBMIT_TIMEOUT_MS;
  try {
    const { number, duplicate } = await client.withDeadline(deadline, () =>
      handle.executeUpdate<SubmitAnswer, [object]>('submit', { args: [{ artifacts, trigger }] }),
    );
    return { kind: duplicate ? 'repeated' : number === null ? 'waiting' : 'released' };
  } catch (error) {
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    // A known-bad artifact stays bad until a person allows it, and that person also starts the release.
    if (cause instanceof ApplicationFailure)
      return { kind: 'refused', why: cause.message, again: !FOR_GOOD.includes(cause.type ?? '') };
    if (error instanceof WorkflowNotFoundError) return { kind: 'refused', why: 'it is gone', again: false };
    throw error;
  }
}

/** A repeated submission would be refused again. */
const FOR_GOOD = ['known-bad', 'digest-changed', 'over-limit'];

/** The answer to `submit`, a message of the pipeline's workflow. */
interface SubmitAnswer {
  readonly number: number | null;
  readonly duplicate: boolean;
}

/**
 * Counts pipelines that do not answer. A few are skipped until the next sweep; many mean an outage, which fails this
 * one.
 */
class Silence {
  private count = 0;

  async unless(work: () => Promise<Reception>): Promise<Reception> {
    try {
      return await work();
    } catch (error) {
      this.count += 1;
      if (this.count > MAX_SILENT) throw error;
      const why = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', why: `it did not answer: ${why}`, again: true };
    }
  }
}
