import { setImmediate } from 'node:timers/promises';
import { conveyorError } from '../../domain/errors';
import { newBug } from '../builders/bugs';
import { NO_TALLIES } from '../builders/statsTallies';
import { auditRecord, POLICY } from '../builders/recordPages';
import { renderPipelinesPage } from '../../pages/pipelines';
import { PAGE_PLACES, PAGE_ROWS } from '../../server/pages/list';
import { FRAME, pageWorld } from '../builders/pageWorld';
import { ACCESS, appOf, TOKEN } from '../builders/serverWorld';

const BEARER = { authorization: `Bearer ${TOKEN}` };
const ARCHIVE = {
  mark: () => Promise.resolve(null),
  tallies: () => Promise.resolve(NO_TALLIES),
  findReleases: () => Promise.resolve([]),
};
const AUDIT = {
  read: () => Promise.resolve({ records: [auditRecord(2)], next: { changes: 12, refusals: 7 } }),
  verify: () => Promise.resolve([]),
  recordAnonymous: () => Promise.resolve(),
};
const AWAY = conveyorError('no-worker', { id: 'kvstore' });
const PLAIN_SPEC = { schedule: { mode: 'continuous' }, actions: {} };
const ADMIN = { ...POLICY, admins: ['service:ci'] };

type Given = Parameters<typeof appOf>[1];
const clientWith = (over: Parameters<typeof pageWorld>[0] = {}) => {
  const { client } = pageWorld({ listBugs: () => Promise.resolve([newBug({ id: 'bug/7' })]), ...over });
  return client;
};
const app = (more: Given = {}) => appOf(undefined, { ...pageWorld(), client: clientWith(), ...more });
const read = async (path: string, more: Given = {}, headers: Record<string, string> = {}) => {
  const answer = await app(more).request(path, { headers });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') };
};

const PLACES = ['/where', '/calendar', '/bugs', '/freshness', '/config', '/gates', '/settings'];

describe('a page over HTTP', () => {
  test.each([...PLACES, '/stats', '/where?revision=kv:12', '/bugs/7'])('%s is HTML', async (path) => {
    const given = { archive: ARCHIVE } as never;
    const { status, text, type } = await read(path, given);
    expect([status, type]).toEqual([200, 'text/html; charset=UTF-8']);
    expect(text).toContain('</html>');
  });

  test.each([
    ['/where.json?revision=kv:12', '/v1/where?revision=kv:12'],
    ['/bugs.json', '/v1/bugs'],
    ['/bugs/7.json', '/v1/bugs/7'],
    ['/freshness.json', '/v1/freshness'],
    ['/stats.json?by=all', '/v1/stats?by=all'],
    ['/config.json', '/v1/config'],
    ['/audit.json?limit=100', '/v1/audit?limit=100'],
  ])('%s is the answer of the API', async (twin, route) => {
    const given = { archive: ARCHIVE, audit: AUDIT, policy: ADMIN } as never;
    const [page, api] = [await read(twin, given, BEARER), await read(route, given, BEARER)];
    expect([page.status, api.status]).toEqual([200, 200]);
    expect(JSON.parse(page.text)).toEqual(JSON.parse(api.text));
  });

  test.each([...PLACES, '/stats', '/audit'])('%s needs a token where reading needs one', async (path) => {
    const closed = { access: { ...ACCESS, reads: 'authenticated' }, policy: ADMIN, audit: AUDIT } as never;
    expect((await read(path, closed)).status).toBe(401);
    expect((await read(path, closed, BEARER)).status).toBe(200);
  });

  test.each([
    '/where?revision=a%1b',
    '/audit?since=never',
    '/stats?since=never',
    '/stats?by=month',
    '/freshness?state=old',
  ])('%s is refused as the API refuses it', async (path) => {
    const given = { archive: ARCHIVE, audit: AUDIT, policy: ADMIN } as never;
    expect((await read(path, given, BEARER)).status).toBe(400);
  });

  test('an unknown bug and an unknown repository are named', async () => {
    expect(await read('/bugs/99')).toMatchObject({ status: 404, text: expect.stringContaining('bug/99') as string });
    expect(await read('/config/nowhere')).toMatchObject({ status: 404 });
    expect(await read('/gates/nowhere/checkout')).toMatchObject({ status: 404 });
  });
});

describe('the audit', () => {
  test('is for admins; another reader gets the refusal with its reason, and an anonymous one the way in', async () => {
    const given = { audit: AUDIT, policy: POLICY } as never;
    expect(await read('/audit', given)).toMatchObject({
      status: 401,
      text: expect.stringContaining('Sign in to read this') as string,
    });
    const refused = await read('/audit', given, BEARER);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('all of the audit is for platform.admins');
    const allowed = await read('/audit', { audit: AUDIT, policy: ADMIN } as never, BEARER);
    expect(allowed.text).toContain('the load balancer is replaced');
  });

  test('for a pipeline is open to its owners', async () => {
    const client = clientWith({ spec: () => Promise.resolve({ owners: ['service:ci'] } as never) });
    const given = { audit: AUDIT, policy: POLICY, client } as never;
    expect((await read('/audit?pipeline=kvstore', given, BEARER)).status).toBe(200);
    expect((await read('/audit', given, BEARER)).status).toBe(403);
  });

  test('that the server does not keep is said, with what to add', async () => {
    const { status, text } = await read('/audit', {}, BEARER);
    expect([status, text]).toEqual([200, expect.stringContaining('This server keeps no audit')]);
  });
});

describe('settings in force', () => {
  const SECRETS = [
    'the signing secret',
    'bot-token',
    'callback secret',
    'session secret',
    'client secret',
    'store password',
  ];
  const given = {
    policy: ADMIN,
    callbacks: { url: 'https://u:callback-path@conveyor.example.com/secret-path', secrets: ['callback secret'] },
    slack: {
      ...{ secrets: ['the signing secret'], secretEnvs: ['S'], token: 'bot-token', users: { U1: 'user:alice' } },
      emails: { team: 'T012AB3CD', domains: ['example.com'], principal: 'user:{email}' },
    },
    sessions: { url: 'https://conveyor.example.com', secrets: ['session secret'], unset: [] },
    issuers: [
      {
        ...{
          issuer: 'https://id.example.com',
          audience: 'conveyor',
          client: null,
          scopes: [],
          principal: 'user:{email}',
        },
        ...{ groups: 'groups', only: {}, pages: { client: 'web', scopes: [], secret: 'client secret', unset: [] } },
      },
    ],
    configRepositories: [
      {
        ...{ name: 'flags', git: 'https://bot:git-password@git.example.com/flags.git', branch: 'main' },
        ...{
          etcd: 'http://root:etcd-password@store:2379',
          login: { user: 'conveyor', passwordEnv: 'P', password: 'store password' },
        },
      },
    ],
  } as never;

  test('are shown to admins without any secret, on the page and as JSON', async () => {
    for (const path of ['/settings', '/settings.json']) {
      const { status, text } = await read(path, given, BEARER);
      expect(status).toBe(200);
      const words = ['service:ci', 'https://id.example.com', 'conveyor.example.com', 'config.repositories.flags'];
      for (const word of [...words, '1 by their ids, those of T012AB3CD at example.com as user:{email}'])
        expect(text).toContain(word);
      for (const secret of [...SECRETS, TOKEN, 'callback-path', 'secret-path', 'git-password', 'etcd-password'])
        expect([secret, text.includes(secret)]).toEqual([secret, false]);
    }
  });

  test('are not shown to others, who see why', async () => {
    const { text } = await read('/settings', { policy: POLICY } as never, BEARER);
    expect(text).toContain('the settings in force are for platform.admins');
    expect(text).not.toContain('queues of requests');
    expect((await read('/settings')).text).toContain('Nobody is signed in');
  });
});

test('many readers of one report share one read', async () => {
  let reads = 0;
  const archive = { ...ARCHIVE, tallies: () => Promise.resolve(((reads += 1), NO_TALLIES)) };
  const shared = app({ archive } as never);
  await Promise.all(Array.from({ length: 20 }, async () => shared.request('/stats?by=all')));
  expect(reads).toBe(1);
});

test('the calendar of a page shows the pipelines whose files arrive, and names the others', async () => {
  const spec = {
    ...{ schedule: { mode: 'calendar', gates: 'deploys', calendar: '0 9 * * *', timezone: 'UTC' }, actions: {} },
  };
  const client = clientWith({
    spec: (id: string) =>
      id === 'kvstore' ? Promise.resolve(spec as never) : Promise.reject(conveyorError('no-worker', { id })),
  });
  const { text } = await read('/calendar', { client } as never);
  expect(text).toContain('deploys may begin, by the calendar 0 9 * * * (UTC)');
  expect(text).toContain('its file did not arrive in time');
  const json = JSON.parse((await read('/calendar.json', { client } as never)).text) as { agendas: { id: string }[] };
  expect(json.agendas[0]).toMatchObject({ id: 'kvstore', problem: null });
});

test.each<[string, (fails: () => boolean) => Parameters<typeof pageWorld>[0]]>([
  [
    '/freshness',
    (fails) => ({
      freshness: () => (fails() ? Promise.reject(AWAY) : pageWorld().client.freshness()),
    }),
  ],
  ['/calendar', (fails) => ({ spec: () => (fails() ? Promise.reject(AWAY) : Promise.resolve(PLAIN_SPEC as never)) })],
])('%s shows its last answer while it is read again, and says since when it is old and why', async (path, given) => {
  const state = { nowMs: Date.parse('2026-11-20T14:00:00.000Z'), fails: false };
  const one = app({ client: clientWith(given(() => state.fails)), now: () => state.nowMs });
  const open = async (): Promise<[number, string]> => {
    const answer = await one.request(path);
    const text = (await answer.text()).replace(/<[^>]+>/g, '');
    await setImmediate();
    return [answer.status, text];
  };
  expect(await open()).toEqual([200, expect.not.stringContaining('This page is as of')]);
  state.nowMs += 60_000;
  state.fails = true;
  expect(await open()).toEqual([200, expect.stringContaining('This page is as of 14:00:00, 1m ago. It is being read')]);
  const why = 'no worker answers for it';
  const [status, text] = await open();
  expect([status, text]).toEqual([200, expect.stringContaining('This page is as of 14:00:00, 1m ago. It is tried')]);
  expect(text).toContain(why);
  state.fails = false;
  state.nowMs += 60_000;
  await open();
  expect(await open()).toEqual([200, expect.not.stringContaining('This page is as of')]);
  state.fails = true;
  state.nowMs += 10 * 60_000;
  expect((await open())[1]).toContain(path === '/calendar' ? 'its file did not arrive in time' : why);
});

test('the way around leads to the pages that a server lists, and to no others', async () => {
  const page = await (await app().request('/pipelines')).text();
  const [nav = ''] = /<nav aria-label="Pages">.*?<\/nav>/s.exec(page) ?? [];
  const shown = [...nav.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path);
  expect(shown).toEqual(['/', '/pipelines', ...PAGE_PLACES.map(([path]) => path)]);
  const alone = PAGE_ROWS.filter(({ paths: [path = ''], link }) => link === undefined && !path.includes(':'));
  expect(alone).toEqual([]);
});

test('a page whose feature is removed is no place of the way around', () => {
  const filters = { q: '', owner: '', label: '', state: '' };
  const frame = { ...FRAME, places: PAGE_PLACES.filter(([path]) => path !== '/bugs') };
  const page = renderPipelinesPage({ pipelines: [], next: null, total: 0, isLater: false, filters }, frame);
  expect(page).toContain('href="/freshness"');
  expect(page).not.toContain('href="/bugs"');
});
