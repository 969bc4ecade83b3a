import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConveyorClient } from '../../client/api';
import type { Artifact } from '../../domain/artifact';
import { run } from '../builders/cliWorld';
import { envelope, signer, statement } from '../builders/signing';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-artifact-'));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const [ci, release] = [signer(), signer('p256')];
const KEY = write('ci.pub', ci.pem);
const TEXT = envelope(statement('executable@kv:12'), [ci]);
const GOOD = write('kv12.json', JSON.stringify(JSON.parse(TEXT), null, 2));
const BUNDLE = write(
  'kv12.sigstore.json',
  JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    dsseEnvelope: JSON.parse(TEXT) as object,
  }),
);
const CONFIG = write(
  'conveyor.config.yaml',
  stringify({
    platform: {
      admins: ['user:root'],
      keys: { ci: ci.pem, release: release.pem },
      protection: [{ pipelines: ['prod-*'], signed: { by: ['ci', 'release'], count: 2 } }],
    },
  }),
);

const verify = (...words: string[]) => run(['artifact', 'verify', ...words], { env: { CONVEYOR_CONFIG: CONFIG } });

describe('conveyor artifact verify', () => {
  test.each([
    ['with a key in a file', [GOOD, '-a', 'executable=kv:12', '--key', KEY]],
    ['with the keys of the configuration', [GOOD, '-a', 'executable=kv:12']],
    ['in a bundle of Sigstore', [BUNDLE, '-a', 'executable=kv:12']],
    ['for a pipeline that no rule protects', [GOOD, '-a', 'executable=kv:12', '--pipeline', 'kvstore']],
  ])('says that it is signed %s', async (_how, words) => {
    expect(await verify(...words)).toMatchObject({ code: 0, out: '✔ executable@kv:12 is signed with ci\n', err: '' });
  });

  test('says why it is not, with exit code 4', async () => {
    expect(await verify(GOOD, '-a', 'executable=kv:13')).toMatchObject({
      code: 4,
      out: '✗ executable@kv:13 is not signed with any known key\n  metadata.attestation: it is about executable@kv:12, and not about executable@kv:13\n',
    });
    expect(await verify(write('big.json', `"${'x'.repeat(1024 * 1024)}"`), '-a', 'executable=kv:12')).toMatchObject({
      code: 4,
      out: expect.stringContaining('it takes 1024 kB, and an entry of metadata 1 kB at most') as string,
    });
    expect((await verify(write('no.json', 'no'), '-a', 'executable=kv:12')).out).toMatch(/no JSON/);
  });

  test('holds it against the rules that protect a pipeline, over several files', async () => {
    const { code, out } = await verify(GOOD, '-a', 'executable=kv:12', '--pipeline', 'prod-kv');
    expect(code).toBe(4);
    expect(out).toBe(
      '✗ platform.protection.0 protects prod-kv: executable@kv:12 is not signed: it takes a signature of 2 of the keys ci, release and has that of ci\n',
    );
    const second = write('second.json', envelope(statement('prod-kv/executable@kv:12'), [release]));
    const both = await verify(GOOD, second, '-a', 'executable=kv:12', '--pipeline', 'prod-kv', '-o', 'json');
    expect({ code: both.code, ...(JSON.parse(both.out) as object) }).toEqual({
      ...{ code: 0, artifact: 'executable@kv:12', signed: true, by: ['ci', 'release'], not: [], why: null },
    });
  });

  test.each([
    ['a key that is none', ['--key', GOOD], 2, /file-unreadable.*expected a public key in PEM/],
    ['a file that is not there', ['--key', '/no'], 2, /file-unreadable/],
    ['keys beside a pipeline', ['--key', KEY, '--pipeline', 'prod-kv'], 2, /a pipeline has its own keys/],
  ])('refuses %s', async (_what, words, code, message) => {
    const ran = await verify(GOOD, '-a', 'executable=kv:12', ...words);
    expect({ code: ran.code, err: ran.err }).toEqual({ code, err: expect.stringMatching(message) as string });
  });
});

describe('release --attestation', () => {
  const released: (readonly Artifact[])[] = [];
  const client: Partial<ConveyorClient> = {
    release: (_pipeline, artifacts) => {
      released.push(artifacts);
      return Promise.resolve({ id: 'kvstore/1', number: 1, duplicate: false }) as never;
    },
    status: () => Promise.reject(new Error('not yet')),
  };

  test('sends what is in the files along with the artifact, without spaces', async () => {
    const given = ['-a', 'executable=kv:12,branch=main', '--attestation', `executable=${GOOD}`];
    const { code } = await run(['release', 'kvstore', ...given, '--attestation', `executable=${BUNDLE}`], { client });
    expect(code).toBe(0);
    expect(released).toEqual([
      [
        {
          ...{ name: 'executable', kind: 'executable', version: 'kv:12' },
          metadata: { branch: 'main', attestation: TEXT, 'attestation.2': TEXT },
        },
      ],
    ]);
  });

  test('refuses one of an artifact that is not released', async () => {
    const { code, err } = await run(
      ['release', 'kvstore', '-a', 'executable=kv:12', '--attestation', `source=${GOOD}`],
      { client },
    );
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/no --artifact is called source/) as string });
  });
});
