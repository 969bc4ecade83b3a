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
const TRIES_OF_A_QUERY = 10;

const RETRIES: typeof BY_DEFAULT = {
  ...BY_DEFAULT,
  retryableDecider: (attempt, status) =>
    BY_DEFAULT.retryableDecider(attempt, status) || (attempt < TRIES_OF_A_QUERY && isForALateWorker(status)),
};

/**
 * A query goes to the worker that has its workflow in memory. Where that one has not polled for more lately, Temporal refuses the query after
 * a moment: the worker may be gone, and another one there, or it has more to answer than it asked for.
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
