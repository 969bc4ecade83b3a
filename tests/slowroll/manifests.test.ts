import { chmodSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostManifestSchema, manifestPackageSchema, type HostReport } from '../../push-types/slowroll/protocol';
import { FleetHosts } from '../../push-types/slowroll/server/fleetHosts';
import { HostTokens } from '../../push-types/slowroll/server/hostTokens';
import { readRange, RunningDownloads } from '../../push-types/slowroll/server/sendPackage';
import { SLOWROLL_LIMITS } from '../../sdk';
import { bringVersion } from '../builders/bringVersion';
import { nameToken, PollingWorld } from '../builders/pollingHosts';

const bigState = () => ({ name: 'kv', version: 'kv:1', identifier: 'a', state: 'failed', reason: 'x'.repeat(2000) });

let world: PollingWorld;
beforeEach(async () => {
  world = await PollingWorld.open({ sizes: { x: 2 } });
  await bringVersion(world.app, { updateId: 'deploy/kvstore/1/deploy/1/0/1', version: 'kv:1', units: ['kv/x'] });
  await world.settle();
  world.now += 2000;
});
afterEach(() => world.close());

const poll = (host: string, headers: Readonly<Record<string, string>> = {}, query = '') =>
  world.app.request(`/v1/hosts/${host}/manifest${query}`, {
    headers: { authorization: `Bearer ${nameToken(host)}`, ...headers },
  });

describe('a poll', () => {
  test('without change costs no body', async () => {
    const first = await poll('x-1');
    expect(first.status).toBe(200);
    const again = await poll('x-1', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test.each([
    ['without a token', { authorization: '' }, 401],
    ['with a wrong token', { authorization: 'Bearer 0123456789abcdef' }, 401],
    ['with the token of another host', { authorization: `Bearer ${nameToken('x-2')}` }, 403],
  ])('%s is refused', async (_, headers, status) => {
    expect((await poll('x-1', headers)).status).toBe(status);
  });

  test.each([
    ['labels that are no object', `?labels=${encodeURIComponent('["a"]')}`, 400],
    ['a state that is no list', '?state=1', 400],
    [
      'a state of more than 4 kB',
      `?state=${encodeURIComponent(JSON.stringify([bigState(), bigState(), bigState()]))}`,
      413,
    ],
  ])('with %s is refused', async (_, query, status) => {
    expect((await poll('x-1', {}, query)).status).toBe(status);
  });

  test('is refused for a while if its host asks again and again', async () => {
    const answers = [];
    for (let nth = 0; nth < 6; nth += 1) answers.push(await poll('x-1'));
    expect(answers.at(-1)?.status).toBe(429);
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('10');
    expect((await poll('x-2')).status).toBe(200);
  });

  test('is refused, not answered with nothing to run, if its host never sent its labels', async () => {
    world.join('x');
    expect((await poll('x-3')).status).toBe(409);
  });
});

test('a host that says other labels again and again takes no place from the labels of others', () => {
  const hosts = new FleetHosts({
    ...{ regionLabel: 'region', regions: ['eu', 'us'], packages: [{ name: 'kv', hosts: {} }], mostHosts: 10 },
  });
  const { index } = hosts.join('a', { region: 'eu' });
  expect(hosts.findRegion('kv', index)).toBe(0);
  for (let nth = 0; nth <= SLOWROLL_LIMITS.labelSets.max; nth += 1) hosts.join('a', { region: 'eu', nth: String(nth) });
  const other = hosts.join('b', { region: 'us' });
  expect([hosts.findRegion('kv', index), hosts.findRegion('kv', other.index)]).toEqual([0, 1]);
  expect(hosts.readLabels(index)).toEqual({ region: 'eu', nth: String(SLOWROLL_LIMITS.labelSets.max) });
});

test('a clock of the server that is set a day ahead makes no host silent, and ends no update', async () => {
  world.clockError = 24 * 60 * 60_000;
  expect(world.fleet.createSilence()(0)).toBe(false);
  const update = { updateId: 'deploy/kvstore/2/deploy/1/0/1', version: 'new:1', units: ['kv/x'] };
  await bringVersion(world.app, update);
  world.settleUpdates();
  expect(world.fleet.state.updates[update.updateId]?.units['kv/x']?.state).toBe('active');
  await world.settle();
  expect(world.fleet.state.updates[update.updateId]?.units['kv/x']?.state).toBe('done');
});

test('a report that is too large is refused before it is read', async () => {
  const body = JSON.stringify({ packages: Array.from({ length: 300 }, bigState) });
  const headers = { authorization: `Bearer ${nameToken('x-1')}`, 'content-type': 'application/json' };
  const answer = await world.app.request('/v1/hosts/x-1/report', { method: 'POST', headers, body });
  expect(answer.status).toBe(413);
});

test('a report says what a host runs, between two polls', async () => {
  const failed = {
    ...{ name: 'kv', version: 'kv:0', identifier: 'b', failedVersion: 'kv:1' },
    state: 'rolled-back' as const,
  };
  const headers = { authorization: `Bearer ${nameToken('x-1')}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ packages: [failed] } satisfies HostReport);
  const answer = await world.app.request('/v1/hosts/x-1/report', { method: 'POST', headers, body });
  expect(answer.status).toBe(204);
  const records = world.fleet.hosts.readRecords('kv');
  expect(world.fleet.versions.name(records.failed[0] ?? 0)).toBe('kv:1');
});

describe('a package', () => {
  const fetchPackage = async (headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const [wanted] = world.hosts[0]?.manifests.at(-1)?.packages ?? [];
    const { uri } = manifestPackageSchema.parse(wanted);
    return world.app.request(`/${uri}`, {
      method,
      headers: { authorization: `Bearer ${nameToken('x-2')}`, ...headers },
    });
  };

  test('comes whole, or from any byte on', async () => {
    const whole = await fetchPackage();
    expect([whole.status, await whole.text()]).toEqual([200, 'the bytes of kv:1']);
    const rest = await fetchPackage({ range: 'bytes=4-' });
    expect([rest.status, await rest.text()]).toEqual([206, 'bytes of kv:1']);
    expect(rest.headers.get('content-range')).toBe('bytes 4-16/17');
    const other = await fetchPackage({ range: 'bytes=4-', 'if-range': '"another"' });
    expect([other.status, await other.text()]).toEqual([200, 'the bytes of kv:1']);
    expect((await fetchPackage({ range: 'bytes=17-' })).status).toBe(416);
  });

  test('is not kept from hosts by one that asks for its headers again and again', async () => {
    for (let nth = 0; nth <= SLOWROLL_LIMITS.downloads.max; nth += 1) {
      const head = await fetchPackage({}, 'HEAD');
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '17']);
    }
    expect((await fetchPackage()).status).toBe(200);
  });

  test('is not kept from hosts by one that begins downloads and reads none of them', async () => {
    // More than any buffer holds.
    writeFileSync(join(world.folder, 'older:1.tar.gz'), Buffer.alloc(4 << 20));
    await bringVersion(world.app, { updateId: 'deploy/kvstore/2/deploy/1/0/1', version: 'older:1', units: ['kv/x'] });
    await world.settle();
    const begun = [];
    for (let nth = 0; nth <= SLOWROLL_LIMITS.hostDownloads.max; nth += 1) begun.push(await fetchPackage());
    expect(begun.map(({ status }) => status)).toEqual([...Array(SLOWROLL_LIMITS.hostDownloads.max).fill(200), 429]);
    expect(begun.at(-1)?.headers.get('retry-after')).toBe('30');
    const other = await fetchPackage({ authorization: `Bearer ${nameToken('x-1')}` });
    expect((await other.arrayBuffer()).byteLength).toBe(4 << 20);
    for (const one of begun) await one.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await fetchPackage()).status).toBe(200);
  });

  test('that is not read ends after a while, and leaves its place to others', async () => {
    const downloads = new RunningDownloads(20);
    const file = join(world.folder, 'big');
    writeFileSync(file, Buffer.alloc(4 << 20));
    for (let nth = 0; nth < SLOWROLL_LIMITS.hostDownloads.max; nth += 1)
      downloads.open('x-1', file, { first: 0, last: (4 << 20) - 1 });
    expect(downloads.whyNot('x-1')).toMatchObject({ status: 429 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(downloads.whyNot('x-1')).toBeUndefined();
  });

  test('is for hosts alone', async () => {
    expect((await fetchPackage({ authorization: 'Bearer 0123456789abcdef' })).status).toBe(401);
  });

  test('whose file has changed is not sent', async () => {
    truncateSync(join(world.folder, 'kv:1.tar.gz'), 3);
    expect((await fetchPackage()).status).toBe(404);
  });

  test.each([
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=-3', { first: 7, last: 9 }],
    ['bytes=2-99', { first: 2, last: 9 }],
    ['bytes=10-', 'outside'],
    ['bytes=-0', 'outside'],
    ['bytes=5-2', undefined],
    ['bytes=0-1,3-4', undefined],
    [undefined, undefined],
  ])('with ten bytes gives the part that the standard says for the range %s', (header, expected) => {
    expect(readRange(header, 10)).toEqual(expected);
  });
});

test.each([
  ['a name with a slash', { name: '../kv' }],
  ['a digest of another kind', { digest: 'md5:0' }],
  ['a generation below 0', { generation: -1 }],
  ['a command without a program', { install: { restart: [] } }],
  ['a time limit of two hours', { install: { timeoutSeconds: 7200 } }],
])('a manifest has no package with %s', (_, more) => {
  const good = { name: 'kv', version: '1', uri: 'v1/packages/kv/0', digest: `sha256:${'0'.repeat(64)}`, size: 1 };
  const whole = { ...good, generation: 1, revert: false };
  expect(manifestPackageSchema.safeParse(whole).success).toBe(true);
  expect(manifestPackageSchema.safeParse({ ...whole, ...more }).success).toBe(false);
});

test.each([
  ['without a generation', { name: 'kv', remove: true }],
  ['that is false', { name: 'kv', generation: 1, remove: false }],
])('a manifest has no removal %s', (_, removal) => {
  const manifest = { host: 'x-1', serial: 1, packages: [{ name: 'kv', generation: 1, remove: true }] };
  const whole = { ...manifest, pollAfterSeconds: 1 };
  expect(hostManifestSchema.safeParse(whole).success).toBe(true);
  expect(hostManifestSchema.safeParse({ ...whole, packages: [removal] }).success).toBe(false);
});

describe('the file of tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-tokens-'));
  const file = join(folder, 'tokens');
  const token = '0123456789abcdef';
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is refused if others can read it, and read if they cannot', () => {
    writeFileSync(file, `# hosts\nweb-1 ${token}\n`);
    chmodSync(file, 0o644);
    expect(() => HostTokens.read(file)).toThrow(`${file} can be read by others: chmod 600 ${file}`);
    chmodSync(file, 0o600);
    const tokens = HostTokens.read(file);
    expect([tokens.match(token, 'web-1'), tokens.match(token, 'web-2'), tokens.match('x', 'web-1')]).toEqual([
      ...['own', 'other', 'none'],
    ]);
    expect([tokens.listHosts().has('web-1'), tokens.listHosts().has('web-2')]).toEqual([true, false]);
  });

  test.each([
    ['web-1', 'tokens:1: expected a host and its token'],
    [`web-1 ${token}\nweb-2 short`, 'tokens:2: the token of web-2 is shorter than 16'],
  ])('with a mistake is refused with the line', (text, message) => {
    expect(() => HostTokens.parse(text, 'tokens')).toThrow(message);
  });
});
