import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createOfferActivities, type KnownOffersAsk, type RestoredOffers } from '../../activities/offers';
import type { OfferAsk, OfferRun } from '../../activities/offerLooks';
import type { OfferBoard } from '../../domain/offers/board';
import type { KnownOffers } from '../../domain/offers/ofPipeline';
import { packBoard } from '../../domain/offers/packedBoard';
import { hideUsers } from '../../domain/offers/readBoard';
import type { PipelineState } from '../../domain/pipeline/state';
import type { GrantedOffer, WishAnswer } from '../../domain/offers/judge';

/** Activities about offers, with boards and a clock that the test sets. */
export class OfferWorld {
  nowMs = Date.parse('2026-11-23T17:00:00Z');
  readonly boards = new Map<string, OfferBoard>();
  /** Pipelines, or why one does not answer. */
  readonly pipelines = new Map<
    string,
    (Pick<PipelineState, 'spec' | 'ready' | 'retired'> & Partial<Pick<PipelineState, 'active' | 'history'>>) | Error
  >();
  /** The queries so far: `offers net`. */
  readonly queries: string[] = [];
  /** The updates so far, with their ids. */
  readonly updates: string[] = [];
  /** The signals so far. */
  readonly signals: { readonly id: string; readonly name: string; readonly message: unknown }[] = [];
  /** The inputs of workflows, by id. */
  readonly inputs = new Map<string, unknown>();
  /** Happens once the clock has reached a time. */
  private readonly later: { readonly atMs: number; readonly what: () => void }[] = [];
  private readonly activities: ReturnType<typeof createOfferActivities>;

  /** @param queries those that the build of the workflows knows */
  constructor(
    stays: number,
    private readonly known: readonly string[] = ['offers', 'packed-board', 'board'],
  ) {
    const client = {
      options: {
        namespace: 'test',
        loadedDataConverter: {
          payloadConverter: defaultPayloadConverter,
          failureConverter: defaultFailureConverter,
          payloadCodecs: [],
        },
      },
      workflowService: {
        getWorkflowExecutionHistory: async ({ execution }: { execution: { workflowId: string } }) =>
          this.readHistory(execution.workflowId),
      },
      withAbortSignal: <R>(_: AbortSignal, call: () => R): R => call(),
      workflow: {
        getHandle: (id: string) => ({
          query: (name: string) => this.query(id, name),
          describe: async () => ({ status: { name: 'RUNNING' } }),
          signal: async (name: string, message: unknown) => void this.signals.push({ id, name, message }),
          executeUpdate: async (name: string, { updateId = '' }) => void this.updates.push(`${name} ${id} ${updateId}`),
        }),
      },
    };
    this.activities = createOfferActivities({
      client: client as unknown as Client,
      clock: { now: async () => this.nowMs, sleep: (ms, signal) => this.sleep(ms, signal) },
      ...{ taskQueue: 'test', stays },
    });
  }

  after(ms: number, what: () => void): void {
    this.later.push({ atMs: this.nowMs + ms, what });
  }

  /** One attempt of the activity. */
  look(run: Partial<OfferRun> & Pick<OfferAsk, 'wishes'>, attempt = 2, cancelled?: AbortSignal): Promise<WishAnswer> {
    const env = new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
    cancelled?.addEventListener('abort', () => env.cancel());
    const ask = { pipeline: 'app', user: 'app/deploy', release: 1, plan: null };
    return env.run(this.activities.offerNews, {
      ...{ ...ask, seen: null, sinceMs: this.nowMs - 60_000, intervalMs: 30_000 },
      ...run,
    });
  }

  /** One attempt of the activity that takes offers. */
  take(wishes: OfferAsk['wishes'], attempt: number, activityId: string): Promise<WishAnswer> {
    const env = new MockActivityEnvironment({ attempt, activityId });
    const ask = { pipeline: 'app', user: 'app/deploy', release: 1, plan: null, wishes };
    return env.run(this.activities.takeOffers, ask);
  }

  /** Pins what the boards offer for a deploy that has begun. */
  pinAnyway(granted: readonly GrantedOffer[]) {
    const env = new MockActivityEnvironment();
    return env.run(this.activities.pinAnyway, { user: 'app/deploy', release: 1 }, granted);
  }

  /** Makes the offers of an earlier release. */
  restore(pipeline: string, restored: RestoredOffers) {
    return new MockActivityEnvironment().run(this.activities.restoreOffers, pipeline, restored);
  }

  /** The values for a deploy that waits for nothing. */
  readOffers(ask: KnownOffersAsk): Promise<KnownOffers> {
    return new MockActivityEnvironment().run(this.activities.readOffers, ask);
  }

  private readHistory(workflowId: string) {
    const input = this.inputs.get(workflowId);
    if (input === undefined) throw Object.assign(new Error('not found'), { code: 5 });
    const payloads = [defaultPayloadConverter.toPayload(input)];
    return { history: { events: [{ workflowExecutionStartedEventAttributes: { input: { payloads } } }] } };
  }

  private async query(id: string, name: string): Promise<unknown> {
    const [kind, pipeline = ''] = id.split('/');
    this.queries.push(`${name} ${pipeline}`);
    if (kind === 'pipeline') return this.askPipeline(pipeline);
    const board = this.boards.get(pipeline);
    if (board === undefined) throw new WorkflowNotFoundError('not found', id, undefined);
    if (!this.known.includes(name))
      throw Object.assign(new Error(`did not register a handler for ${name}. Registered queries: [board]`), {
        name: 'QueryNotRegisteredError',
      });
    return name === 'offers' ? hideUsers(board) : name === 'board' ? board : packBoard(board);
  }

  private askPipeline(name: string): unknown {
    const known = this.pipelines.get(name);
    if (known === undefined) throw new WorkflowNotFoundError('not found', name, undefined);
    if (known instanceof Error) throw known;
    return known;
  }

  private async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    // Others go first.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted) return;
    this.nowMs += ms;
    for (const one of this.later.splice(0)) {
      if (one.atMs <= this.nowMs) one.what();
      else this.later.push(one);
    }
  }
}
