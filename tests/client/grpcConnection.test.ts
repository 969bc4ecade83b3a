import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectGrpc } from '../../client/grpcConnection';

const UNAVAILABLE = '14';
/** A message of no bytes. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** A gRPC server that says what it can do, and is not available for anything else. */
class UnavailableTemporal {
  private readonly server: Http2Server = createServer();
  tries = 0;

  constructor() {
    this.server.on('stream', (stream: ServerHttp2Stream, headers) => {
      const isKnown = headers[':path']?.endsWith('/GetSystemInfo');
      if (!isKnown) this.tries += 1;
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isKnown ? '0' : UNAVAILABLE }));
      stream.end(isKnown ? EMPTY_MESSAGE : undefined);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
  }
}

test('a call that nobody waits for any more, and that would be tried again, does not end the process once its connection is closed', async () => {
  const server = new UnavailableTemporal();
  const connection = await connectGrpc({ address: await server.listen() });
  const left = connection.workflowService.describeNamespace({ namespace: 'default' }).catch((error: unknown) => error);
  while (server.tries === 0) await delay(5);
  await connection.close();
  // Half a second is the time of the next try.
  expect(await left).toMatchObject({ code: 1, details: 'the connection is closed' });
  expect(server.tries).toBe(1);
  server.close();
});
