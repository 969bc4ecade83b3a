import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchAt } from '../../activities/fetchAt';

/** A receiver on this machine, which keeps the requests, and the result of `fetchAt` for a name that cannot be looked up. */
async function sent(status: number): Promise<{ got: [IncomingMessage, string][]; answer: Promise<Response> }> {
  const got: [IncomingMessage, string][] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      got.push([request, Buffer.concat(parts).toString()]);
      response.writeHead(status, { location: 'http://elsewhere.invalid/' }).end('thanks');
      server.close();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const request = new Request(`http://receiver.invalid:${port}/hook?a=b`, {
    ...{ method: 'POST', body: '{"a":"ü"}', redirect: 'manual' },
    headers: { 'content-type': 'application/json', 'webhook-id': 'n-1', connection: 'close' },
  });
  return { got, answer: fetchAt([{ address: '127.0.0.1', family: 4 }])(request) };
}

test('connects to the address that was looked at, whatever the name stands for by now', async () => {
  const { got, answer } = await sent(204);
  expect((await answer).status).toBe(204);
  const [[request, body]] = got as [[IncomingMessage, string]];
  expect([request.method, request.url, body]).toEqual(['POST', '/hook?a=b', '{"a":"ü"}']);
  expect(request.headers).toMatchObject({ 'webhook-id': 'n-1', host: expect.stringMatching(/^receiver\.invalid:/) });
});

test('follows no redirection', async () => {
  const { got, answer } = await sent(307);
  expect([(await answer).status, got.length]).toEqual([307, 1]);
});

test('fails as a fetch does: with the cause, or with what it was aborted by', async () => {
  const nobody = fetchAt([{ address: '127.0.0.1', family: 4 }]);
  await expect(nobody(new Request('http://receiver.invalid:1/'))).rejects.toMatchObject({
    ...{ name: 'TypeError', cause: { code: 'ECONNREFUSED' } },
  });
  const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
  await expect(nobody(new Request('http://receiver.invalid:1/', { signal: late }))).rejects.toMatchObject({
    name: 'TimeoutError',
  });
});
