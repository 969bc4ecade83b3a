import type { JWTPayload } from 'jose';
import { FakeProvider } from '../../builders/fakeProvider';
import { Browser, CI_TOKEN, Clock, FakeSignOuts, LOCAL, ORIGIN, server, signInOf } from '../../builders/sessionWorld';
import { appOf } from '../../builders/serverWorld';
import { createSignInLink, SIGN_IN_LINK_MS } from '../../../settings/signInLink';

let clock: Clock;
let signOuts: FakeSignOuts;
let provider: FakeProvider;
beforeEach(async () => {
  [clock, signOuts] = [new Clock(), new FakeSignOuts()];
  provider = await FakeProvider.open(clock.now);
  provider.groups.set('alice', ['storage', 'sre']);
});
afterEach(() => provider.close());

const world = (more: Partial<Parameters<typeof server>[0]> = {}) => server({ clock, signOuts, provider, ...more });
const textOf = async (answer: Response) => ({ status: answer.status, text: await answer.text() });

describe('a person who signs in with the identity provider', () => {
  test('is who a bearer token says, in the same groups, comes back to the page, and is on record', async () => {
    const { app, records } = world();
    const browser = new Browser({ app });
    const answer = await browser.signIn(provider, 'alice', '/page?of=kvstore');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/page?of=kvstore']);
    expect(await browser.viewer()).toMatchObject({
      viewer: { principal: 'user:alice', csrf: expect.stringMatching(/^[\w-]{43}$/) as string },
      groups: ['storage', 'sre'],
    });
    expect(records).toMatchObject([
      { operation: 'sign-in', actor: 'user:alice', outcome: 'accepted', result: `by ${provider.issuer}` },
    ]);
  });

  test('has a cookie that no script reads, no neighbour plants, and no other site sends with a form', async () => {
    const browser = new Browser(world());
    const [cookie = ''] = (await browser.signIn(provider, 'alice')).headers
      .getSetCookie()
      .filter((line) => line.startsWith('__Host-conveyor-session='));
    const [, ...attributes] = cookie.split('; ');
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=28800', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  test('keeps nothing readable in the browser: not the name, not the groups, not the renewal token', async () => {
    const browser = new Browser(world());
    await browser.signIn(provider, 'alice');
    const kept = [...browser.cookies.values()].join(' ');
    for (const part of [kept, ...kept.split('.').map((text) => Buffer.from(text, 'base64url').toString('latin1'))])
      expect(part).not.toMatch(/alice|storage|grant-/);
  });

  test('has no access to the API by the cookie: it takes bearer tokens alone', async () => {
    const { app, deps } = world({ config: { reads: 'authenticated' } });
    const browser = new Browser({ app });
    await browser.signIn(provider, 'alice');
    const api = appOf(undefined, { ...deps, ...deps.config });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    expect(cookie).toContain('__Host-conveyor-session=');
    for (const path of ['/v1/me', '/v1/pipelines'])
      expect((await api.request(`${ORIGIN}${path}`, { headers: { cookie } })).status).toBe(401);
  });

  test.each(['//evil.example', 'https://evil.example/', '/\\evil.example', '/sign-in', '/sign-out', 'page'])(
    'comes back to this server, however the link to the sign-in was made: %s',
    async (to) => {
      const browser = new Browser(world());
      expect((await browser.signIn(provider, 'alice', to)).headers.get('location')).toBe('/');
    },
  );

  test('chooses among several providers, each with a link', async () => {
    const signIn = [signInOf(provider), signInOf(provider, { issuer: 'https://other.example.com' })];
    const browser = new Browser(world({ config: { signIn } }));
    const { status, text } = await textOf(await browser.get('/sign-in?to=/page'));
    const links = [...text.matchAll(/href="(\/sign-in\?with=[^"]+)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    expect([status, links.length]).toEqual([200, 2]);
    const begun = await browser.get(links[0] ?? '');
    expect(begun.headers.get('location')).toContain(provider.issuer);
  });

  test('learns why if the provider lists so many groups that the session does not fit into a cookie', async () => {
    provider.groups.set(
      'alice',
      Array.from({ length: 900 }, (_, at) => `${at}-${Math.random()}`),
    );
    const browser = new Browser(world());
    const { status, text } = await textOf(await browser.signIn(provider, 'alice'));
    expect([status, text]).toEqual([403, expect.stringContaining('the provider lists 900 groups')]);
    expect(await browser.principal()).toBeNull();
  });
});

describe('the answer of a provider signs no one in', () => {
  const refused = async (browser: Browser, path: string, why: string): Promise<void> => {
    const { status, text } = await textOf(await browser.get(path));
    expect([status, text]).toEqual([403, expect.stringContaining(why)]);
    expect(await browser.principal()).toBeNull();
  };

  test('a second time, in the same browser or with all of its cookies', async () => {
    const browser = new Browser(world());
    const path = await browser.leaveFor(provider, 'alice');
    const thief = browser.copy();
    expect((await browser.get(path)).status).toBe(303);
    await refused(thief, path, 'invalid_grant');
    expect((await browser.get(path)).status).toBe(403);
    expect(await browser.principal()).toBe('user:alice');
  });

  test('in a browser that did not begin the sign-in, so that no one is signed in as another', async () => {
    const at = world();
    const path = await new Browser(at).leaveFor(provider, 'mallory');
    await refused(new Browser(at), path, 'this browser began no sign-in');
    const victim = new Browser(at);
    await victim.leaveFor(provider, 'alice');
    await refused(victim, path, 'state');
  });

  test('with the state of another sign-in', async () => {
    const browser = new Browser(world());
    const path = await browser.leaveFor(provider, 'alice');
    await refused(browser, path.replace(/state=[^&]*/, 'state=other'), 'state');
  });

  test('more than ten minutes after the sign-in began', async () => {
    const browser = new Browser(world());
    const path = await browser.leaveFor(provider, 'alice');
    clock.ms += 600_000;
    await refused(browser, path, 'more than ten minutes ago');
  });

  test.each<[string, JWTPayload, string]>([
    ['for another sign-in', { nonce: 'another' }, 'nonce'],
    ['for another client', { aud: 'payroll' }, 'aud'],
    ['of another provider', { iss: 'https://evil.example.com' }, 'iss'],
    ['that has ended', { exp: 1 }, 'exp'],
    ['with a name that is none', { sub: 'alice;drop' }, 'user:{sub}'],
  ])('whose ID token is one %s', async (_what, lies, why) => {
    const { app, records } = world();
    const browser = new Browser({ app });
    provider.lies = lies;
    await refused(browser, await browser.leaveFor(provider, 'alice'), why);
    expect(records).toMatchObject([
      { operation: 'sign-in', actor: null, outcome: 'refused', result: expect.stringContaining(why) as string },
    ]);
  });

  test('that refuses, and its words appear as text alone', async () => {
    const browser = new Browser(world());
    const state = new URL(ORIGIN + (await browser.leaveFor(provider, 'alice'))).searchParams.get('state') ?? '';
    const words = { state, error: 'access_denied', error_description: '<script>alert(1)</script>' };
    const { status, text } = await textOf(await browser.get(`/sign-in/callback?${String(new URLSearchParams(words))}`));
    expect([status, text]).toEqual([403, expect.stringContaining('&lt;script&gt;')]);
    expect(text).not.toContain('<script>');
  });
});

test.each(['away', 'silent'] as const)(
  'a provider that is %s is named, and the sign-in can be tried again',
  async (mode) => {
    const browser = new Browser(world());
    provider.mode = mode;
    const { status, text } = await textOf(await browser.get('/sign-in'));
    expect([status, text]).toEqual([503, expect.stringContaining(provider.issuer)]);
    provider.mode = 'honest';
    expect((await browser.signIn(provider, 'alice')).status).toBe(303);
  },
);

describe('without a provider, a person signs in with a token of the configuration', () => {
  const config = { signIn: [], tokens: [{ principal: 'service:ci', tokenEnv: 'CI' }] };
  const csrfIn = (text: string): string => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';

  test('and the session ends when the token is removed', async () => {
    const at = world({ config });
    const browser = new Browser(at);
    const { text } = await textOf(await browser.get('/sign-in?to=/page'));
    const answer = await browser.post('/sign-in', { csrf: csrfIn(text), token: ` ${CI_TOKEN}\n` });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/page']);
    expect(await browser.principal()).toBe('service:ci');
    browser.at = world({ config: { ...config, tokens: [] } });
    expect(await browser.principal()).toBeNull();
  });

  test('a wrong token signs no one in and is on record, without the token', async () => {
    const { app, records } = world({ config });
    const browser = new Browser({ app });
    const { text } = await textOf(await browser.get('/sign-in'));
    const answer = await textOf(await browser.post('/sign-in', { csrf: csrfIn(text), token: 'guessed' }));
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('not one of the configured tokens')]);
    expect(records).toMatchObject([{ operation: 'sign-in', actor: null, outcome: 'refused' }]);
    expect(JSON.stringify(records)).not.toContain('guessed');
  });

  test.each<[string, Record<string, string | undefined>, (csrf: string) => string]>([
    ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, (csrf) => csrf],
    ['without a source', { origin: undefined, 'sec-fetch-site': undefined }, (csrf) => csrf],
    ['of another browser', {}, () => 'of-another-browser'],
  ])('a form %s signs no one in', async (_what, headers, csrf) => {
    const browser = new Browser(world({ config }));
    const { text } = await textOf(await browser.get('/sign-in'));
    const answer = await browser.post('/sign-in', { csrf: csrf(csrfIn(text)), token: CI_TOKEN }, headers);
    expect(answer.status).toBe(403);
    expect(await browser.principal()).toBeNull();
  });

  test('where there is a provider, it takes no tokens', async () => {
    const browser = new Browser(world({ config: { ...config, signIn: [signInOf(provider)] } }));
    expect((await browser.post('/sign-in', { csrf: '', token: CI_TOKEN })).status).toBe(403);
  });
});

describe('a link of conveyor dev signs its user in', () => {
  const linkSignIn = { secret: 'the secret of a stack', principal: 'user:dev' };
  const dev = () => world({ config: { sessions: {}, signIn: [] }, linkSignIn });
  const linkAt = (atMs: number): string => createSignInLink(linkSignIn, '', atMs);

  test('once, at this machine, with a cookie of this port', async () => {
    const browser = new Browser(dev(), LOCAL);
    const link = linkAt(clock.ms);
    expect((await browser.get(link)).status).toBe(303);
    expect([await browser.principal(), [...browser.cookies.keys()]]).toEqual(['user:dev', ['conveyor-session-4500']]);
    const { status, text } = await textOf(await new Browser(browser.at, LOCAL).get(link));
    expect([status, text]).toEqual([403, expect.stringContaining('used before')]);
  });

  test.each<[string, (at: ReturnType<typeof dev>) => Promise<Response>, string]>([
    [
      'for ten minutes only',
      (at) => {
        const link = linkAt(clock.ms);
        clock.ms += SIGN_IN_LINK_MS;
        return new Browser(at, LOCAL).get(link);
      },
      'too old',
    ],
    ['of an earlier start not at all', (at) => new Browser(at, LOCAL).get(linkAt(clock.ms - 1)), 'older than this'],
    ['of another stack not at all', (at) => new Browser(at, LOCAL).get(`${linkAt(clock.ms)}x`), 'not one of this'],
    [
      'from a page of another site not at all',
      (at) => new Browser(at, LOCAL).get(linkAt(clock.ms), { 'sec-fetch-site': 'cross-site' }),
      'another site',
    ],
    [
      'not when the browser fetches it in advance',
      (at) => new Browser(at, LOCAL).get(linkAt(clock.ms), { 'sec-purpose': 'prefetch' }),
      'in advance',
    ],
    [
      'not through a proxy',
      (at) => new Browser(at, LOCAL).get(linkAt(clock.ms), { 'x-forwarded-for': '203.0.113.7' }),
      'address',
    ],
    [
      'not under a name that a page chose for this machine',
      (at) => new Browser(at, 'http://rebound.example.com:4500').get(linkAt(clock.ms)),
      'address',
    ],
  ])('%s', async (_what, follow, why) => {
    const { status, text } = await textOf(await follow(dev()));
    expect([status, text]).toEqual([403, expect.stringContaining(why)]);
  });

  test('and the sign-in page has the server log a new one, at most each minute', async () => {
    const { app, log } = dev();
    const browser = new Browser({ app }, LOCAL);
    expect((await textOf(await browser.get('/sign-in'))).text).toContain('conveyor dev');
    await browser.get('/sign-in');
    expect(log).toHaveLength(1);
    const [, path = ''] = /http:\/\/localhost:4500(\S+)/.exec(log[0] ?? '') ?? [];
    expect((await browser.get(path)).status).toBe(303);
  });
});

test('a server that does not know its address signs no one in under a name that a sender may write', async () => {
  const browser = new Browser(world({ config: { sessions: {} } }), 'https://conveyor.example.com');
  const { status, text } = await textOf(await browser.get('/sign-in'));
  expect([status, text]).toEqual([403, expect.stringContaining('sessions.url')]);
});

test('pages of the sign-in look like all pages, load only from this server, and are in no frame of another site', async () => {
  const answer = await new Browser(world({ config: { signIn: [] } })).get('/sign-in');
  const { headers } = answer;
  expect(await answer.text()).toContain('<nav aria-label="Pages">');
  expect(headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});
