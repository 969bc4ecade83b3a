import { SESSION_LIMITS } from '../../../domain/limits';
import { FakeProvider } from '../../builders/fakeProvider';
import {
  Browser,
  Clock,
  FakeSignOuts,
  OLD_SECRET,
  ORIGIN,
  SECRET,
  server,
  signInOf,
} from '../../builders/sessionWorld';

const [MINUTE, HOUR] = [60_000, 3_600_000];
let clock: Clock;
let signOuts: FakeSignOuts;
let provider: FakeProvider;
beforeEach(async () => {
  [clock, signOuts] = [new Clock(), new FakeSignOuts()];
  provider = await FakeProvider.open(clock.now);
  provider.groups.set('alice', ['storage']);
});
afterEach(() => provider.close());

const world = (more: Partial<Parameters<typeof server>[0]> = {}) => server({ clock, signOuts, provider, ...more });

async function signedIn(at = world(), person = 'alice'): Promise<Browser> {
  const browser = new Browser(at);
  expect((await browser.signIn(provider, person)).status).toBe(303);
  return browser;
}

describe('a signed-out session is gone', () => {
  test('at every server and after a restart, also with a copy of the cookie; other sessions stay', async () => {
    const [here, there] = [world(), world()];
    const [browser, other] = [await signedIn(here), await signedIn(here)];
    const thief = browser.copy(there);
    expect(await thief.principal()).toBe('user:alice');
    const answer = await browser.signOut();
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in?signed-out']);
    expect([...browser.cookies.keys()]).toEqual([]);
    const before = thief.copy(here);
    expect(await before.principal()).toBeNull();
    clock.ms += 5_000;
    expect(await thief.copy(there).principal()).toBeNull();
    expect(await thief.copy(world()).principal()).toBeNull();
    expect(await other.principal()).toBe('user:alice');
    expect(provider.revoked).toHaveLength(1);
  });

  test('for a form at once, at every server', async () => {
    const [here, there] = [world(), world()];
    const browser = await signedIn(here);
    const thief = browser.copy(there);
    const { viewer } = await thief.viewer();
    await browser.signOut();
    expect((await thief.post('/page', { csrf: viewer?.csrf ?? '', verb: 'revert' })).status).toBe(403);
    expect(there.changes).toEqual([]);
  });

  test('with all others of the person, and of no other, by a sign-out everywhere', async () => {
    const [here, there] = [world(), world()];
    const [first, second, bob] = [await signedIn(here), await signedIn(there), await signedIn(there, 'bob')];
    expect(await second.principal()).toBe('user:alice');
    expect((await first.signOut('/sign-out/everywhere')).status).toBe(303);
    clock.ms += 5_000;
    expect([await second.principal(), await bob.principal()]).toEqual([null, 'user:bob']);
    const next = await signedIn(there);
    next.at = here;
    expect(await next.principal()).toBe('user:alice');
    next.at = world();
    expect(await next.principal()).toBe('user:alice');
  });

  test('and both are on record', async () => {
    const at = world();
    await (await signedIn(at)).signOut();
    await (await signedIn(at)).signOut('/sign-out/everywhere');
    expect(at.records.filter(({ operation }) => operation === 'sign-out')).toMatchObject([
      { actor: 'user:alice', outcome: 'accepted', result: 'one session' },
      { actor: 'user:alice', outcome: 'accepted', result: 'all sessions' },
    ]);
  });
});

describe('while Temporal does not answer', () => {
  test('a session that a server has seen counts for ten minutes, and others do not count', async () => {
    const [here, there] = [world({ config: { reads: 'authenticated' } }), world()];
    const browser = await signedIn(here);
    expect(await browser.principal()).toBe('user:alice');
    signOuts.isAway = true;
    expect(await browser.copy(there).principal()).toBeNull();
    clock.ms += 10 * MINUTE - 1;
    expect(await browser.principal()).toBe('user:alice');
    clock.ms += 1;
    expect((await browser.get('/page')).status).toBe(503);
    signOuts.isAway = false;
    expect(await browser.principal()).toBe('user:alice');
  });

  test('a sign-out forgets the session in its browser and says that copies stay valid', async () => {
    const at = world();
    const browser = await signedIn(at);
    const { viewer } = await browser.viewer();
    signOuts.isAway = true;
    const answer = await browser.post('/sign-out', { csrf: viewer?.csrf ?? '' });
    expect([answer.status, [...browser.cookies.keys()]]).toEqual([503, []]);
    expect(await answer.text()).toContain('stay valid until');
    expect(at.records.at(-1)).toMatchObject({ operation: 'sign-out', outcome: 'unknown' });
  });

  test('no one is signed in, because a sign-out everywhere may have come before', async () => {
    signOuts.isAway = true;
    const browser = new Browser(world());
    expect((await browser.signIn(provider, 'alice')).status).toBe(503);
    expect(await browser.principal()).toBeNull();
  });
});

describe('a session ends', () => {
  const tokens = { signIn: [], tokens: [{ principal: 'service:ci', tokenEnv: 'CI' }] };

  test('after eight hours without use, and after a week in any case', async () => {
    const browser = await signedIn();
    clock.ms += 8 * HOUR;
    expect(await browser.principal()).toBeNull();
    const used = await signedIn();
    for (let hours = 0; hours < 7 * 24; hours += 7) {
      clock.ms += 7 * HOUR - 1;
      expect(await used.principal()).toBe('user:alice');
    }
    clock.ms += HOUR;
    expect(await used.principal()).toBeNull();
  });

  test('with its ID token if the provider gives no renewal token', async () => {
    provider.withRefreshTokens = false;
    const browser = await signedIn();
    clock.ms += HOUR - 1_000;
    expect(await browser.principal()).toBe('user:alice');
    clock.ms += 1_000;
    expect(await browser.principal()).toBeNull();
  });

  test.each<[string, object]>([
    ['is removed', tokens],
    ['names people in another way', { principal: 'service:{sub}' }],
    ['reads groups from another claim', { groups: 'roles' }],
    ['is only for some', { only: { department: 'storage' } }],
  ])('when the entry of its provider %s', async (_what, change) => {
    const browser = await signedIn();
    browser.at = world({ config: 'signIn' in change ? change : { signIn: [signInOf(provider, change)] } });
    expect(await browser.principal()).toBeNull();
  });

  test.each<[string, (cookie: string) => string]>([
    ['changed in one character', (text) => `${text.slice(0, -5)}${text.at(-5) === 'A' ? 'B' : 'A'}${text.slice(-4)}`],
    ['changed in its content', (text) => text.replace(/\.([\w-])([\w-]+)\.([\w-]+)$/, '.$2$1.$3')],
    ['cut', (text) => text.slice(0, 100)],
    ['empty', () => ''],
    ['that is no cookie of this server', () => 'e30.e30.e30.e30.e30'],
    ['larger than any that this server makes', (text) => text + 'A'.repeat(5_000)],
  ])('for a cookie %s', async (_what, change) => {
    const browser = await signedIn();
    const name = '__Host-conveyor-session';
    browser.cookies.set(name, change(browser.cookies.get(name) ?? ''));
    expect(await browser.principal()).toBeNull();
  });

  test('and a cookie of a sign-in under way is no session', async () => {
    const browser = new Browser(world());
    await browser.leaveFor(provider, 'alice');
    browser.cookies.set('__Host-conveyor-session', browser.cookies.get('__Host-conveyor-sign-in') ?? '');
    expect(await browser.principal()).toBeNull();
  });

  test('with its secret: the new one is used while the old one is accepted, and then the old one is worth nothing', async () => {
    const old = await signedIn(world({ env: { NEW: OLD_SECRET } }));
    old.at = world({ env: { NEW: SECRET, OLD: OLD_SECRET } });
    const { viewer } = await old.viewer();
    expect((await old.post('/page', { csrf: viewer?.csrf ?? '', verb: 'pause' })).status).toBe(200);
    const copy = old.copy(world({ env: { NEW: SECRET } }));
    expect(await copy.principal()).toBeNull();
    clock.ms += 16 * MINUTE;
    expect(await old.principal()).toBe('user:alice');
    old.at = world({ env: { NEW: SECRET } });
    expect(await old.principal()).toBe('user:alice');
  });
});

describe('a session is renewed while it is used', () => {
  test('after a quarter of an hour, with the groups that the provider lists by then', async () => {
    const browser = await signedIn();
    provider.groups.set('alice', ['sre']);
    expect((await browser.viewer()).groups).toEqual(['storage']);
    clock.ms += 15 * MINUTE;
    const { groups, viewer } = await browser.viewer();
    expect([groups, viewer?.until]).toEqual([['sre'], new Date(clock.ms + 8 * HOUR).toISOString()]);
  });

  test('by a page or a form, so that the parts of a page do not all ask; after an hour by any request', async () => {
    const browser = await signedIn();
    provider.groups.set('alice', ['sre']);
    clock.ms += 59 * MINUTE;
    expect((await browser.viewer({ 'sec-fetch-mode': 'cors' })).groups).toEqual(['storage']);
    clock.ms += MINUTE;
    expect((await browser.viewer({ 'sec-fetch-mode': 'cors' })).groups).toEqual(['sre']);
  });

  test('once for requests that come at the same time, because a provider takes a renewal token once', async () => {
    const browser = await signedIn();
    clock.ms += 15 * MINUTE;
    const tabs = Array.from({ length: 5 }, () => browser.copy());
    expect(await Promise.all(tabs.map((tab) => tab.principal()))).toEqual(Array(5).fill('user:alice'));
    expect(provider.asked.get('/token')).toBe(2);
  });

  test('and ends, with all copies at all servers, if the provider no longer knows the person', async () => {
    const browser = await signedIn();
    const copy = browser.copy(world());
    provider.left.add('alice');
    clock.ms += 15 * MINUTE;
    expect(await browser.principal()).toBeNull();
    expect(await copy.principal()).toBeNull();
    expect(await copy.copy(world()).principal()).toBeNull();
  });

  test('and ends if the provider names another person', async () => {
    const browser = await signedIn();
    provider.lies = { sub: 'bob' };
    clock.ms += 15 * MINUTE;
    expect(await browser.principal()).toBeNull();
  });

  test('or not, while the provider is away: it continues until its end, and the provider is asked once a minute', async () => {
    const browser = await signedIn();
    provider.mode = 'away';
    clock.ms += HOUR;
    for (let times = 0; times < 5; times += 1) expect(await browser.principal()).toBe('user:alice');
    clock.ms += MINUTE;
    provider.mode = 'honest';
    provider.groups.set('alice', ['sre']);
    expect((await browser.viewer()).groups).toEqual(['sre']);
  });

  test('without a page that waits for a silent provider', async () => {
    const browser = await signedIn();
    provider.mode = 'silent';
    clock.ms += 15 * MINUTE;
    const from = performance.now();
    expect(await browser.principal()).toBe('user:alice');
    expect(performance.now() - from).toBeLessThan(4_000);
  });
});

describe('a form is refused, and changes nothing', () => {
  const OTHER = 'https://evil.example';
  test.each<[string, Record<string, string>, Record<string, string | undefined>]>([
    ['without a token', { csrf: '' }, {}],
    ['with the token of another session', { csrf: 'other' }, {}],
    ['from another origin', {}, { origin: OTHER, 'sec-fetch-site': undefined }],
    ['from another site', {}, { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour of the site', {}, { 'sec-fetch-site': 'same-site' }],
    ['from another site that claims our origin', {}, { origin: ORIGIN, 'sec-fetch-site': 'cross-site' }],
    ['from our origin, over http', {}, { origin: ORIGIN.replace('https', 'http'), 'sec-fetch-site': undefined }],
    ['from a page that hides its origin', {}, { origin: 'null', 'sec-fetch-site': undefined }],
    ['from a page that does not say which', {}, { origin: undefined, 'sec-fetch-site': undefined }],
    ['typed as an address', {}, { origin: undefined, 'sec-fetch-site': 'none' }],
    ['as JSON', {}, { 'content-type': 'application/json' }],
    ['as text', {}, { 'content-type': 'text/plain' }],
  ])('%s', async (_what, fields, headers) => {
    const at = world();
    const [browser, bob] = [await signedIn(at), await signedIn(at, 'bob')];
    const own = (await browser.viewer()).viewer?.csrf ?? '';
    const csrf = fields['csrf'] === 'other' ? ((await bob.viewer()).viewer?.csrf ?? '') : (fields['csrf'] ?? own);
    const sent = await browser.post('/page', { csrf, verb: 'revert' }, headers);
    expect([sent.status, at.changes]).toEqual([403, []]);
    expect((await browser.post('/page', { csrf: own, verb: 'revert' })).status).toBe(200);
    expect(at.changes).toEqual(['user:alice revert']);
  });

  test('that an anonymous reader sends', async () => {
    const at = world();
    expect((await new Browser(at).post('/page', { csrf: 'x', verb: 'revert' })).status).toBe(403);
    expect(at.changes).toEqual([]);
  });

  test('that is too large', async () => {
    const at = world();
    const browser = await signedIn(at);
    const csrf = (await browser.viewer()).viewer?.csrf ?? '';
    expect((await browser.post('/page', { csrf, verb: 'x'.repeat(SESSION_LIMITS.form.max) })).status).toBe(413);
    expect(at.changes).toEqual([]);
  });

  test.each(['/sign-out', '/sign-out/everywhere'])('and a link signs no one out: %s', async (path) => {
    const browser = await signedIn();
    expect((await browser.get(path)).status).toBe(404);
    expect(await browser.principal()).toBe('user:alice');
    expect((await browser.post(path, { csrf: 'guessed' })).status).toBe(403);
    expect(await browser.principal()).toBe('user:alice');
  });
});

describe('an anonymous reader', () => {
  test('sees pages where reading is open', async () => {
    expect(await new Browser(world()).viewer()).toEqual({ viewer: null, groups: null });
  });

  test('is led to the sign-in and back where it is not; a script gets 401', async () => {
    const browser = new Browser(world({ config: { reads: 'authenticated' } }));
    const answer = await browser.get('/page?of=kvstore&x=1');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/sign-in?to=%2Fpage%3Fof%3Dkvstore%26x%3D1',
    ]);
    expect((await browser.get('/page', { 'sec-fetch-mode': 'cors' })).status).toBe(401);
  });
});

test('every sign-in begins a session with a new id, so that no session that was planted before becomes one of the person', async () => {
  const at = world();
  const planted = await signedIn(at, 'mallory');
  const victim = planted.copy();
  const before = (await planted.viewer()).viewer?.csrf;
  await victim.signIn(provider, 'alice');
  expect([await victim.principal(), await planted.principal()]).toEqual(['user:alice', 'user:mallory']);
  expect((await victim.viewer()).viewer?.csrf).not.toBe(before);
});

test('pages of a person are not kept by caches', async () => {
  const { headers } = await (await signedIn()).get('/page');
  expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['private, no-store', 'cookie']);
});
