import { serve, type ServerType } from '@hono/node-server';
import type { Server } from 'node:http';
import { conveyorError } from '../../domain/errors';
import { VESSEL_LIMITS } from '../../domain/limits';
import { createPeerApp, type PieceProvider } from './peerApp';
import type { Throttle } from './throttle';

export interface Place {
  readonly host: string;
  readonly port: number;
}

/** `10.0.0.5:4701`, `trainer-1:4710`, `[::1]:0`; undefined for any other text. */
export function parsePeerPlace(text: string): Place | undefined {
  const [, host = '', port = ''] = /^(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/i.exec(text) ?? [];
  return host === '' || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

interface PeerListener {
  /** The address for other hosts. */
  readonly address: string;
  close(): void;
}

const IDLE_MS = 30_000;

/** Serves pieces to other hosts at this address. @throws ConveyorError `port-in-use`, and errors of the system */
export function listenForPeers(
  giver: PieceProvider,
  { host, port }: Place,
  throttle?: Throttle,
): Promise<PeerListener> {
  const { fetch } = createPeerApp(giver, throttle);
  return new Promise((resolve, reject) => {
    const hostname = host.replace(/^\[|\]$/g, '');
    const server: ServerType = serve({ fetch, port, hostname, overrideGlobalObjects: false }, (at) =>
      resolve({ address: `http://${host}:${at.port}`, close: () => void server.close() }),
    );
    Object.assign(server, { maxConnections: VESSEL_LIMITS.connections.max });
    (server as Server).setTimeout(IDLE_MS);
    server.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? conveyorError('port-in-use', { port, process: 'the door for other hosts' })
          : error,
      ),
    );
  });
}
