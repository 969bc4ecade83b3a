import { z } from 'zod';
import { emptySchema, type Protocol } from '../../sdk/protocol/common';
import { ExtensionError, serveProtocol, servePushType, type MutatingCall } from '../../sdk/server';

const protocol = {
  look: { request: z.object({ id: z.string() }), response: z.object({ id: z.string() }), mutates: false },
  change: { request: z.object({ list: z.array(z.object({ n: z.number() })) }), response: emptySchema, mutates: true },
  extra: { request: z.object({}), response: emptySchema, mutates: false, optional: true },
} as const satisfies Protocol;

const context = { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: { jobs: ['a'] } };
const calls: MutatingCall[] = [];
const app = serveProtocol(protocol, 'subject', {
  look: ({ id }) => {
    if (id === 'refused') throw new ExtensionError('no', 'not this one');
    if (id === 'later') throw new ExtensionError('busy', 'try later', { retryable: true });
    if (id === 'broken') throw new Error('a defect');
    return { id };
  },
  change: (_, call) => {
    calls.push(call);
    return {};
  },
});

async function send(method: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await app.request(`/${method}`, { method: 'POST', headers, body: text });
  return { status: response.status, body: (await response.json()) as unknown };
}

const refusal = (code: string, message: unknown, retryable = false) => ({ error: { code, message, retryable } });

test('the implementation gets the request, and beside it the key, the run, the trace and the context', async () => {
  const headers = { 'idempotency-key': 'k', 'x-conveyor-run': 'deploy/kvstore/1/deploy/1', traceparent: '00-a-b-01' };
  expect(await send('change', { context, list: [{ n: 1 }] }, headers)).toEqual({ status: 200, body: {} });
  expect(calls).toEqual([{ context, key: 'k', run: 'deploy/kvstore/1/deploy/1', traceparent: '00-a-b-01' }]);
});

test.each([
  ['a body that is not JSON', 'look', '{', 400, refusal('invalid-request', 'body: not JSON')],
  [
    'a body that nests as deep as its size allows',
    'look',
    '['.repeat(20_000) + ']'.repeat(20_000),
    400,
    refusal('invalid-request', 'body: nested more than 100 levels deep'),
  ],
  ['a body that is not an object', 'look', [], 400, refusal('invalid-request', expect.stringContaining('body: '))],
  [
    'a wrong field',
    'change',
    { context, list: [{ n: 1 }, { n: 'x' }] },
    400,
    refusal('invalid-request', expect.stringContaining('list.1.n: ')),
  ],
  ['a missing context', 'look', { id: 'a' }, 400, refusal('invalid-request', expect.stringContaining('context: '))],
  [
    'a change without a key',
    'change',
    { context, list: [] },
    400,
    refusal('missing-key', expect.stringContaining('Idempotency-Key')),
  ],
  ['an unknown method', 'nothing', {}, 404, refusal('unknown-method', expect.stringContaining('/nothing'))],
  ['an optional method that is left out', 'extra', { context }, 404, refusal('unknown-method', expect.anything())],
  ['what the implementation refuses', 'look', { context, id: 'refused' }, 400, refusal('no', 'not this one')],
  ['what it cannot do now', 'look', { context, id: 'later' }, 503, refusal('busy', 'try later', true)],
  ['a defect of it', 'look', { context, id: 'broken' }, 500, refusal('internal', 'a defect', true)],
  ['more than 1 MiB', 'look', { context, id: 'x'.repeat(1_048_577) }, 413, refusal('too-large', expect.anything())],
])('%s is answered with the error body of the protocol', async (_, method, body, status, expected) => {
  expect(await send(method, body)).toEqual({ status, body: expected });
});

test('a service with a token answers only those who have it', async () => {
  const guarded = serveProtocol(
    protocol,
    'guarded',
    { look: ({ id }) => ({ id }), change: () => ({}) },
    { token: 't0p' },
  );
  const ask = (authorization: string) =>
    guarded.request('/look', {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ context, id: 'a' }),
    });
  expect((await ask('Bearer wrong')).status).toBe(401);
  expect((await ask('Bearer t0p')).status).toBe(200);
});

test('openapi.json describes every method of the protocol, with the key where one is needed', async () => {
  const push = servePushType('hosts', {} as Parameters<typeof servePushType>[1]);
  const description = (await (await push.request('/openapi.json')).json()) as {
    info: { title: string };
    paths: Record<string, { post: { parameters: { name: string; required: boolean }[] } }>;
  };
  expect(description.info.title).toBe('hosts');
  expect(Object.keys(description.paths)).toEqual(
    expect.arrayContaining(['/validateConfig', '/executeUpdates', '/runHealthChecks']),
  );
  const keyed = (method: string) =>
    description.paths[method]?.post.parameters.find(({ name }) => name === 'Idempotency-Key')?.required;
  expect([keyed('/executeUpdates'), keyed('/trackUpdates')]).toEqual([true, false]);
});
