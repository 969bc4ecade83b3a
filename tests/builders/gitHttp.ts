import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A forge over http: git's own server, with one account and faults. */
export class GitHttp {
  fault: 'silent' | 'broken' | undefined;
  private readonly server: Server;

  constructor(
    private readonly root: string,
    private readonly user: string,
    private readonly secret: string,
  ) {
    this.server = createServer((request, response) => this.answer(request, response));
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.fault === 'silent') return;
    if (this.fault === 'broken') return void response.writeHead(502).end('bad gateway');
    const expected = `Basic ${Buffer.from(`${this.user}:${this.secret}`).toString('base64')}`;
    if (request.headers.authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    const child = spawn('git', ['http-backend'], {
      env: {
        ...{ PATH: process.env['PATH'], GIT_PROJECT_ROOT: this.root, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO: pathname },
        ...{ REQUEST_METHOD: request.method, QUERY_STRING: search.slice(1), REMOTE_USER: this.user },
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    });
    request.pipe(child.stdin);
    child.stdin.on('error', () => undefined);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', () => {
      const whole = Buffer.concat(chunks);
      const end = whole.indexOf('\r\n\r\n');
      const lines = whole
        .toString('latin1', 0, end)
        .split('\r\n')
        .map((line) => line.split(': '));
      const status = lines.find(([name]) => name === 'Status')?.[1] ?? '200';
      const headers = Object.fromEntries(
        lines.filter(([name]) => name !== 'Status').map(([name = '', ...value]) => [name, value.join(': ')]),
      );
      response.writeHead(Number.parseInt(status, 10), headers).end(whole.subarray(end + 4));
    });
  }
}
