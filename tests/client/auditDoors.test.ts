import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditClient } from '../../client/auditClient';
import type { ConveyorClient } from '../../client/api';
import { guardClient } from '../../client/guard';
import { auditEntry } from '../../domain/audit/record';
import { parseRegistry } from '../../settings/registry';
import { ServerAudit } from '../../server/audit/audit';
import { run } from '../builders/cliWorld';
import { specOf } from '../builders/pipelineWorld';
import {
  ACCESS,
  appOf,
  FakePipelines,
  githubDelivery,
  NOW_MS,
  pushOf,
  standardDelivery,
  TOKEN,
} from '../builders/serverWorld';

const OWNER = 'the-token-of-an-owner';
const STRANGER = 'the-token-of-a-stranger';
const URL = 'http://localhost:4500';

let folder: string;
const opened: ServerAudit[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'conveyor-audit-'))));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

/** A server of which service:ci is an admin; pipelines are those of service:webhook, but for `theirs`. */
function world(isAdmin = true) {
  const file = join(folder, 'audit.jsonl');
  const audit = new ServerAudit({
    file,
    server: 'front-1',
    keepMs: 86_400_000,
    now: () => NOW_MS,
    log: () => undefined,
  });
  opened.push(audit);
  const pipelines = new FakePipelines();
  const client = {
    ...(pipelines.client as ConveyorClient),
    spec: (name: string) =>
      name === 'theirs' ? Promise.resolve(specOf(['deploy'], { owners: ['user:bob'] })) : pipelines.client.spec(name),
  };
  const facts = { policy: null, groups: {} };
  const through = (door: 'api' | 'webhook') =>
    auditClient((decided) => guardClient(client, () => facts, door, decided), audit, door);
  const tokens = [
    ...ACCESS.tokens,
    { principal: 'service:webhook', token: OWNER },
    { principal: 'user:eve', token: STRANGER },
  ];
  const { policy } = parseRegistry({ platform: { admins: ['service:ci'] } }, {});
  const app = appOf(pipelines, {
    ...{ client: through('api'), deliveries: through('webhook'), audit, access: { ...ACCESS, tokens } },
    policy: isAdmin ? policy : null,
  });
  const fetch = ((url: string, init: RequestInit) => app.request(url, init)) as typeof globalThis.fetch;
  const type = (line: string, token = TOKEN) =>
    run(line.split(' '), { fetch, env: { CONVEYOR_SERVER: URL, CONVEYOR_TOKEN: token, XDG_CONFIG_HOME: folder } });
  return { app, audit, file, type };
}

const commanded = { method: 'POST', body: JSON.stringify({ reason: 'because' }) };
const as = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

test('requests through the API and webhooks are recorded with who, by which door, and what came of it', async () => {
  const { app, audit } = world();
  await app.request('/v1/pipelines/kvstore/commands/unhold', { ...commanded, headers: as(TOKEN) });
  await app.request('/v1/webhooks/github', githubDelivery(pushOf(1)));
  await audit.close();
  const { records } = await audit.read({ limit: 10 });
  expect(records).toMatchObject([
    { actor: 'service:github', door: 'webhook', operation: 'submit', target: 'kvstore', result: 'kvstore/1' },
    { actor: 'service:ci', door: 'api', operation: 'unhold', target: 'kvstore', reason: 'because', result: 'it is so' },
  ]);
});

test("a secret used beyond its scope, or a submission for another's pipeline, is on record by name", async () => {
  const { app, audit } = world();
  const said = (data: object) => standardDelivery({ type: 'artifact.published', data });
  const artifact = { kind: 'source', version: '1' };
  await app.request('/v1/webhooks/standard', said({ finder: 'manual', artifact }));
  await app.request(
    '/v1/webhooks/standard',
    said({ pipeline: 'theirs', artifacts: [{ name: 'source', version: '1' }] }),
  );
  const submission = { method: 'POST', headers: as(STRANGER), body: JSON.stringify({ artifacts: [] }) };
  expect((await app.request('/v1/pipelines/kvstore/submissions', submission)).status).toBe(403);
  await audit.close();
  const { records } = await audit.read({ limit: 10, outcome: 'refused' });
  const submit = { operation: 'submit', outcome: 'refused' };
  expect(records).toMatchObject([
    { ...submit, actor: 'user:eve', door: 'api', target: 'kvstore' },
    { ...submit, actor: 'service:webhook', door: 'webhook', target: 'theirs' },
    { ...submit, actor: 'service:webhook', door: 'webhook', target: 'who subscribes to manual' },
  ]);
  expect(records.map(({ result }) => result?.split(':')[0])).toEqual([
    ...['not-permitted', 'not-permitted', 'not-in-scope'],
  ]);
});

test('a rejected identity is on record, and changes nothing', async () => {
  const { app, audit } = world();
  await app.request('/v1/pipelines/kvstore/commands/unhold', { ...commanded, headers: as('guessed') });
  await app.request('/v1/webhooks/github', githubDelivery(pushOf(1), { secret: 'another secret' }));
  await audit.close();
  const { records } = await audit.read({ limit: 10 });
  expect(records).toHaveLength(2);
  expect(records.find(({ door }) => door === 'api')).toMatchObject({
    ...{ actor: null, operation: 'come-in', outcome: 'refused', target: 'POST /v1/pipelines/kvstore/commands/unhold' },
    result: expect.stringMatching(/^unauthorized: /) as string,
  });
  expect(records.find(({ door }) => door === 'webhook')?.result).toMatch(/^bad-signature: /);
});

describe('conveyor audit', () => {
  test('shows admins everything, newest first, and the exact records with -o json', async () => {
    const { app, audit, type } = world();
    await app.request('/v1/pipelines/kvstore/commands/unhold', { ...commanded, headers: as(TOKEN) });
    await app.request('/v1/pipelines/web/commands/unfreeze', { ...commanded, headers: as(OWNER) });
    const { code, out } = await type('audit');
    expect([code, out]).toEqual([0, expect.stringMatching(/service:webhook +✔ unfreeze +web +because +it is so/)]);
    const json = JSON.parse((await type('audit --actor service:ci -o json')).out) as unknown[];
    expect(json).toMatchObject([{ seq: 1, actor: 'service:ci', operation: 'unhold', prev: '' }]);
    expect((await type('audit --since 2h --pipeline batch')).out).toBe('no records\n');
    await app.request('/v1/pipelines/web/commands/unfreeze', { ...commanded, headers: as('guessed') });
    await audit.close();
    expect((await type('audit --outcome accepted')).out).not.toContain('come-in');
    expect((await type('audit --outcome refused')).out).toContain('come-in');
  });

  test.each([true, false])(
    'shows owners what concerns a pipeline of theirs, and others nothing (admins: %s)',
    async (isAdmin) => {
      const { app, type } = world(isAdmin);
      await app.request('/v1/pipelines/kvstore/commands/unhold', { ...commanded, headers: as(TOKEN) });
      expect(await type('audit --pipeline kvstore', OWNER)).toMatchObject({
        code: 0,
        out: expect.stringContaining('hold') as string,
      });
      expect(await type('audit', OWNER)).toMatchObject({
        code: 4,
        err: expect.stringContaining('--pipeline NAME') as string,
      });
      expect(await type('audit --pipeline kvstore', STRANGER)).toMatchObject({ code: 4, out: '' });
      expect(await type('audit --verify', STRANGER)).toMatchObject({ code: 4, out: '' });
      expect((await app.request('/v1/audit')).status).toBe(401);
    },
  );

  test('goes through as many pages as it takes', async () => {
    const { audit, type } = world();
    const entry = auditEntry({ actor: 'user:a', door: 'api', operation: 'hold', target: 'k', outcome: 'accepted' });
    await Promise.all(Array.from({ length: 2_300 }, () => audit.record(entry)));
    const { out } = await type('audit --limit 2200 -o jsonl');
    const seqs = out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toEqual(Array.from({ length: 2_200 }, (_, n) => 2_300 - n));
  });

  test('--verify says where a chain breaks, with exit code 1, through the server and from the file alone', async () => {
    const { app, file, type } = world();
    for (let n = 0; n < 3; n += 1)
      await app.request('/v1/pipelines/kvstore/commands/unhold', { ...commanded, headers: as(TOKEN) });
    const whole = await type('audit --verify');
    expect([whole.code, whole.out]).toEqual([
      0,
      expect.stringMatching(/✔ changes: 3 records hold, up to 3:[0-9a-f]{64}/),
    ]);
    const known = /3:[0-9a-f]{64}/.exec(whole.out)?.[0] ?? '';
    expect((await run(['audit', '--verify', '--file', file, '--expect', known], {})).code).toBe(0);
    writeFileSync(file, readFileSync(file, 'utf8').replace('because', 'becouse'));
    for (const broken of [await type('audit --verify'), await run(['audit', '--verify', '--file', file], {})])
      expect([broken.code, broken.out]).toEqual([1, expect.stringContaining(`broken at record 1 (${file}:1)`)]);
  });

  test('reads the file where no server runs, and says what to do where neither is', async () => {
    const { app, file } = world();
    await app.request('/v1/pipelines/kvstore/commands/unhold', { ...commanded, headers: as(TOKEN) });
    expect((await run(['audit', '--file', file], {})).out).toContain('hold');
    const env = { XDG_CONFIG_HOME: folder };
    expect(await run(['audit'], { env })).toMatchObject({ code: 2, err: expect.stringContaining('--file') as string });
    const missing = await run(['audit', '--verify', '--file', join(folder, 'none.jsonl')], { env });
    expect(missing.code).toBe(2);
  });
});

test('a changed configuration is on record once, with its digest before and after', async () => {
  const { audit } = world();
  for (const digest of ['one', 'one', 'two', 'two']) await audit.recordConfiguration(digest);
  const { records } = await audit.read({ operation: 'configure', limit: 10 });
  expect(records.map(({ before, after }) => [before, after])).toEqual([
    ['one', 'two'],
    [null, 'one'],
  ]);
});

describe('the audit section of the configuration', () => {
  const parsed = (audit: unknown, more: object = {}) =>
    parseRegistry({ audit, ...more }, {}, '/etc/conveyor.config.yaml').audit;

  test('says where and for how long', () => {
    expect(parsed({ file: 'audit.jsonl' })).toEqual({
      file: '/etc/audit.jsonl',
      keepMs: 400 * 86_400_000,
      events: null,
    });
    expect(parsed({ file: '/var/a.jsonl', keep: '30d' })).toMatchObject({
      file: '/var/a.jsonl',
      keepMs: 30 * 86_400_000,
    });
    expect(parseRegistry({}, {}).audit).toBeNull();
  });

  test.each([
    ['no file of lines', { file: 'audit.log' }, {}],
    ['kept for less than the file of a day', { file: 'a.jsonl', keep: '2h' }, {}],
    [
      'events to a host that is not let out',
      { file: 'a.jsonl', events: { url: 'https://x.example' } },
      { egress: { allow: ['*.org'] } },
    ],
  ])('is refused: %s', (_why, audit, more) => {
    expect(() => parsed(audit, more)).toThrow(/audit/);
  });
});
