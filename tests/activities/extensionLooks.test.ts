import { createExtensionLookActivities } from '../../activities/extensionLooks';
import { parseRegistry } from '../../settings/registry';

const URLS = {
  here: 'http://here:1/a/secret',
  gone: 'http://gone:2',
  proxied: 'http://proxied:3',
  mute: 'http://mute:4',
};
const registry = parseRegistry(
  {
    extensions: Object.entries(URLS).map(([name, url]) => ({ name, kind: 'push-type', url, tokenEnv: 'TOKEN' })),
  },
  { TOKEN: 'secret' },
);

const OWN = { identity: '12@one', ownClock: { now: () => Promise.resolve(7), sleep: () => Promise.resolve() } };

test('a worker names itself with the time of its own clock', async () =>
  expect(await createExtensionLookActivities({ registry, ...OWN }).lookAtClock({ holdMs: 1 })).toEqual({
    ...{ identity: '12@one', atMs: 7 },
  }));

test('a worker says of each extension at once whether it answers, whatever it answers, and shows it no token', async () => {
  const asked: Request[] = [];
  const answers: Record<string, () => Promise<Response>> = {
    here: () => Promise.resolve(new Response('unknown-method', { status: 404 })),
    gone: () => Promise.reject(new Error('fetch failed', { cause: new Error('connect ECONNREFUSED 10.0.0.1:2') })),
    proxied: () => Promise.resolve(new Response('bad gateway', { status: 502 })),
    mute: () => new Promise(() => undefined),
  };
  const { lookAtExtensions } = createExtensionLookActivities({
    registry,
    ...OWN,
    fetch: (request, init) => {
      asked.push(request);
      const over = new Promise<never>((_, reject) =>
        init?.signal.addEventListener('abort', () => reject(init.signal.reason as Error)),
      );
      return Promise.race([answers[new URL(request.url).hostname]!(), over]);
    },
  });
  expect(await lookAtExtensions({ answerMs: 50 })).toEqual([
    { kind: 'push-type', name: 'here', address: 'http://here:1/…', trouble: null },
    { kind: 'push-type', name: 'gone', address: 'http://gone:2', trouble: 'connect ECONNREFUSED 10.0.0.1:2' },
    { kind: 'push-type', name: 'proxied', address: 'http://proxied:3', trouble: 'it answers with status 502' },
    { kind: 'push-type', name: 'mute', address: 'http://mute:4', trouble: 'no answer within 50 ms' },
  ]);
  expect(asked.map(({ method, headers }) => [method, headers.get('authorization')])).toEqual(
    Object.keys(URLS).map(() => ['GET', null]),
  );
});
