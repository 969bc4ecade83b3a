import { findConcernedPipelines, type PipelineSubmission } from '../../domain/finder/match';
import { ConveyorError } from '../../domain/errors';
import type { Trigger } from '../../domain/views';
import type { ServerDeps } from '../deps';
import type { Metrics } from '../metrics';
import type { Subscribers } from '../subscribers';
import type { KeyedQueue } from '../turns';
import type { WebhookEvent } from './events';
import { concurrencyGate } from '../../sdk/concurrency';

/** A delivery that was verified and read. */
export interface Delivery {
  /** `standard:<webhook-id>`: the same key never starts a second release of a pipeline. */
  readonly key: string;
  readonly actor: string;
  readonly event: WebhookEvent;
}

/** The result of a delivery, by pipeline. */
export interface DeliveryResult {
  readonly releases: readonly { readonly id: string; readonly duplicate: boolean }[];
  /** Pipelines that keep the artifact but start no release, and their inputs that have no value yet. */
  readonly awaiting: readonly { readonly pipeline: string; readonly artifacts: readonly string[] }[];
  readonly refused: readonly { readonly pipeline: string; readonly code: string; readonly message: string }[];
  /** The number of subscribers that were not reached in time; their finder's sweep brings the artifact to them. */
  readonly left: number;
}

export interface DeliveryDeps extends Pick<ServerDeps, 'client' | 'now'> {
  readonly subscribers: Subscribers;
  readonly turns: KeyedQueue;
  readonly metrics: Pick<Metrics, 'countSubmission' | 'countOutOfScope' | 'countIgnored'>;
}

/** A forge waits ten seconds for an answer, so the server must answer before that. */
const BUDGET_MS = 7_000;
/** Pipelines that receive one delivery at the same time. */
const PIPELINES_AT_ONCE = 8;

type SubmitOutcome =
  | { readonly kind: 'release'; readonly id: string; readonly duplicate: boolean }
  | { readonly kind: 'awaiting'; readonly pipeline: string; readonly artifacts: readonly string[] }
  | { readonly kind: 'refused'; readonly pipeline: string; readonly error: ConveyorError }
  | { readonly kind: 'left' };

/**
 * Submits the contents of a delivery to every subscribed pipeline; null if there are none. If one submission cannot be
 * made now, the whole delivery fails so that it is sent again. Pipelines that already have it recognise the duplicate.
 * @throws ConveyorError the refusal, if all subscribers refuse; any retryable error
 */
export async function deliver(deps: DeliveryDeps, delivery: Delivery): Promise<DeliveryResult | null> {
  const all = await findSubscribers(deps, delivery);
  if (all.length === 0) return null;
  const untilMs = deps.now() + BUDGET_MS;
  const gate = concurrencyGate(PIPELINES_AT_ONCE);
  const submit = async (one: PipelineSubmission): Promise<SubmitOutcome> => {
    if (deps.now() >= untilMs) return { kind: 'left' };
    return deps.turns
      .run(one.pipeline, () => submitTo(deps, delivery, one))
      .catch((error: unknown) => toRefusedOutcome(one, error));
  };
  const outcomes = await Promise.all(all.map((one) => gate(() => submit(one))));
  const refused = outcomes.flatMap((it) => (it.kind === 'refused' ? [it] : []));
  if (refused.length === outcomes.length && refused.every(({ error }) => isUnknownPipeline(error))) return null;
  const failed =
    refused.find(({ error }) => error.retryable) ?? (refused.length === outcomes.length ? refused[0] : undefined);
  if (failed !== undefined) throw failed.error;
  return {
    releases: outcomes.flatMap((it) => (it.kind === 'release' ? [{ id: it.id, duplicate: it.duplicate }] : [])),
    awaiting: outcomes.flatMap((it) =>
      it.kind === 'awaiting' ? [{ pipeline: it.pipeline, artifacts: it.artifacts }] : [],
    ),
    refused: refused.map(({ pipeline, error: { code, message } }) => ({ pipeline, code, message })),
    left: outcomes.filter(({ kind }) => kind === 'left').length,
  };
}

export const isUnknownPipeline = (error: unknown): boolean =>
  error instanceof ConveyorError && error.code === 'unknown-pipeline';

async function findSubscribers(deps: DeliveryDeps, { event }: Delivery): Promise<readonly PipelineSubmission[]> {
  if (event === null) return [];
  return 'finder' in event ? findConcernedPipelines(event, await deps.subscribers.find(event.finder)) : [event];
}

async function submitTo(
  deps: DeliveryDeps,
  { key, actor }: Delivery,
  { pipeline, artifacts }: PipelineSubmission,
): Promise<SubmitOutcome> {
  const trigger: Trigger = { kind: 'webhook', actor, key };
  const { id, duplicate } = await deps.client.submit(pipeline, artifacts, trigger);
  deps.metrics.countSubmission(id === null ? 'incomplete' : duplicate ? 'duplicate' : 'released');
  if (id !== null) return { kind: 'release', id, duplicate };
  return { kind: 'awaiting', pipeline, artifacts: await listMissingInputs(deps, pipeline) };
}

/** The inputs without a value. The submission counts even if this query fails. */
async function listMissingInputs({ client }: DeliveryDeps, pipeline: string): Promise<readonly string[]> {
  try {
    const [spec, status] = await Promise.all([client.spec(pipeline), client.status(pipeline)]);
    const known = status.kind === 'pipeline' ? (status.inputs ?? []) : [];
    return Object.keys(spec.artifacts).filter((artifact) => !known.some(({ name }) => name === artifact));
  } catch {
    return [];
  }
}

function toRefusedOutcome({ pipeline }: PipelineSubmission, error: unknown): SubmitOutcome {
  if (!(error instanceof ConveyorError)) throw error;
  return { kind: 'refused', pipeline, error };
}
