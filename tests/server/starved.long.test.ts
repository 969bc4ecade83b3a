import { conveyorError } from '../../domain/errors';
import { DEFAULT_LIMITS, type FrontClient } from '../../server/deps';
import { appOf, FakePipelines, githubDelivery, pushOf, standardDelivery, TOKEN } from '../builders/serverWorld';

const GITHUB = '/v1/webhooks/github';

/** A delivery that begins with so many bytes of a body, and never continues. */
function stalled(bytes: number, init = githubDelivery('')): RequestInit {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => (bytes > 0 ? controller.enqueue(Buffer.alloc(bytes)) : undefined),
  });
  return { method: 'POST', body, headers: init.headers as Record<string, string>, duplex: 'half' } as RequestInit;
}

type App = ReturnType<typeof appOf>;

const send = async (app: App, init: RequestInit): Promise<Response> => app.request(GITHUB, init);
const honest = async (app: App, n: number): Promise<number> => (await send(app, githubDelivery(pushOf(n)))).status;

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

test('hundreds of connections that send headers and no body keep no honest delivery waiting', async () => {
  const app = appOf();
  const silent = Array.from({ length: 2_000 }, () => send(app, stalled(0)));
  const answers = await Promise.all(Array.from({ length: 25 }, (_, n) => honest(app, n + 1)));
  expect(answers).toEqual(answers.map(() => 202));
  await jest.advanceTimersByTimeAsync(10_000);
  expect(new Set((await Promise.all(silent)).map(({ status }) => status))).toEqual(new Set([408]));
});

test('bodies that are under way take no more memory than they may: the one that takes longest gives way to others', async () => {
  const app = appOf(undefined, { limits: { ...DEFAULT_LIMITS, bodyBytes: 100_000 } });
  const slow = [1, 2, 3, 4].map(() => send(app, stalled(30_000)));
  const first = await slow[0]!;
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await Promise.all([1, 2, 3].map((n) => honest(app, n)))).toEqual([202, 202, 202]);
  await jest.advanceTimersByTimeAsync(10_000);
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([503, 408, 408, 408]);
});

test.each([
  ['github', githubDelivery('', { headers: { 'x-hub-signature-256': undefined } }), 'X-Hub-Signature-256 is missing'],
  ['github', githubDelivery('', { headers: { 'x-hub-signature-256': 'sha1=0' } }), '64 hexadecimal digits'],
  ['standard', standardDelivery('', { headers: { 'webhook-signature': undefined } }), 'webhook-signature is missing'],
  ['standard', standardDelivery('', { atMs: 0 }), 'away from the server'],
])('a delivery of %s with an invalid signature is refused before its body is read (%#)', async (source, init, says) => {
  const response = await appOf().request(`/v1/webhooks/${source}`, stalled(0, init));
  expect([response.status, await response.text()]).toEqual([401, expect.stringContaining(says)]);
});

test('sixty requests at once with one key get one release, though Temporal takes ten updates of a pipeline at a time', async () => {
  jest.useRealTimers();
  let [atOnce, most] = [0, 0];
  const fakes = new FakePipelines();
  const busy =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      most = Math.max(most, (atOnce += 1));
      await new Promise((resolve) => setTimeout(resolve, 2));
      atOnce -= 1;
      if (most > 10) throw conveyorError('no-worker', { id: 'kvstore' });
      return work(...args);
    };
  const client: FrontClient = {
    ...fakes.client,
    release: busy(fakes.client.release),
    command: busy(fakes.client.command),
  };
  const app = appOf(fakes, { client });
  const post = (path: string, body: object): Promise<Response> =>
    Promise.resolve(
      app.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'idempotency-key': 'ci-1' },
        body: JSON.stringify(body),
      }),
    );
  const sixty = (path: string, body: object) => Promise.all(Array.from({ length: 60 }, () => post(path, body)));
  const releases = await sixty('/v1/pipelines/kvstore/releases', { artifacts: [{ name: 'source', version: '1' }] });
  expect(new Set(releases.map(({ status, headers }) => `${status} ${headers.get('location')}`))).toEqual(
    new Set(['202 /v1/releases/kvstore/7']),
  );
  const commands = await sixty('/v1/releases/kvstore/7/commands/pause', { reason: 'the latency' });
  expect(new Set(commands.map(({ status }) => status))).toEqual(new Set([200]));
});
