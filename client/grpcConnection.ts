import {
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';

type GrpcInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type GrpcCall = ReturnType<Parameters<GrpcInterceptor>[1]>;

/**
 * As `Connection.connect`, but a call that nobody waits for any more may be left behind when the connection is closed. Temporal's client
 * tries it again when its time has come, and gRPC throws then, out of a timer, which ends the process.
 */
export const connectGrpc = (options: ConnectionOptions): Promise<Connection> =>
  Connection.connect({
    ...options,
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), cancelledOnceClosed],
  });

/** The innermost, so that it sees each try. */
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
    listener?.onReceiveStatus?.({ code: 1, details: 'the connection is closed', metadata });
  },
  sendMessage: () => undefined,
  sendMessageWithContext: () => undefined,
  startRead: () => undefined,
  halfClose: () => undefined,
  cancelWithStatus: () => undefined,
  getPeer: () => '',
  getAuthContext: () => null,
};
