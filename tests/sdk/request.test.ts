import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoAnswer, sendRequest, type Fetch } from '../../sdk/request';
import { collectGarbage } from '../builders/garbage';

const URL_OF_NOBODY = 'http://hosts/look';

/** An answer whose body never ends, and whether it was cancelled. */
function endless(status = 200) {
  const cancel = jest.fn();
  const pull = (to: ReadableStreamDefaultController<Uint8Array>): void => to.enqueue(new Uint8Array(1000).fill(32));
  const fetch: Fetch = async () => new Response(new ReadableStream({ pull, cancel }), { status });
  return { fetch, cancel };
}

/** One that begins, and of which nothing more comes. */
function stalled() {
  const cancel = jest.fn();
  const start = (to: ReadableStreamDefaultController<Uint8Array>): void => to.enqueue(new Uint8Array(10));
  const fetch: Fetch = async () => new Response(new ReadableStream({ start, cancel }));
  return { fetch, cancel };
}

const noAnswer = async (sent: Promise<unknown>): Promise<NoAnswer> => {
  const error: unknown = await sent.then(() => undefined).catch((thrown: unknown) => thrown);
  if (error instanceof NoAnswer) return error;
  throw new Error(`expected none, and got ${String(error)}`);
};

test('the status, the headers and the text of an answer are returned, whatever its status', async () => {
  const fetch: Fetch = async () => new Response('no', { status: 404, headers: { 'x-told': 'yes' } });
  const { status, ok, headers, text } = await sendRequest(URL_OF_NOBODY, {}, { fetch, timeoutMs: 1000, maxBytes: 10 });
  expect([status, ok, headers.get('x-told'), text]).toEqual([404, false, 'yes', 'no']);
});

test.each([
  ['larger than it may be', 2500, undefined],
  ['of no interest', 0, undefined],
])('a body that is %s is cancelled, so that its socket is free', async (_, maxBytes, text) => {
  const { fetch, cancel } = endless();
  expect(await sendRequest(URL_OF_NOBODY, {}, { fetch, timeoutMs: 1000, maxBytes })).toMatchObject({ status: 200 });
  expect((await sendRequest(URL_OF_NOBODY, {}, { fetch, timeoutMs: 1000, maxBytes })).text).toBe(text);
  expect(cancel).toHaveBeenCalledTimes(2);
});

test('a body of which nothing more comes is cancelled at the deadline, also where no socket is in between', async () => {
  const { fetch, cancel } = stalled();
  const error = await noAnswer(sendRequest(URL_OF_NOBODY, {}, { fetch, timeoutMs: 20, maxBytes: 100 }));
  expect([error.message, error.isLate]).toEqual(['no answer within 20 ms', true]);
  expect(cancel).toHaveBeenCalledTimes(1);
});

test('a body is cancelled once the caller gives up, who gets the reason', async () => {
  const { fetch, cancel } = stalled();
  const caller = new AbortController();
  const sent = sendRequest(URL_OF_NOBODY, {}, { fetch, timeoutMs: 60_000, maxBytes: 100, signal: caller.signal });
  setTimeout(() => caller.abort(new Error('the activity was cancelled')), 10);
  await expect(sent).rejects.toThrow('the activity was cancelled');
  expect(cancel).toHaveBeenCalledTimes(1);
});

test('a network that fails is named by its root and its code', async () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  const fetch: Fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const error = await noAnswer(sendRequest(URL_OF_NOBODY, {}, { fetch, timeoutMs: 1000, maxBytes: 0 }));
  expect([error.message, error.isLate, error.code]).toEqual([cause.message, false, 'ECONNREFUSED']);
});

describe('over a real connection', () => {
  const served = async (listener: RequestListener) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { server, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  };

  test('the deadline holds, whatever the garbage collector does meanwhile', async () => {
    const { server, close, url } = await served(() => undefined);
    const sent = noAnswer(sendRequest(url, { method: 'POST', body: 'x' }, { timeoutMs: 200, maxBytes: 0 }));
    await once(server, 'request');
    collectGarbage();
    expect((await sent).isLate).toBe(true);
    close();
  });

  test('a token is sent only to its service: no redirection is followed unless one says so', async () => {
    const { close, url } = await served((_, answer) => answer.writeHead(302, { location: '/elsewhere' }).end());
    expect((await sendRequest(url, {}, { timeoutMs: 1000, maxBytes: 0 })).status).toBe(302);
    close();
  });
});
