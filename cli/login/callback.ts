import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A local listener to which the browser delivers the identity provider's answer (RFC 8252, 7.3). It accepts one answer.
 */
export class Callback {
  private constructor(
    private readonly server: Server,
    private readonly came: Promise<URL>,
    readonly url: string,
  ) {}

  static async open(): Promise<Callback> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    const came = new Promise<URL>((resolve) => {
      server.on('request', (request, response) => {
        const at = new URL(request.url ?? '/', url);
        const isAnswer = at.pathname === '/callback' && at.searchParams.has('state');
        response.writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
        response.end(isAnswer ? 'Done: go back to the terminal.\n' : 'There is nothing here.\n');
        if (isAnswer) resolve(at);
      });
    });
    return new Callback(server, came, url);
  }

  /** @throws the reason of the aborted signal */
  awaitAnswer(signal: AbortSignal): Promise<URL> {
    return new Promise((resolve, reject) => {
      const give = (): void => reject(signal.reason as Error);
      if (signal.aborted) return give();
      signal.addEventListener('abort', give, { once: true });
      void this.came.then(resolve);
    });
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
