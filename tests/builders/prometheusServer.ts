import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as Prometheus sees it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly params: Readonly<Record<string, string>>;
}

/** Answers one request, or leaves it unanswered. */
export type Reply = (asked: Asked, response: ServerResponse) => void;

export interface FakePrometheus {
  readonly url: string;
  readonly asked: Asked[];
  close(): Promise<void>;
}

/** A real server on a free port that answers as a test sets it. */
export async function fakePrometheus(reply: Reply): Promise<FakePrometheus> {
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    void read(request).then((seen) => {
      asked.push(seen);
      reply(seen, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Answers with a body, by default JSON with status 200. */
export const answering =
  (body: unknown, status: number = 200, headers: Readonly<Record<string, string>> = {}): Reply =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** The answer of `query_range`: for each task its `[seconds, text]` pairs. */
export const matrix = (
  series: Readonly<Record<string, readonly (readonly [number, string])[]>>,
  more: object = {},
) => ({
  status: 'success',
  data: {
    resultType: 'matrix',
    result: Object.entries(series).map(([task, values]) => ({ metric: { __name__: 'errors', task }, values })),
  },
  ...more,
});

/** The tasks that the expression of a request selects. */
export const tasksIn = ({ params }: Asked): string[] => {
  const expression = /task=~"([^"]*)"/.exec(params['query'] ?? '')?.[1] ?? '';
  return expression === '' ? [] : expression.split('|').map((task) => task.replace(/\\/g, ''));
};

async function read(request: IncomingMessage): Promise<Asked> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    authorization: request.headers.authorization,
    params: Object.fromEntries(new URLSearchParams(body)),
  };
}
