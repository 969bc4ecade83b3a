import {
  Client,
  type Connection,
  isGrpcServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { ConveyorError, conveyorError, ERRORS } from '../domain/errors';
import { neverRan } from '../domain/queryRefusals';
import { connectGrpc } from './grpcConnection';
import { GRPC } from './grpcStatus';
import { createSealOptions, type Seal } from './seal';
import { temporalUnreachable } from './unreachable';

export interface ConnectionOptions {
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
  /** The key that authenticates requests to workflows; null if Temporal is trusted. */
  readonly seal?: Seal | null | undefined;
}

/** A connected client, with the address that messages name. `temporal.toml` and `TEMPORAL_*` apply (docs/design/overview.md#processes). */
export interface Temporal {
  readonly client: Client;
  readonly connection: Connection;
  readonly address: string;
  readonly namespace: string;
  readonly seal: Seal | null;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** How long a worker may take to answer: longer than the 10 s after which Temporal gives a lost worker's task to another. */
export const WORKER_TIMEOUT_MS = 15_000;

export async function connectTemporal(options: ConnectionOptions): Promise<Temporal> {
  const config = loadClientConnectConfig({});
  const address = options.address ?? config.connectionOptions.address ?? 'localhost:7233';
  const namespace = options.namespace ?? config.namespace ?? 'default';
  const { seal = null } = options;
  try {
    const connection = await connectGrpc({
      ...config.connectionOptions,
      address,
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
    return {
      client: new Client({ connection, namespace, ...createSealOptions(seal) }),
      connection,
      address,
      namespace,
      seal,
    };
  } catch (error) {
    throw await temporalUnreachable({ address, wantsTls: Boolean(config.connectionOptions.tls) }, getFirstLine(error));
  }
}

/**
 * Translates an error into the table of errors; `refused` handles a refusal by one of our workflows. Any error that may
 * pass is retryable, because callers do not repeat a refused request.
 */
export function translate(
  error: unknown,
  {
    id,
    address,
    notFound,
    refused,
  }: {
    id: string;
    address: string;
    notFound: () => ConveyorError;
    refused: (code: string, failure: ApplicationFailure) => ConveyorError;
  },
): ConveyorError {
  if (error instanceof ConveyorError) return error;
  if (error instanceof WorkflowNotFoundError || neverRan(error)) return notFound();
  const cause =
    error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type && Object.hasOwn(ERRORS, cause.type))
    return refused(cause.type, cause);
  if (isUnprocessed(cause) || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || hasStatus(error, NO_ANSWER))
    return conveyorError('no-worker', { id });
  if (hasStatus(error, TRANSIENT))
    return conveyorError('temporal-unreachable', { address, detail: getFirstLine(error) });
  return conveyorError('internal', { detail: getFirstLine(cause ?? error) });
}

/** A query without a polling worker is refused with FAILED_PRECONDITION. */
const NO_ANSWER: readonly number[] = [GRPC.CANCELLED, GRPC.DEADLINE_EXCEEDED, GRPC.FAILED_PRECONDITION];
/** Temporary failures of the server itself. */
const TRANSIENT: readonly number[] = [
  GRPC.UNKNOWN,
  GRPC.RESOURCE_EXHAUSTED,
  GRPC.ABORTED,
  GRPC.INTERNAL,
  GRPC.UNAVAILABLE,
];

/** The server fails an update that no worker processed, or whose workflow continued as new before it was done. */
const isUnprocessed = (cause: unknown): boolean =>
  cause instanceof ApplicationFailure &&
  (cause.type === 'UnprocessedUpdate' || cause.type === 'AcceptedUpdateCompletedWorkflow');

/** There was no answer: the target may exist nevertheless. */
export const isUnanswered = (error: unknown): boolean => hasStatus(error, [...NO_ANSWER, ...TRANSIENT]);

export const hasStatus = (error: unknown, codes: readonly number[]): boolean => {
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return [error, inner].some((candidate) => isGrpcServiceError(candidate) && codes.includes(candidate.code));
};

export const getFirstLine = (error: unknown): string =>
  error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
