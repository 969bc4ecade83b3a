import { createApp } from '../../../server/app';
import { FakeProvider } from '../../builders/fakeProvider';
import { pageWorld } from '../../builders/pageWorld';
import { auditRecord } from '../../builders/recordPages';
import { Browser, Clock, FakeSignOuts, server } from '../../builders/sessionWorld';

let provider: FakeProvider;
const clock = new Clock();
beforeEach(async () => {
  provider = await FakeProvider.open(clock.now);
});
afterEach(() => provider.close());

/** A server on which alice is an admin, and which keeps an audit. */
function pages() {
  const config = { groups: { sre: ['user:alice'] }, platform: { admins: ['group:sre'] } };
  const { deps } = server({ clock, signOuts: new FakeSignOuts(), provider, config });
  const audit = {
    ...deps.audit,
    read: () => Promise.resolve({ records: [auditRecord(2)], next: null }),
  } as never;
  return { app: createApp({ ...deps, ...pageWorld(), now: clock.now, audit }) };
}

test('a person sees their name, groups, rights and session, and signs out everywhere from there', async () => {
  const at = pages();
  const [browser, other] = [new Browser(at), new Browser(at)];
  await browser.signIn(provider, 'alice', '/settings');
  await other.signIn(provider, 'alice', '/settings');
  const page = await (await browser.get('/settings')).text();
  for (const word of ['user:alice', 'group:sre', 'platform.admins', 'By the identity provider', 'Settings in force'])
    expect(page).toContain(word);
  const [, csrf = ''] =
    /action="\/sign-out\/everywhere"><input type="hidden" name="csrf" value="([^"]+)"/.exec(page) ?? [];
  expect((await browser.post('/sign-out/everywhere', { csrf })).status).toBe(303);
  clock.ms += 60_000;
  expect(await (await other.get('/settings')).text()).toContain('Nobody is signed in');
});

test('a session reads the audit as its person may: an admin all of it, others get the refusal', async () => {
  const at = pages();
  const [admin, other] = [new Browser(at), new Browser(at)];
  await admin.signIn(provider, 'alice', '/');
  await other.signIn(provider, 'bob', '/');
  const allowed = await admin.get('/audit');
  expect([allowed.status, await allowed.text()]).toEqual([
    200,
    expect.stringContaining('the load balancer is replaced'),
  ]);
  const refused = await other.get('/audit');
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('is for platform.admins')]);
  expect(await (await other.get('/settings')).text()).not.toContain('queues of requests');
});
