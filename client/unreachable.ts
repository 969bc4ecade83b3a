import { isGrpcServiceError, type Connection } from '@temporalio/client';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { accepts } from './accepts';
import { GRPC } from './grpcStatus';

interface ReachedTemporal {
  readonly address: string;
  /** Missing where none came about. */
  readonly connection?: Connection;
}

/** The error of a Temporal server that did not do what it was asked, with how much of it is there. */
export async function temporalUnreachable(temporal: ReachedTemporal, detail: string): Promise<ConveyorError> {
  const { address, connection } = temporal;
  const isOpen = await acceptsConnections(address);
  if (isOpen !== false && connection !== undefined && (await serves(connection)))
    return conveyorError('temporal-unreachable', { address, detail, state: 'answers' });
  return conveyorError('temporal-unreachable', { address, detail, ...(isOpen ? { state: 'mute' as const } : {}) });
}

const SERVES_WITHIN_MS = 2_000;
const ACCEPTS_WITHIN_MS = 1_000;

/** Also where it says that it does not serve. */
async function serves(connection: Connection): Promise<boolean> {
  try {
    await connection.withDeadline(Date.now() + SERVES_WITHIN_MS, () => connection.healthService.check({}));
    return true;
  } catch (error) {
    return isGrpcServiceError(error) && !SILENT.includes(error.code);
  }
}

const SILENT: readonly number[] = [GRPC.CANCELLED, GRPC.DEADLINE_EXCEEDED, GRPC.UNAVAILABLE];

/** Whether something accepts connections at `host:port`; undefined for an address in another form. */
function acceptsConnections(address: string): Promise<boolean | undefined> {
  const [, host = '', port = ''] = /^\[?([^[\]/]+?)\]?:(\d+)$/.exec(address) ?? [];
  if (port === '') return Promise.resolve(undefined);
  return accepts(host, Number(port), ACCEPTS_WITHIN_MS);
}
