import {
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';
import { GRPC } from './grpcStatus';

type GrpcInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type GrpcCall = ReturnType<Parameters<GrpcInterceptor>[1]>;

/** As `Connection.connect`, with other ways to ask again and to stop asking. */
export const connectGrpc = (options: ConnectionOptions): Promise<Connection> =>
  Connection.connect({ ...options, interceptors: [makeGrpcRetryInterceptor(RETRIES), cancelledOnceClosed] });

const BY_DEFAULT = defaultGrpcRetryOptions();

/** A query for a worker that polls late is asked again as one for a server that is not available. */
const RETRIES: typeof BY_DEFAULT = {
  ...BY_DEFAULT,
  retryableDecider: (attempt, status) =>
    BY_DEFAULT.retryableDecider(attempt, isForALateWorker(status) ? { ...status, code: GRPC.UNAVAILABLE } : status),
};

/**
 * A query goes to the worker that has its workflow in memory, within the time after which another one gets its tasks (a second: what must not
 * wait comes that way too). Temporal fails it a second before that time is over where no poll has begun for twenty: after a quiet time at once,
 * unless a poll waits for it.
 */
const isForALateWorker = ({ code, details }: { readonly code: number; readonly details: string }): boolean =>
  code === GRPC.FAILED_PRECONDITION && details.startsWith('no poller seen for task queue recently');

/**
 * A call that nobody waits for any more may be left behind when the connection is closed. Temporal's client tries it again when its time has
 * come, and gRPC throws then, out of a timer, which ends the process. The innermost, so that it sees each try.
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
