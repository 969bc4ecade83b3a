import { createApp } from '../../../server/app';
import { FakeProvider } from '../../builders/fakeProvider';
import { pageWorld } from '../../builders/pageWorld';
import { Browser, Clock, FakeSignOuts, server } from '../../builders/sessionWorld';

const TOKEN = 'a-token-that-is-long-enough-for-ci';
let provider: FakeProvider;
const clock = new Clock();
beforeEach(async () => {
  provider = await FakeProvider.open(clock.now);
});
afterEach(() => provider.close());

/** A server whose pages need an identity. */
function pages() {
  const config = { reads: 'authenticated', tokens: [{ principal: 'service:ci', tokenEnv: 'CI' }] };
  const { deps } = server({ clock, signOuts: new FakeSignOuts(), provider, config, env: { CI: TOKEN } });
  return { app: createApp({ ...deps, ...pageWorld() }) };
}

test('a page leads a reader who has not signed in to the sign-in, and from there back', async () => {
  const browser = new Browser(pages());
  const refused = await browser.get('/pipelines/kvstore?x=1');
  expect([refused.status, refused.headers.get('location')]).toEqual([
    303,
    '/sign-in?to=%2Fpipelines%2Fkvstore%3Fx%3D1',
  ]);
  const back = await browser.signIn(provider, 'alice', '/pipelines/kvstore?x=1');
  expect([back.status, back.headers.get('location')]).toEqual([303, '/pipelines/kvstore?x=1']);
  const page = await browser.get('/pipelines/kvstore');
  expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
  const text = await page.text();
  expect(text).toContain('<bdi>user:alice</bdi>');
  const [, csrf = ''] = /action="\/sign-out"><input type="hidden" name="csrf" value="([^"]+)"/.exec(text) ?? [];
  expect((await browser.post('/sign-out', { csrf })).status).toBe(303);
  expect((await browser.get('/pipelines/kvstore')).status).toBe(303);
});

test('a program reads the JSON of pages with a token, and is not led anywhere without one', async () => {
  const { app } = pages();
  expect((await app.request('/pipelines/kvstore.json')).status).toBe(401);
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await app.request('/pipelines/kvstore.json', { headers })).status).toBe(200);
});

test('a program with a cookie that is no session any more gets 401 for JSON, and is led nowhere', async () => {
  const browser = new Browser(pages());
  await browser.signIn(provider, 'alice', '/');
  expect((await browser.get('/pipelines/kvstore.json')).status).toBe(200);
  for (const name of browser.cookies.keys()) browser.cookies.set(name, 'old');
  const answer = await browser.get('/pipelines/kvstore.json');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/json']);
  expect((await browser.get('/pipelines/kvstore')).status).toBe(303);
});

test('a session opens no route of the API', async () => {
  const browser = new Browser(pages());
  await browser.signIn(provider, 'alice', '/');
  expect((await browser.get('/v1/pipelines/kvstore')).status).toBe(401);
});
