import { join } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { EtcdStore } from '../../configerator/store/etcd';
import type { HostAcknowledgement } from '../../configerator/store/port';
import { run } from '../builders/cliWorld';
import { describeWithEtcd, Etcd } from './etcd';
import { bench, NOW } from './repositories';
import { folderOf } from './sources';
import { versionOf } from './storeSuite';

async function world(etcd: string) {
  const it = await bench();
  await new Lander(it.repository).land([(await it.proposeValues({ 'feed/limits': { soft: 5 } })).change], NOW);
  const config = `config:\n  repositories:\n    flags: { git: ${it.origin}, etcd: "${etcd}" }\n`;
  const folder = folderOf({ 'conveyor.config.yaml': config });
  const env = { CONVEYOR_CONFIG: join(folder, 'conveyor.config.yaml'), CONVEYOR_CACHE: folder };
  return { it, conveyor: (...argv: readonly string[]) => run(['config', ...argv], { env }) };
}

describeWithEtcd('who subscribes to a value', () => {
  let etcd: Etcd;
  beforeAll(async () => (etcd = await Etcd.start()));
  afterAll(() => etcd.close());

  test('why counts them, and names who refuses or has something older; show says of a host what it has', async () => {
    const { it, conveyor } = await world(etcd.url);
    const [commit, text] = [(await it.repository.head()) ?? '', '{\n  "soft": 5\n}\n'];
    const store = new EtcdStore({ url: etcd.url });
    const version = it.git('rev-parse', 'main:values/feed/limits.json').trim();
    await store.apply('flags', { commit, sequence: 1, values: [{ path: 'feed/limits', value: text, version }] });
    const override = {
      id: 'deploy/feed/2/deploy/1/0/1#eu',
      path: 'feed/limits',
      value: '{}\n',
      version: versionOf('{}\n'),
      revision: '2@c2',
      hosts: ['web-2'],
    };
    await store.putOverrides('flags', [override]);
    const said = (host: string, over: Partial<HostAcknowledgement> = {}) =>
      store.acknowledge(
        'flags',
        { ...{ host, path: 'feed/limits', version, revision: null, commit, sequence: 1, at: NOW }, ...over },
        60,
      );
    await said('web-1');
    await said('web-2', { version: override.version, revision: '2@c2', commit: null });
    await said('web-3', { refused: 'soft is too low' });
    await said('web-4', { version: 'v0', commit: 'c0' });
    const why = await conveyor('why', 'feed/limits');
    expect(why.out.trim().split('\n')).toEqual([
      'feed/limits is made by feed/limits.json',
      '4 hosts subscribe to feed/limits: 1 with the committed value, 1 with an override, 1 that refuses, 1 stale',
      '  the override 2@c2 comes from feed/2/deploy; conveyor revert feed/2 takes it back',
      `  ✗ web-3 refuses the commit ${commit.slice(0, 12)} since 23 Nov 09:00:00: soft is too low`,
      '  ✗ web-4 still has the commit c0 since 23 Nov 09:00:00',
    ]);
    expect((await conveyor('show', 'feed/limits', '--host', 'web-1')).out).toBe(
      `web-1 has the commit ${commit.slice(0, 12)} since 23 Nov 09:00:00\n${text}`,
    );
    const exposed = await conveyor('show', 'feed/limits', '--host', 'web-2', '-o', 'json');
    expect(JSON.parse(exposed.out)).toMatchObject({
      ...{ host: 'web-2', value: '{}\n', unknown: null },
      subscription: { state: 'overridden', revision: '2@c2', since: '2026-11-23T09:00:00.000Z' },
    });
    expect(await conveyor('show', 'feed/limits', '--host', 'web-9')).toMatchObject({
      code: 4,
      err: expect.stringContaining('web-9 of feed/limits, or it has been silent for a minute'),
    });
  });
});

describe('where the store is silent', () => {
  test('why says what git knows, and that subscribers are unknown', async () => {
    const { conveyor } = await world('http://127.0.0.1:9');
    const { code, out } = await conveyor('why', 'feed/limits');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^feed\/limits is made by feed\/limits.json\nthe subscribers of feed\/limits are unknown: the store of configuration .* does not answer/,
      ),
    ]);
  });

  test('show says what the branch has, that the host is unknown, and ends with 1', async () => {
    const { conveyor } = await world('http://127.0.0.1:9');
    const { code, out } = await conveyor('show', 'feed/limits', '--host', 'web-1', '-o', 'json');
    expect([code, JSON.parse(out)]).toEqual([
      1,
      expect.objectContaining({
        subscription: null,
        unknown: expect.stringContaining('does not answer'),
        branch: { commit: expect.any(String), value: '{\n  "soft": 5\n}\n' },
      }),
    ]);
  });
});

test('a host and a change cannot be asked for together', async () => {
  const { conveyor } = await world('http://127.0.0.1:9');
  expect(await conveyor('show', 'feed/limits', '--host', 'web-1', '--change', '1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--host shows the value of a host, and --change that of a change'),
  });
});
