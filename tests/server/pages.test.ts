import { conveyorError, ConveyorError, type ErrorCode } from '../../domain/errors';
import { PAGE_LIMITS } from '../../domain/limits';
import { ASSETS } from '../../pages/assets';
import { SharedLooks } from '../../server/pages/looks';
import { pageWorld } from '../builders/pageWorld';
import { ACCESS, appOf, TOKEN } from '../builders/serverWorld';

const POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const PATHS = ['/', '/pipelines', '/pipelines/kvstore', '/releases/kvstore/13', '/releases/kvstore/13/deploy'];
const app = (over: Parameters<typeof pageWorld>[0] = {}, more: object = {}) =>
  appOf(undefined, { ...pageWorld(over), ...more });

describe('a page over HTTP', () => {
  test.each(PATHS)(
    '%s is HTML that a browser may frame nowhere, and that loads only from this server',
    async (path) => {
      const answer = await app().request(path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
      expect(answer.headers.get('content-security-policy')).toBe(POLICY);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('referrer-policy')).toBe('same-origin');
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(await answer.text()).toContain('</html>');
    },
  );

  test.each([
    ['/pipelines/kvstore.json', '/v1/pipelines/kvstore'],
    ['/releases/kvstore/13.json', '/v1/releases/kvstore/13'],
    ['/releases/kvstore/13/deploy.json', '/v1/releases/kvstore/13/deploy'],
  ])('%s is the answer of the API', async (twin, route) => {
    const [page, api] = [await app().request(twin), await app().request(route)];
    expect(page.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await page.json()).toEqual(await api.json());
  });

  test.each(['/index.json', '/pipelines.json'])('%s is the model of its page', async (path) => {
    const answer = await app().request(path);
    expect([answer.status, typeof (await answer.json())]).toEqual([200, 'object']);
  });

  test('links to its JSON with the same query', async () => {
    const page = await (await app().request('/pipelines?owner=group%3Astorage')).text();
    expect(page).toContain('href="/pipelines.json?owner=group%3Astorage"');
  });

  test('has files that a browser may keep for ever, for all readers', async () => {
    const closed = app({}, { access: { ...ACCESS, reads: 'authenticated' } });
    for (const { path, content } of ASSETS) {
      const answer = await closed.request(path);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(await answer.text()).toBe(content);
    }
    expect((await closed.request('/assets/style-0000.css')).status).toBe(404);
  });

  test('about an action without a deploy is its row on the page of the release', async () => {
    const answer = await app().request('/releases/kvstore/13/build');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/releases/kvstore/13#action-build']);
  });
});

describe('the readers of pages are those of the API', () => {
  const closed = () => app({}, { access: { ...ACCESS, reads: 'authenticated' } });

  test.each([...PATHS, '/pipelines.json', '/index.json'])('%s needs a token where reading needs one', async (path) => {
    expect((await closed().request(path)).status).toBe(401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await closed().request(path, { headers });
    expect(answer.status).toBe(200);
    if (!path.endsWith('.json')) expect(await answer.text()).toContain('service:ci');
  });

  test.each(PATHS)('%s is refused under a name that is not of this machine, as in /v1', async (path) => {
    const answer = await app().request(`http://rebound.example.com:4500${path}`);
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('only this machine may read')]);
  });
});

describe('a failure is a page in the words of the API', () => {
  const failures: readonly (readonly [ErrorCode, ConveyorError, number])[] = [
    [
      'temporal-unreachable',
      conveyorError('temporal-unreachable', { address: 'localhost:7233', detail: 'refused' }),
      503,
    ],
    ['unknown-pipeline', conveyorError('unknown-pipeline', { pipeline: 'kvstore' }), 404],
    ['overloaded', conveyorError('overloaded', { waiting: 7 }), 503],
  ];

  test.each(failures)('%s', async (code, error, status) => {
    const broken = app({ status: () => Promise.reject(error) });
    const [page, api] = [await broken.request('/pipelines/kvstore'), await broken.request('/v1/pipelines/kvstore')];
    expect([page.status, api.status]).toEqual([status, status]);
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    expect(page.headers.get('retry-after')).toBe(api.headers.get('retry-after'));
    const { error: words } = (await api.json()) as { error: { code: string; message: string } };
    expect(words.code).toBe(code);
    expect(await page.text()).toContain(words.message.replace(/"/g, '&quot;').replace(/'/g, '&#39;'));
  });

  test('that is unexpected has no details', async () => {
    const broken = app({ status: () => Promise.reject(new Error('the password is 123')) });
    const answer = await broken.request('/pipelines/kvstore');
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('123')]);
  });

  test.each(['/releases/kvstore/x', '/pipelines/KV', '/releases/kvstore%2F13/2', '/releases/kvstore/13/a%2Fb'])(
    '%s names no release and no pipeline',
    async (path) => expect((await app().request(path)).status).toBe(400),
  );

  test('an unknown address is a page for a browser, and JSON for a program', async () => {
    const browser = await app().request('/nowhere', { headers: { accept: 'text/html,*/*' } });
    expect([browser.status, browser.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
    expect((await app().request('/nowhere')).headers.get('content-type')).toMatch(/^application\/json/);
    expect((await app().request('/pipelines/nowhere.json')).headers.get('content-type')).toMatch(/^application\/json/);
  });

  test('without a worker, a page shows the last known state and says so', async () => {
    const silent = app({
      status: () => Promise.reject(conveyorError('no-worker', { id: 'kvstore' })),
      listDeploys: () => Promise.resolve([]),
    });
    const answer = await silent.request('/pipelines/kvstore');
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Last known state.')]);
  });

  test.each(['q', 'owner', 'label'])('a filter %s that is too long is refused', async (name) => {
    const path = (length: number): string => `/pipelines?${name}=${'x'.repeat(length)}`;
    expect((await app().request(path(PAGE_LIMITS.filter.max))).status).toBe(200);
    expect((await app().request(path(PAGE_LIMITS.filter.max + 1))).status).toBe(400);
  });
});

describe('many readers of one page', () => {
  test('share one look at Temporal within a second', async () => {
    const asked: string[] = [];
    let now = 0;
    const world = pageWorld();
    const status = (id: string) => (asked.push(id), world.client.status(id));
    const shared = app({ status }, { now: () => now });
    await Promise.all(Array.from({ length: 50 }, async () => shared.request('/pipelines/kvstore')));
    expect(asked.filter((id) => id === 'kvstore')).toHaveLength(1);
    now += 1_000;
    await shared.request('/pipelines/kvstore');
    expect(asked.filter((id) => id === 'kvstore')).toHaveLength(2);
  });

  test('cost memory for a limited number of things', async () => {
    let asked = 0;
    const looks = new SharedLooks({ status: () => Promise.resolve({ id: String((asked += 1)) } as never) }, 3, () => 0);
    for (const id of ['a', 'b', 'c', 'a', 'd', 'a']) await looks.status(id);
    expect(asked).toBe(4);
    await looks.status('b');
    expect(asked).toBe(5);
  });
});
