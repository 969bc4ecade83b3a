import { parseRegistry } from '../../settings/registry';
import {
  appOf,
  FakePipelines,
  githubDelivery,
  pushOf,
  SECRET,
  sourceOf,
  standardDelivery,
  TOKEN,
} from '../builders/serverWorld';

const BEARER = { headers: { authorization: `Bearer ${TOKEN}` } };

/** A server whose configuration changes while it runs. */
function world(over: Parameters<typeof appOf>[1] = {}) {
  let now = parseRegistry({}, {});
  const config = new Proxy(now, { get: (_, part) => now[part as keyof typeof now] });
  const app = appOf(new FakePipelines(), { config, reads: 'authenticated', ...over });
  return { app, changed: (next: object) => (now = { ...now, ...next }) };
}

test('tokens, groups, providers and whether reading takes a token count as the configuration has them at the moment', async () => {
  const { app, changed } = world();
  const me = async (): Promise<unknown> => (await app.request('/v1/me', BEARER)).json();
  expect((await app.request('/v1/me', BEARER)).status).toBe(401);
  const { access } = parseRegistry({}, {});
  const tokens = [{ principal: 'user:alice', token: TOKEN }];
  changed({ access: { ...access, tokens }, groups: { storage: ['user:alice'] } });
  expect(await me()).toMatchObject({ principal: 'user:alice', groups: ['group:storage'] });
  changed({ groups: {} });
  expect(await me()).toMatchObject({ groups: [] });

  expect((await app.request('/v1/pipelines')).status).toBe(401);
  changed({ access: { ...access, reads: 'open' } });
  expect((await app.request('/v1/pipelines')).status).toBe(200);

  const offers = async (): Promise<unknown> => (await app.request('/v1/sign-in')).json();
  expect(await offers()).toEqual([]);
  changed(parseRegistry({ signIn: [{ issuer: 'https://id.example.com', client: 'conveyor-cli' }] }, {}));
  expect(await offers()).toMatchObject([{ issuer: 'https://id.example.com', client: 'conveyor-cli' }]);
});

test('a source of webhooks that is added is believed, and one that is taken out is not any more', async () => {
  const { app, changed } = world();
  const { access } = parseRegistry({}, {});
  const delivered = async (): Promise<number> =>
    (await app.request('/v1/webhooks/github', githubDelivery(pushOf(1), { secret: SECRET }))).status;
  expect(await delivered()).toBe(503);
  changed({ access: { ...access, webhooks: { github: [sourceOf({ name: 'github' })], standard: [] } } });
  expect(await delivered()).toBe(202);
  changed({ access: { ...access, webhooks: { github: [sourceOf({ name: 'other', secrets: ['x'] })], standard: [] } } });
  expect(await delivered()).toBe(401);
  const said = await app.request('/v1/webhooks/standard', standardDelivery({ type: 'artifact.published' }));
  expect(said.status).toBe(503);
});

test('admins read all of the audit from the moment at which the configuration names them', async () => {
  const audit = { read: () => Promise.resolve({ records: [], next: null }) } as never;
  const { app, changed } = world({ audit });
  const { access } = parseRegistry({}, {});
  const status = async (): Promise<number> => (await app.request('/v1/audit', BEARER)).status;
  changed({ access: { ...access, tokens: [{ principal: 'user:alice', token: TOKEN }] } });
  expect(await status()).toBe(403);
  changed({ policy: parseRegistry({ platform: { admins: ['user:alice'] } }, {}).policy });
  expect(await status()).toBe(200);
});

test('the metrics say whether the configuration counts, and since when', async () => {
  const state = { problem: null as string | null, readAtMs: 1_700_000_000_000 };
  const app = appOf(undefined, { configState: () => state });
  const text = async (): Promise<string> => (await app.request('/metrics')).text();
  expect(await text()).toContain('conveyor_config_invalid 0\n');
  state.problem = 'it is not valid';
  expect(await text()).toContain('conveyor_config_invalid 1\n');
  expect(await text()).toContain('conveyor_config_read_timestamp_seconds 1700000000\n');
});

test('the metrics say how far the audit has come, and its receiver where there is one', async () => {
  const state = { unwritten: 3, waiting: 2, lagMs: 1_500, lost: 1, events: null as object | null };
  const app = appOf(undefined, { audit: { state: () => state } as never });
  const text = async (): Promise<string> => (await app.request('/metrics')).text();
  const audit = (all: string) => all.split('\n').filter((line) => line.startsWith('conveyor_audit_'));
  const own = [
    'conveyor_audit_unwritten_total 3',
    'conveyor_audit_waiting 2',
    'conveyor_audit_lag_seconds 1.5',
    'conveyor_audit_lost_total 1',
  ];
  expect(audit(await text())).toEqual(own);
  state.events = { lagMs: 60_000, failures: 4 };
  expect(audit(await text())).toEqual([
    ...own,
    'conveyor_audit_events_lag_seconds 60',
    'conveyor_audit_events_failed_total 4',
  ]);
});
