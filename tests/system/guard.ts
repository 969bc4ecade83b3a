import { readFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Env } from './process';

const CERTIFICATES = join(__dirname, '../fixtures/certificates');
const file = (name: string): string => join(CERTIFICATES, name);

/** The environment with which a program passes the guard. */
export const CLIENT: Env = {
  TEMPORAL_TLS_CLIENT_CERT_PATH: file('client.pem'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: file('client.key'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('authority.pem'),
};

/** Admits clients with a certificate, in front of a Temporal server that cannot demand one itself: the development server has no TLS. */
export class Guard {
  private constructor(
    private readonly server: Server,
    readonly address: string,
    private readonly inside: readonly TLSSocket[],
  ) {}

  /** @param ca the authority of the clients that it admits */
  static async before(temporal: string, ca = readFileSync(file('authority.pem'))): Promise<Guard> {
    const [host = '', port = ''] = temporal.split(':');
    const [key, cert] = ['localhost.key', 'localhost.pem'].map((name) => readFileSync(file(name)));
    const options = { key, cert, ca, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] };
    const open: TLSSocket[] = [];
    const server = createServer(options, (socket) => {
      open.push(socket);
      const inside = connect({ host, port: Number(port) });
      // If either end goes away, the other is closed, too.
      pipeline(socket, inside, socket, () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Guard(server, `localhost:${(server.address() as AddressInfo).port}`, open);
  }

  /** Ends all connections, as a restart does: each client must present its certificate again. */
  drop(): void {
    for (const socket of this.inside) socket.destroy();
  }

  close(): void {
    this.server.close();
  }
}
