import {
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';
import { GRPC } from './grpcStatus';

type GrpcInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type GrpcCall = ReturnType<Parameters<GrpcInterceptor>[1]>;

/** As `Connection.connect`, with different retries and a safe close. */
export const connectGrpc = (options: ConnectionOptions): Promise<Connection> =>
  Connection.connect({ ...options, interceptors: [makeGrpcRetryInterceptor(RETRIES), cancelledOnceClosed] });

const BY_DEFAULT = defaultGrpcRetryOptions();

/** A query whose worker polls late is retried like one to an unavailable server. */
const RETRIES: typeof BY_DEFAULT = {
  ...BY_DEFAULT,
  retryableDecider: (attempt, status) =>
    BY_DEFAULT.retryableDecider(attempt, isForALateWorker(status) ? { ...status, code: GRPC.UNAVAILABLE } : status),
};

/**
 * A query goes to the worker that has its workflow in memory, until other workers may get its tasks (after a second;
 * urgent tasks take the same path). If no poll has begun for twenty seconds, Temporal fails the query a second before
 * that limit. After a quiet period it therefore fails at once, unless a poll is waiting.
 */
const isForALateWorker = ({ code, details }: { readonly code: number; readonly details: string }): boolean =>
  code === GRPC.FAILED_PRECONDITION && details.startsWith('no poller seen for task queue recently');

/**
 * A call without a waiting caller may remain when the connection is closed. Temporal's client retries it later, and
 * gRPC then throws from a timer, which ends the process. This interceptor is the innermost, so that it sees each try.
 */
const cancelledOnceClosed = ((options, nextCall): GrpcCall => {
  try {
    return nextCall(options);
  } catch (error) {
    if (!(error instanceof Error && error.message === 'Channel has been shut down')) throw error;
    return CANCELLED_CALL;
  }
}) as GrpcInterceptor;

const CANCELLED_CALL: GrpcCall = {
  start: (metadata, listener) => {
    listener?.onReceiveMessage?.(null);
    listener?.onReceiveStatus?.({ code: GRPC.CANCELLED, details: 'the connection is closed', metadata });
  },
  sendMessage: () => undefined,
  sendMessageWithContext: () => undefined,
  startRead: () => undefined,
  halfClose: () => undefined,
  cancelWithStatus: () => undefined,
  getPeer: () => '',
  getAuthContext: () => null,
};
