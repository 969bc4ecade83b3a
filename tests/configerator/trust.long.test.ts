import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { describeUnverified, readOptions } from '../../configerator/proxy/options';
import { ConfigProxy } from '../../configerator/proxy/proxy';
import { EtcdStore } from '../../configerator/store/etcd';
import { storeTrust } from '../../settings/configStores';
import { run } from '../builders/cliWorld';
import { eventually } from '../system/waiting';
import { describeWithEtcd, Etcd } from './etcd';
import { FakeDisk } from './proxyWorld';
import { bench, NOW } from './repositories';
import { folderOf } from './sources';
import { overrideOf, versionOf } from './storeSuite';

const PATH = 'feed/limits';
const TEXT = '{\n  "soft": 5\n}\n';

/** Files with a private key, its public key, and the public key of another. */
function keyFiles() {
  const folder = folderOf({});
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const stranger = generateKeyPairSync('ed25519').publicKey;
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return {
    key,
    publicKey: spki,
    keyFile: write('key.pem', key),
    trusted: write('key.pub', spki),
    other: write('other.pub', stranger.export({ type: 'spki', format: 'pem' }).toString()),
  };
}

const KEYS = keyFiles();

describeWithEtcd('whether a value of the store is signed', () => {
  let etcd: Etcd;
  beforeEach(async () => (etcd = await Etcd.start()));
  afterEach(() => etcd.close());

  async function world({ isSigned = true, more = '' } = {}) {
    const it = await bench();
    await new Lander(it.repository).land([(await it.proposeValues({ [PATH]: { soft: 5 } })).change], NOW);
    const store = `{ url: "${etcd.url}"${more} }`;
    const folder = folderOf({
      'conveyor.config.yaml': `config:\n  repositories:\n    flags: { git: ${it.origin}, etcd: ${store} }\n`,
    });
    const env = { CONVEYOR_CONFIG: join(folder, 'conveyor.config.yaml'), CONVEYOR_CACHE: folder };
    const service = new EtcdStore({ url: etcd.url, ...(isSigned && { signing: { key: KEYS.key } }) });
    const commit = (await it.repository.head()) ?? '';
    const version = versionOf(TEXT);
    await service.apply('flags', { commit, sequence: 1, values: [{ path: PATH, value: TEXT, version }] });
    const said = { host: 'web-1', path: PATH, version, revision: null, commit, sequence: 1, at: NOW };
    await service.acknowledge('flags', said, 60);
    return {
      service,
      said,
      conveyor: (...argv: readonly string[]) => run(['config', ...argv], { env }),
      /** A write without the key. */
      forge: (text: string) =>
        etcd.put(
          `/conveyor/config/flags/p/${PATH}:value`,
          `${JSON.stringify({ version: versionOf(text), commit, sequence: 9 })}\n${text}`,
        ),
    };
  }

  const SIGNED = `the store holds ${PATH} signed by a key that is trusted here`;
  const FORGED = `✗ the value of ${PATH} in the store cannot be trusted: it is not signed`;

  test('why and show say so of what a trusted key has signed, and leave the value alone on stdout', async () => {
    const { conveyor } = await world();
    const trust = ['--trust', KEYS.other, '--trust', KEYS.trusted];
    expect(await conveyor('why', PATH, ...trust)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${SIGNED}\n1 host`),
    });
    expect(await conveyor('show', PATH, ...trust)).toMatchObject({ code: 0, out: TEXT, err: `note: ${SIGNED}\n` });
    const host = await conveyor('show', PATH, '--host', 'web-1', ...trust);
    expect(host).toMatchObject({ code: 0, out: expect.stringContaining(`\n${SIGNED}\n${TEXT}`) });
  });

  test('why counts hosts that do not report that they verify, where values are signed', async () => {
    const { conveyor, service, said } = await world();
    const line = '  1 host may take values unverified (config-proxy --trust)\n';
    const json = async () => JSON.parse((await conveyor('why', PATH, '-o', 'json')).out) as object;
    expect((await conveyor('why', PATH)).out).toContain(line);
    expect(await json()).toMatchObject({ subscribers: { [PATH]: { unverified: 1 } } });
    const proxy = new ConfigProxy({
      ...{ host: 'web-1', repository: 'flags', files: new FakeDisk(), settleMs: 5, isVerified: true },
      ...{ store: new EtcdStore({ url: etcd.url, signing: { trusted: [KEYS.publicKey] } }) },
      ...{ now: () => NOW, log: () => undefined },
    });
    await proxy.start();
    await proxy.ask(PATH);
    await eventually('it reports that it verifies', async () => !(await conveyor('why', PATH)).out.includes(line));
    await proxy.close();
    await service.acknowledge('flags', { ...said, host: 'web-2' }, 60);
    expect(await json()).toMatchObject({ subscribers: { [PATH]: { total: 2, unverified: 1 } } });
  });

  test('without a key they say that it is signed and unchecked, and how to check it', async () => {
    const { conveyor } = await world();
    const ran = await conveyor('why', PATH);
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${PATH} signed; --trust FILE checks whether one`),
    });
  });

  test('they print nothing of signatures where there are none', async () => {
    const { conveyor } = await world({ isSigned: false });
    const ran = await conveyor('why', PATH);
    expect(ran).toMatchObject({ code: 0, out: expect.not.stringContaining('signed') });
    const json = JSON.parse((await conveyor('show', PATH, '--host', 'web-1', '-o', 'json')).out) as object;
    expect(json).toMatchObject({ signatures: { state: 'unsigned', faults: [], more: 0 } });
  });

  test('the keys of the settings are taken where no file is named', async () => {
    const { conveyor } = await world({ more: `, trusted: ["${KEYS.trusted}"]` });
    expect((await conveyor('why', PATH)).out).toContain(SIGNED);
  });

  test('a value without a signature is shown as that, and they end with 1', async () => {
    const { conveyor, forge } = await world();
    await forge('666');
    const trust = ['--trust', KEYS.trusted];
    expect(await conveyor('why', PATH, ...trust)).toMatchObject({ code: 1, out: expect.stringContaining(FORGED) });
    expect(await conveyor('show', PATH, ...trust)).toMatchObject({ code: 1, out: TEXT, err: `note: ${FORGED}\n` });
    const host = await conveyor('show', PATH, '--host', 'web-1', '-o', 'json', ...trust);
    expect([host.code, JSON.parse(host.out)]).toEqual([
      1,
      expect.objectContaining({
        value: TEXT,
        signatures: { state: 'untrusted', faults: [{ what: 'the value', why: 'it is not signed' }], more: 0 },
      }),
    ]);
  });

  test('so is one that another key has signed, an override, and one that is not what its version says', async () => {
    const { conveyor, service } = await world();
    const another = await conveyor('show', PATH, '--trust', KEYS.other);
    expect(another).toMatchObject({
      code: 1,
      err: expect.stringContaining('not signed by a key that is trusted here'),
    });
    await new EtcdStore({ url: etcd.url }).putOverrides('flags', [overrideOf('x', PATH, '6')]);
    const why = await conveyor('why', PATH, '--trust', KEYS.trusted);
    expect(why).toMatchObject({ code: 1, out: expect.stringContaining(`✗ the override x of ${PATH} in the store`) });
    await service.removeOverrides('flags', 'x');
    const header = { version: versionOf('5'), commit: 'c', sequence: 9 };
    await etcd.put(`/conveyor/config/flags/p/${PATH}:value`, `${JSON.stringify(header)}\n666`);
    const changed = await conveyor('why', PATH);
    expect(changed).toMatchObject({ code: 1, out: expect.stringContaining('it is not what its version says') });
  });

  test('a store that holds nothing, or is away, has not been checked, and show ends with 1', async () => {
    const { conveyor } = await world();
    await etcd.delete(`/conveyor/config/flags/p/${PATH}:value`);
    const nothing = await conveyor('show', PATH, '--trust', KEYS.trusted);
    expect(nothing).toMatchObject({ code: 1, out: TEXT, err: `note: the store holds nothing of ${PATH}\n` });
    await etcd.kill();
    const away = await conveyor('show', PATH, '--trust', KEYS.trusted);
    expect(away).toMatchObject({ code: 1, out: TEXT, err: expect.stringContaining('unknown whether') });
  });
});

describe('a value that cannot be checked is refused', () => {
  test.each([
    ['a folder', ['why', PATH, '--dir', '.', '--trust', KEYS.trusted], '--dir reads a folder'],
    ['a change', ['show', PATH, '--change', '1', '--trust', KEYS.trusted], 'leave one of --trust and --change out'],
  ])('%s', async (_, argv, words) => {
    expect(await run(['config', ...argv])).toMatchObject({ code: 2, err: expect.stringContaining(words) });
  });

  test('an answer of a server, which has keys of its own', async () => {
    const fetch = (async () => Response.json([{ name: 'flags', branch: 'main' }])) as typeof globalThis.fetch;
    const env = { CONVEYOR_SERVER: 'http://127.0.0.1:1', CONVEYOR_TOKEN: 'x'.repeat(32) };
    const ran = await run(['config', 'why', PATH, '--trust', KEYS.trusted], { env, fetch });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('goes through a server') });
  });
});

describe('the keys of a reader', () => {
  test('are those of the settings only with the key that signs now', () => {
    const signing = (key: string) => ({ signing: { key, trusted: [KEYS.other] } });
    expect(storeTrust(signing(KEYS.keyFile))).toMatchObject({ key: KEYS.key });
    expect(storeTrust(signing('/nowhere/key.pem'))).toBeUndefined();
    expect(storeTrust({})).toBeUndefined();
    expect(storeTrust({}, [KEYS.trusted])).toMatchObject({ trusted: [expect.stringContaining('PUBLIC KEY')] });
  });

  test('are missing at a proxy without --trust, which says so as it starts, and what to do', () => {
    const args = ['--repository', 'flags', '--cache', '.', '--etcd', 'http://127.0.0.1:1'];
    expect(describeUnverified(readOptions(args, {}).store)).toMatch(
      /accepts any value in the store unverified.*--trust FILE names/,
    );
    expect(describeUnverified(readOptions([...args, '--trust', KEYS.trusted], {}).store)).toBeUndefined();
  });
});
