import { isGrpcServiceError, type Connection } from '@temporalio/client';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { accepts } from './accepts';
import { GRPC } from './grpcStatus';
import { tlsMismatch, tlsSettings } from './temporalTls';

interface ReachedTemporal {
  readonly address: string;
  /** Missing if no connection was made. */
  readonly connection?: Connection;
  /** Whether the failed connection was to use TLS. */
  readonly wantsTls?: boolean;
}

/** The error for a Temporal server that did not do what it was asked, with its state. */
export async function temporalUnreachable(temporal: ReachedTemporal, detail: string): Promise<ConveyorError> {
  const { address, connection, wantsTls } = temporal;
  const place = parseAddress(address);
  const isOpen = place && (await accepts(place.host, place.port, ACCEPTS_WITHIN_MS));
  if (isOpen !== false && connection !== undefined && (await serves(connection)))
    return conveyorError('temporal-unreachable', { address, detail, state: 'answers' });
  if (!place || !isOpen) return conveyorError('temporal-unreachable', { address, detail });
  const mismatch =
    wantsTls === undefined ? undefined : await tlsMismatch(place.host, place.port, wantsTls, ACCEPTS_WITHIN_MS);
  if (wantsTls === undefined || mismatch === undefined)
    return conveyorError('temporal-unreachable', { address, detail, state: 'mute' });
  return conveyorError('temporal-unreachable', { address, detail, state: mismatch, settings: tlsSettings(wantsTls) });
}

const SERVES_WITHIN_MS = 2_000;
const ACCEPTS_WITHIN_MS = 1_000;

/** Also true if it answers that it does not serve. */
async function serves(connection: Connection): Promise<boolean> {
  try {
    await connection.withDeadline(Date.now() + SERVES_WITHIN_MS, () => connection.healthService.check({}));
    return true;
  } catch (error) {
    return isGrpcServiceError(error) && !SILENT.includes(error.code);
  }
}

const SILENT: readonly number[] = [GRPC.CANCELLED, GRPC.DEADLINE_EXCEEDED, GRPC.UNAVAILABLE];

/** The parts of `host:port`; undefined for an address in another form. */
function parseAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const [, host = '', port = ''] = /^\[?([^[\]/]+?)\]?:(\d+)$/.exec(address) ?? [];
  return port === '' ? undefined : { host, port: Number(port) };
}
