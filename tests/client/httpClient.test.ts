import { askAt, createHttpClient, type HttpOptions } from '../../client/http/client';
import { serverUrl } from '../../client/http/url';
import type { PipelineSummary } from '../../domain/views';
import { appOf, FakePipelines, TOKEN } from '../builders/serverWorld';

const URL = 'http://localhost:4500';

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A server that answers these, one after the other; the last one for ever. */
function answering(...answers: readonly (Response | Error)[]) {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const options: HttpOptions = {
    ...{ url: URL, token: TOKEN },
    fetch: (url, init) => {
      const answer = answers[Math.min(sent.push({ url, init }), answers.length) - 1];
      return answer instanceof Response ? Promise.resolve(answer.clone()) : Promise.reject(answer ?? new Error('none'));
    },
    sleep: (ms) => Promise.resolve(void pauses.push(ms)),
  };
  return { client: createHttpClient(options), options, sent, pauses };
}

const json = (value: unknown, status = 200): Response => Response.json(value, { status });
const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:4500') });
const gateway = new Response('<h1>Bad Gateway</h1>', { status: 502 });
const started = { id: 'kvstore/7', number: 7, duplicate: false };
const manual = { kind: 'manual', actor: 'user:alice', key: null } as const;
const bodyOf = ({ init }: Sent): { idempotencyKey?: string } => JSON.parse(init.body as string) as object;

describe('where no server answers', () => {
  test('a request that only reads is sent again, a few times, and then the error names the unreachable address', async () => {
    const { client, sent, pauses } = answering(refused);
    await expect(client.spec('kvstore')).rejects.toMatchObject({
      code: 'server-unreachable',
      message: `no Conveyor server answers at ${URL} (connect ECONNREFUSED 127.0.0.1:4500)`,
      exit: 1,
      retryable: true,
    });
    expect([sent.length, pauses]).toEqual([3, [250, 1_000]]);
  });

  test.each([
    ['a refused connection', refused],
    ['a proxy whose server is gone', gateway],
  ])('%s that passes is not noticed', async (_what, first) => {
    const { client } = answering(first, json([]));
    expect(await client.listFinders()).toEqual([]);
  });

  test('an answer without end is read up to its limit, and not asked for again', async () => {
    let sentBytes = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sentBytes += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const options = { url: URL, token: TOKEN, fetch: () => Promise.resolve(new Response(endless)) };
    await expect(createHttpClient(options).listFinders()).rejects.toMatchObject({
      code: 'server-unreachable',
      message: `no Conveyor server answers at ${URL} (its answer is larger than 65536 kB)`,
    });
    expect(sentBytes).toBeLessThan(80 * 1024 * 1024);
  });

  test('a command and an apply are sent once: they may have been taken', async () => {
    const { client, sent } = answering(refused);
    await expect(client.command('kvstore/1', 'pause', { reason: 'r' })).rejects.toThrow('no Conveyor server');
    await expect(client.apply({ pipeline: 'kvstore' } as never, '')).rejects.toThrow('no Conveyor server');
    expect(sent).toHaveLength(2);
  });

  test('a start is sent again with a key of its own, and what its first try started is not a duplicate', async () => {
    const { client, sent } = answering(refused, json({ ...started, duplicate: true }, 202));
    expect(await client.release('kvstore', [], manual)).toEqual(started);
    const [first, second] = sent.map(bodyOf);
    expect(first?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toEqual(first);
  });

  test('a release that was started before with the same key is a duplicate', async () => {
    const { client, sent } = answering(refused, json({ ...started, duplicate: true }, 202));
    expect(await client.release('kvstore', [], { ...manual, key: 'ci-7' })).toMatchObject({ duplicate: true });
    expect(sent.map((one) => bodyOf(one).idempotencyKey)).toEqual(['ci-7', 'ci-7']);
  });

  test('a server that is silent is not asked again', async () => {
    const { client, sent } = answering(new DOMException('timed out', 'TimeoutError'));
    await expect(client.history('kvstore')).rejects.toThrow('no answer within 60 s');
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['a page of something else', new Response('<html>', { status: 200 })],
    ['an error in another form', json({ message: 'no' }, 400)],
    ['a redirect', new Response(null, { status: 302, headers: { location: 'https://evil.example' } })],
  ])('%s is no answer of a Conveyor server', async (_what, answer) => {
    const { client, sent } = answering(answer);
    await expect(client.spec('kvstore')).rejects.toMatchObject({
      code: 'server-unreachable',
      message: expect.stringContaining(`it answered ${answer.status}, but not like a Conveyor server`),
    });
    expect(sent.map(({ init }) => init.redirect)).toEqual(['manual']);
  });

  test('readiness says so instead of throwing', async () => {
    const { client } = answering(refused);
    expect(await client.readiness()).toEqual([
      { name: 'server', ok: false, detail: 'connect ECONNREFUSED 127.0.0.1:4500' },
    ]);
  });
});

describe('a server of another version', () => {
  test('that says no exit code gets one by its status', async () => {
    const error = { code: 'brand-new', message: 'm', hint: 'h', retryable: false };
    for (const [status, exit] of [
      [403, 4],
      [422, 2],
      [409, 1],
    ] as const)
      await expect(answering(json({ error }, status)).client.spec('kvstore')).rejects.toMatchObject({ ...error, exit });
  });
});

describe('a request', () => {
  test('is for the server and the token alone, and no name makes another path', async () => {
    const { client, sent } = answering(json({}));
    await client.spec('a/../b');
    await client.lookNow('release/kv store/1');
    expect(sent.map(({ url }) => url)).toEqual([
      `${URL}/v1/pipelines/a%2F..%2Fb/spec`,
      `${URL}/v1/runs/release/kv%20store/1/look`,
    ]);
    expect(sent[0]?.init.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` });
  });

  test('names no caller without a token', async () => {
    const app = appOf();
    const ask: typeof fetch = (url, init) => Promise.resolve(app.request(url as string, init));
    const client = createHttpClient({ url: URL, token: null, fetch: ask });
    expect(await client.listPipelines({ limit: 3 })).toEqual([]);
    await expect(askAt({ url: URL, token: null, fetch: ask }).whoAmI()).rejects.toMatchObject({
      code: 'unauthorized',
      exit: 4,
    });
    expect(await askAt({ url: URL, token: TOKEN, fetch: ask }).whoAmI()).toMatchObject({ principal: 'service:ci' });
  });
});

describe('a list that is longer than a server lists at once', () => {
  const rows = (count: number) => json(Array.from({ length: count }, (_, n) => ({ id: `p${n}` }) as PipelineSummary));

  test('is refused rather than cut, where all of it was asked for', async () => {
    const { client, sent } = answering(rows(1_000));
    await expect(client.listPipelines({ limit: Infinity })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('more than 1000 pipelines'),
    });
    expect(sent[0]?.url).toBe(`${URL}/v1/pipelines?limit=1000`);
    expect(await client.listPipelines({ limit: 1_000 })).toHaveLength(1_000);
  });

  test('is whole where there are fewer', async () => {
    expect(await answering(rows(999)).client.listPipelines({ limit: Infinity })).toHaveLength(999);
    const pipelines = new FakePipelines();
    expect((await appOf(pipelines).request('/v1/pipelines?limit=1001')).status).toBe(400);
  });
});

describe('the address of a server', () => {
  test.each([
    ['https://conveyor.example.com/', 'https://conveyor.example.com'],
    ['https://example.com/conveyor//', 'https://example.com/conveyor'],
    ['http://localhost:4500', 'http://localhost:4500'],
    ['http://127.0.0.1:4500/', 'http://127.0.0.1:4500'],
    ['http://[::1]:4500', 'http://[::1]:4500'],
  ])('%s is %s', (given, url) => expect(serverUrl(given, { insecure: false })).toBe(url));

  test('in the open is refused unless that is said', () => {
    expect(() => serverUrl('http://conveyor.internal', { insecure: false })).toThrow(/not encrypted/);
    expect(() => serverUrl('http://127.0.0.1.evil.example', { insecure: false })).toThrow(/not encrypted/);
    expect(() => serverUrl('http://localhost.evil.example', { insecure: false })).toThrow(/not encrypted/);
    expect(serverUrl('http://conveyor.internal', { insecure: true })).toBe('http://conveyor.internal');
  });

  test.each(['localhost:4500', 'conveyor', 'ftp://x', 'https://x?token=secret', 'https://me:secret@x'])(
    '%s is refused, and is not repeated',
    (given) => {
      expect(() => serverUrl(given, { insecure: true })).toThrow(/server address|address of the server/);
      expect(() => serverUrl(given, { insecure: true })).not.toThrow(/secret/);
    },
  );
});
