import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { decideBirth } from '../domain/access/children';
import type { Artifact } from '../domain/artifact';
import type { ChildrenSpec, ChildSelection } from '../domain/children/fanOut';
import type { ChildEnd, ShardReport } from '../domain/children/window';
import { workflowIds } from '../domain/ids';
import { isOpenStatus } from '../domain/openStatus';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import type { PipelineState } from '../domain/pipeline/state';
import type { ReleaseResult } from '../domain/release/state';
import type { ReadPlatform } from './authority';
import { withHeartbeats, type Clock } from './clock';
import { pipelineKnows } from './waitFor';

export type ChildActivities = ReturnType<typeof createChildActivities>;

/** A request for a child's release. */
export interface ChildRequest extends ChildOrder {
  readonly child: string;
}

/** A request for several children that are due at the same moment. */
export interface ChildrenRequest extends ChildOrder {
  readonly children: readonly string[];
}

/** The input that all children of one parent's release share. */
export interface ChildOrder {
  /**
   * The parent's release, such as `inference/3`. A repeated request for the same parent and child starts no second
   * release.
   */
  readonly parent: string;
  /** The parent's owners. A child consents by sharing one of them, or by its label. */
  readonly owners: readonly string[];
  /** The person or program that started the parent's release. */
  readonly startedBy?: string;
  readonly artifacts: readonly Artifact[];
  /** The workflow to which the release reports its end. */
  readonly reportTo: string;
  readonly heartbeatTimeoutMs: number;
}

export type ChildAnswer =
  { readonly kind: 'started'; readonly number: number } | { readonly kind: 'refused'; readonly reason: string };

/** The answers that have come by then, by name. */
export type ChildAnswers = Readonly<Record<string, ChildAnswer>>;

/** An answer takes some tens of ms, or seconds if thousands are asked for. */
const SOON_MS = 10_000;

interface ChildParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly index: PipelineIndex;
  readonly platform?: ReadPlatform;
}

/** The work that a fan-out cannot do itself: find children, ask their pipelines for releases, and look at silent ones. */
export function createChildActivities({ client, clock, index, platform }: ChildParts) {
  const ask = (request: ChildRequest, signal: AbortSignal): Promise<ChildAnswer> =>
    client.withAbortSignal(signal, async () => {
      const reason = await whyNoChild(client, platform, request);
      return reason === undefined ? askForRelease(client, request) : { kind: 'refused', reason };
    });

  return {
    /** The children of a pipeline, without duplicates and in order; never the pipeline itself. */
    selectChildren: async (parent: string, { pipelines, first }: ChildrenSpec): Promise<ChildSelection> => {
      const all = 'label' in pipelines ? await collect(index.labelled(pipelines.label)) : pipelines;
      const early = new Set(first ? await collect(index.labelled(first.label)) : []);
      const children = [...new Set(all)].filter((name) => name !== parent).sort();
      return {
        first: children.filter((name) => early.has(name)),
        rest: children.filter((name) => !early.has(name)),
      };
    },

    /**
     * Asks a child's pipeline for a release. A refusal is final, because a retry would be refused again; any other
     * failure is tried again.
     */
    startChildRelease: async (request: ChildRequest): Promise<ChildAnswer> => {
      const context = Context.current();
      const asked = () => ask(request, context.cancellationSignal);
      return withHeartbeats(request.heartbeatTimeoutMs / 3, () => context.heartbeat(), asked);
    },

    /**
     * Asks the pipelines of several children at once. A pipeline that does not answer soon, or cannot be asked now, does not delay the
     * others: its answer is missing, and the caller asks again.
     */
    startChildReleases: async ({ children, ...order }: ChildrenRequest): Promise<ChildAnswers> => {
      const context = Context.current();
      const over = new AbortController();
      // Each call needs its own signal: Temporal's client adds a listener for every call, and Node warns of the
      // eleventh on one signal.
      const ending = (): AbortSignal => AbortSignal.any([context.cancellationSignal, over.signal]);
      const answers: Record<string, ChildAnswer> = {};
      const asked = children.map(async (child) => void (answers[child] = await ask({ ...order, child }, ending())));
      const answered = () => Promise.race([Promise.allSettled(asked), clock.sleep(SOON_MS, ending())]);
      await withHeartbeats(order.heartbeatTimeoutMs / 3, () => context.heartbeat(), answered);
      over.abort();
      return { ...answers };
    },

    /** The children whose releases have ended, with their ends. */
    childrenOver: async (children: readonly { pipeline: string; number: number }[]): Promise<ChildEnd[]> => {
      const ends = await Promise.all(children.map(({ pipeline, number }) => childEnd(client, pipeline, number)));
      return ends.flatMap((end) => end ?? []);
    },

    /** The shards that have ended, with their last report; null for a terminated one. */
    shardsOver: async (ids: readonly string[]): Promise<{ id: string; report: ShardReport | null }[]> => {
      const ends = await Promise.all(
        ids.map(async (id) => {
          const end = await workflowResult<ShardReport>(client, id);
          return end === 'running' ? [] : [{ id, report: end === 'unknown' ? null : end }];
        }),
      );
      return ends.flat();
    },
  };
}

async function collect(names: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const name of names) all.push(name);
  return all;
}

/**
 * The reason why the rules of the platform do not let this parent start the child; the child's pipeline may also
 * refuse.
 */
async function whyNoChild(
  client: Client,
  platform: ReadPlatform | undefined,
  { child, parent, startedBy }: ChildRequest,
) {
  const facts = platform?.();
  if (!facts?.policy) return undefined;
  const state = await pipelineKnows<PipelineState>(client, child);
  // The pipeline does not exist; the request for a release reports that.
  if (state === null) return undefined;
  const { owners, labels } = state.spec;
  const [pipeline = ''] = parent.split('/');
  const decision = decideBirth(facts, { child, owners, names: labels['parent'], parent: pipeline, startedBy });
  return decision.allowed ? undefined : decision.why;
}

async function askForRelease(client: Client, request: ChildRequest): Promise<ChildAnswer> {
  const { child, parent, owners, artifacts, reportTo, startedBy } = request;
  const person = startedBy === undefined ? {} : { startedBy };
  const trigger = { kind: 'parent', actor: 'service:conveyor', key: `parent:${parent}`, parent, ...person };
  try {
    const { number } = await client.workflow
      .getHandle(workflowIds.pipeline(child))
      .executeUpdate<{ number: number }, [object]>('start-release', {
        args: [{ artifacts, trigger, reportTo, parentOwners: owners }],
      });
    return { kind: 'started', number };
  } catch (error) {
    const reason = findRefusalReason(error, child);
    if (reason === undefined) throw error;
    return { kind: 'refused', reason };
  }
}

function findRefusalReason(error: unknown, child: string): string | undefined {
  if (error instanceof WorkflowNotFoundError) return `there is no pipeline ${child}`;
  const isRefusal = error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure;
  return isRefusal ? error.cause?.message : undefined;
}

/** Undefined while it runs. Only its pipeline knows a release that it has not started yet. */
async function childEnd(client: Client, pipeline: string, number: number): Promise<ChildEnd | undefined> {
  const result = await workflowResult<ReleaseResult>(client, workflowIds.release(pipeline, number));
  if (result === 'running') return undefined;
  if (result === null) return { pipeline, number, state: 'failed', reason: 'its release was terminated' };
  if (result !== 'unknown') return { pipeline, number, state: result.state };
  const state = await pipelineKnows<PipelineState>(client, pipeline);
  if (state?.active.some((release) => release.number === number)) return undefined;
  const row = state?.history.find((release) => release.number === number);
  if (row?.state === 'succeeded' || row?.state === 'cancelled') return { pipeline, number, state: row.state };
  return { pipeline, number, state: 'failed', reason: row ? 'its release failed' : 'its release is unknown' };
}

/** The result of a workflow: null if it did not end by itself, or a stranger ended it; `unknown` if it does not exist. */
async function workflowResult<T>(client: Client, workflowId: string): Promise<T | null | 'running' | 'unknown'> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    const { status } = await handle.describe();
    if (isOpenStatus(status.name)) return 'running';
    return status.name === 'COMPLETED' ? (((await handle.result()) as T | undefined) ?? null) : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}
