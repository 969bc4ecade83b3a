import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { parseRegistry } from '../../settings/registry';
import { ServerAudit } from '../../server/audit/audit';
import { NOW_MS } from '../builders/serverWorld';
import { NOW } from '../configerator/repositories';
import { LIMITS } from '../configerator/sources';
import { eventually } from '../system/waiting';
import { BEARER, configServer } from './configWorld';

describe('a program proposes values over HTTP', () => {
  test('and gets the change with its version, which the lists, the log and the value then show', async () => {
    const { it, get, propose } = await configServer();
    const made = await propose({ message: 'Tune it', values: { 'feed/limits': { soft: 5 } } });
    expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/config/flags/changes/1']);
    expect(made.body).toEqual({
      ...{ repository: 'flags', change: 1, version: expect.stringMatching(/^1@[0-9a-f]{40}$/) },
      ...{ base: null, paths: ['feed/limits'], deleted: [], duplicate: false },
    });
    const change = { change: 1, author: 'service:ci', message: 'Tune it', landed: null };
    expect((await get('/v1/config/flags/changes')).body).toMatchObject([change]);
    const { body: value } = await get('/v1/config/flags/value?path=feed/limits&change=1');
    expect(value).toMatchObject({ value: '{\n  "soft": 5\n}\n' });
    const [landed] = await new Lander(it.repository).land([1], NOW);
    const commit = landed !== undefined && 'commit' in landed ? landed.commit : '';
    expect((await get('/v1/config/flags/changes/1')).body).toMatchObject({ ...change, landed: commit });
    expect((await get('/v1/config/flags/log')).body).toMatchObject([{ commit, change: 1, subject: 'Tune it' }]);
    expect((await get('/v1/config/flags/value?path=feed/limits')).body).toMatchObject({ commit });
    expect((await get('/v1/config/flags/why?path=feed/limits')).body).toEqual({
      ...{ path: 'feed/limits', files: ['feed/limits.json'], contributesTo: [] },
      subscribers: { 'feed/limits': { unknown: 'config.repositories.flags names no etcd' } },
    });
    expect((await get('/v1/config')).body).toEqual([{ name: 'flags', branch: 'main' }]);
  });

  test('once for a key: the same change again, and a refusal of anything else', async () => {
    const { propose } = await configServer();
    const body = { message: 'Tune it', values: { a: 1 } };
    const first = await propose(body, { ...BEARER, 'idempotency-key': 'k' });
    const second = await propose({ ...body, idempotencyKey: 'k' });
    expect([second.status, second.body]).toEqual([201, { ...first.body, duplicate: true }]);
    const other = await propose({ message: 'Tune it', values: { a: 2 }, idempotencyKey: 'k' });
    expect([other.status, other.body.error?.code]).toEqual([409, 'key-reused']);
  });
});

describe('a request that is refused at the door starts nothing', () => {
  const MANY = Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`v/${n}`, 1]));
  test.each<[what: string, body: object, status: number, says: RegExp]>([
    ['without values', { message: 'm' }, 400, /either values or files/],
    ['with values and files', { message: 'm', values: {}, files: {} }, 400, /either values or files/],
    ['without a message', { values: { a: 1 } }, 400, /message/],
    ['with a base that is none', { message: 'm', values: { a: 1 }, base: '--all' }, 400, /the id of a commit/],
    ['with an author of its own', { message: 'm', values: { a: 1 }, author: 'user:eve' }, 400, /author/],
    ['with too many values', { message: 'm', values: MANY }, 413, /the number of values of a change is 2001/],
    [
      'with a message that is too long',
      { message: 'm'.repeat(5_000), values: { a: 1 } },
      413,
      /the message of a change/,
    ],
    ['of 15 MB', { message: 'm', values: { a: 'x'.repeat(15_000_000) } }, 413, /larger than 8 MiB/],
  ])('a proposal %s', async (_what, body, status, says) => {
    const { it, propose } = await configServer();
    const { status: answered, body: answer } = await propose(body);
    expect([answered, JSON.stringify(answer)]).toEqual([status, expect.stringMatching(says)]);
    expect(it.git('for-each-ref')).toBe('');
  });

  test('a proposal without a token, and of a repository that is not configured', async () => {
    const { app, propose, get } = await configServer();
    expect((await propose({ message: 'm', values: { a: 1 } }, { 'content-type': 'application/json' })).status).toBe(
      401,
    );
    const init = { method: 'POST', headers: BEARER, body: JSON.stringify({ message: 'm', values: { a: 1 } }) };
    const response = await app.request('/v1/config/flag/changes', init);
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('flag; there are flags')]);
    expect((await get('/v1/config/flags/changes/7')).status).toBe(404);
    expect((await get('/v1/config/flags/changes/seven')).status).toBe(400);
    expect((await get('/v1/config/flags/value?path=a')).status).toBe(404);
  });
});

describe('who may propose', () => {
  const { policy, groups } = parseRegistry(
    { groups: { feeds: ['user:alice'] }, platform: { admins: ['user:root'] } },
    {},
  );

  test.each<[what: string, over: object, repository: object, says: string]>([
    [
      'is an owner of the repository',
      { groups },
      { owners: ['group:feeds'] },
      'service:ci is not an owner of the repository flags: config.repositories.flags.owners are group:feeds (user:alice)',
    ],
    [
      'is an admin where a platform section rules and the repository lists nobody',
      { groups, policy },
      {},
      'flags lists no owners, so changes of it are for admins: platform.admins are user:root',
    ],
  ])('%s; others are refused, on record', async (_what, over, repository, says) => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-audit-'));
    const options = { file: join(folder, 'audit.jsonl'), server: 'front-1', keepMs: 86_400_000 };
    const audit = new ServerAudit({ ...options, now: () => NOW_MS, log: () => undefined });
    const { propose } = await configServer({ ...over, audit }, repository);
    const { status, body } = await propose({ message: 'Tune it', values: { a: 1 } });
    expect([status, body.error?.message]).toEqual([403, says]);
    await audit.close();
    expect((await audit.read({ limit: 5 })).records).toMatchObject([
      {
        ...{ actor: 'service:ci', door: 'api', operation: 'propose', target: 'config/flags', reason: 'Tune it' },
        ...{ outcome: 'refused', result: `not-permitted: ${says}` },
      },
    ]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('a comparison is refused too, since it runs programs of the caller', async () => {
    const { app } = await configServer({ groups, policy }, { owners: ['group:feeds'] });
    const body = JSON.stringify({ files: { 'a.config.ts': 'while (true);' } });
    const response = await app.request('/v1/config/flags/diff', { method: 'POST', headers: BEARER, body });
    expect([response.status, await response.json()]).toEqual([
      403,
      { error: expect.objectContaining({ code: 'not-permitted' }) },
    ]);
  });

  test('can be asked of the server, which names the rule and the group', async () => {
    const { app } = await configServer({ groups, policy }, { owners: ['group:feeds'] });
    const asked = async (who: string) => {
      const body = JSON.stringify({ who, verb: 'propose', what: 'flags' });
      return (await app.request('/v1/can', { method: 'POST', headers: BEARER, body })).json();
    };
    expect(await asked('user:alice')).toMatchObject({
      ...{ allowed: true, by: 'config.repositories.flags.owners', through: 'group:feeds' },
    });
    expect(await asked('user:root')).toMatchObject({ allowed: true, by: 'platform.admins' });
    expect(await asked('user:eve')).toMatchObject({ allowed: false, by: null });
  });

  test('a proposal is refused with the path that its author may not change and the right that takes, and else made', async () => {
    const paths = [
      { names: ['feed/'], by: ['service:ci'] },
      { names: ['ads/'], by: ['group:feeds'] },
    ];
    const { it, propose, app } = await configServer({ groups, policy }, { owners: ['user:root'], paths });
    const both = await propose({ message: 'Tune both', values: { 'feed/a': 1, 'ads/b': 1 } });
    expect([both.status, both.body.error]).toMatchObject([
      403,
      {
        code: 'not-permitted',
        message:
          'service:ci may not change ads/b.json: config.repositories.flags.paths.1 (ads/) lets group:feeds (user:alice)',
      },
    ]);
    expect(await it.repository.changes(10)).toEqual([]);
    expect((await propose({ message: 'Tune it', values: { 'feed/a': 1 } })).status).toBe(201);
    const can = async (what: string) => {
      const body = JSON.stringify({ who: 'service:ci', verb: 'propose', what });
      return (await (await app.request('/v1/can', { method: 'POST', headers: BEARER, body })).json()) as object;
    };
    expect(await can('flags/feed/a')).toMatchObject({ allowed: true, by: 'config.repositories.flags.paths.0.by' });
    expect(await can('flags/ads/b')).toMatchObject({ allowed: false });
  });

  test('a proposal of an owner is recorded with the rule and the version', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-audit-'));
    const options = { file: join(folder, 'audit.jsonl'), server: 'front-1', keepMs: 86_400_000 };
    const audit = new ServerAudit({ ...options, now: () => NOW_MS, log: () => undefined });
    const { propose } = await configServer({ audit, groups, policy }, { owners: ['service:ci'] });
    const { body } = await propose({ message: 'Tune it', values: { a: 1 } });
    await audit.close();
    expect((await audit.read({ limit: 5 })).records).toMatchObject([
      {
        outcome: 'accepted',
        permitted: 'config.repositories.flags.owners',
        result: `${String(body['version'])}, 1 value`,
      },
    ]);
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a repository that does not work', () => {
  test('that is not there is worth another try, and named', async () => {
    const { propose, get } = await configServer({}, { git: '/nowhere.git' });
    const proposed = await propose({ message: 'm', values: { a: 1 } });
    expect([proposed.status, proposed.headers.get('retry-after'), proposed.body.error?.message]).toEqual([
      ...[503, '5', expect.stringContaining('the configuration repository flags does not answer')],
    ]);
    expect((await get('/v1/config/flags/changes')).status).toBe(503);
  });

  test('with a broken ref is said to be broken, with the ref', async () => {
    const { it, get } = await configServer();
    const blob = it.git('hash-object', '-w', '/etc/hostname').trim();
    it.git('update-ref', 'refs/changes/1', blob);
    const { status, body } = await get('/v1/config/flags/changes');
    expect([status, JSON.stringify(body)]).toEqual([500, expect.stringContaining(`refs/changes/1 is ${blob}`)]);
  });

  test('a silent repository delays no other, and has a few processes of git at a time', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const { app, get } = await configServer({}, { git: `http://127.0.0.1:${port}/flags.git` });
    const asked = Array.from({ length: 40 }, async () => app.request('/v1/config/flags/changes', { headers: BEARER }));
    await eventually('git asks it', () => Promise.resolve(sockets.length >= 4));
    expect((await get('/v1/deploys')).status).toBe(200);
    expect(sockets).toHaveLength(4);
    silent.close();
    sockets.forEach((socket) => socket.destroy());
    for (const { status } of await Promise.all(asked)) expect(status).toBe(503);
  });
});

test('however many readers ask why, proposals are taken', async () => {
  const { propose, get } = await configServer();
  await propose({ message: 'Begin', values: { 'feed/limits': { soft: 5 } } });
  const asked = Array.from({ length: 60 }, () => get('/v1/config/flags/why?path=feed/limits'));
  expect(await propose({ message: 'Tune it', values: { 'feed/limits': { soft: 6 } } })).toMatchObject({ status: 201 });
  await Promise.all(asked);
});

test('a validator refuses over HTTP in the words of the command line, with the chain of imports', async () => {
  const { it, propose } = await configServer();
  await new Lander(it.repository).land([(await it.proposeFiles(LIMITS)).change], NOW);
  const program = LIMITS['feed/limits.config.ts']!.toString().replace('soft: SOFT', 'soft: 500');
  const { status, body } = await propose({ message: 'Too much', files: { 'feed/limits.config.ts': program } });
  expect([status, body.error]).toEqual([
    422,
    expect.objectContaining({
      code: 'config-value-refused',
      message:
        'feed/limits of feed/limits.config.ts is refused by softBelowHard of feed/limits.validate.ts: soft 500 is above hard 100; imported as feed/limits.config.ts → feed/shared.ts → feed/limits.schema.ts',
    }),
  ]);
});
