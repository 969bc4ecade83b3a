import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { ConveyorClient } from '../../client/api';
import { findUnsigned } from '../../domain/access/signatureRule';
import type { Artifact } from '../../domain/artifact';
import { unfitArtifact } from '../../domain/excess';
import { parseRegistry } from '../../settings/registry';
import { run } from '../builders/cliWorld';

const read = (file: string): string => readFileSync(join(__dirname, '../../docs', file), 'utf8');
const GUIDE = read('guides/signing.md');
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, body = '']) => body);

const folder = mkdtempSync(join(tmpdir(), 'conveyor-signing-'));
const CONFIG = join(folder, 'conveyor.config.yaml');
const [, ...STORY] = [...GUIDE.matchAll(/^```(bash|sh)\n([^]*?)^```/gm)].map(([, language, body = '']) => ({
  language,
  body,
}));
const bash = (script: string) =>
  spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: folder, encoding: 'utf8' });

/** As the guide says it, with the key that was just made. */
function config(): { platform: { keys: Record<string, string> } } {
  const given = parse(blocks(GUIDE, 'yaml')[0] ?? '') as ReturnType<typeof config>;
  return { platform: { ...given.platform, keys: { ci: readFileSync(join(folder, 'ci.pub'), 'utf8') } } };
}

test('the commands of docs/guides/signing.md sign an artifact, which a protected pipeline then takes', async () => {
  const before = process.cwd();
  process.chdir(folder);
  const released: Artifact[] = [];
  const client: Partial<ConveyorClient> = {
    release: (_pipeline, artifacts) => {
      released.push(...artifacts);
      return Promise.resolve({ id: 'prod-kv/1', number: 1, duplicate: false }) as never;
    },
    status: () => Promise.reject(new Error('not yet')),
  };
  try {
    const made = bash(blocks(GUIDE, 'bash')[0] ?? '');
    expect({ code: made.status, err: made.stderr }).toEqual({ code: 0, err: '' });
    writeFileSync(CONFIG, stringify(config()));
    for (const { language, body } of STORY) {
      if (language === 'bash') expect(bash(body)).toMatchObject({ status: 0, stderr: '' });
      for (const line of language === 'sh' ? body.trim().split('\n') : []) {
        const words = line.replace('npx --no-install conveyor ', '').split(' ');
        expect({ line, ...(await run(words, { client, env: { CONVEYOR_CONFIG: CONFIG } })) }).toMatchObject({
          line,
          code: 0,
        });
      }
    }
  } finally {
    process.chdir(before);
  }
  expect(released).toHaveLength(1);
  expect(released.map((one) => unfitArtifact(one))).toEqual([undefined]);
  expect(findUnsigned(parseRegistry(config(), {}), { pipeline: 'prod-kv' }, released)).toBeUndefined();
  expect(
    findUnsigned(parseRegistry(parse(blocks(GUIDE, 'yaml')[0] ?? ''), {}), { pipeline: 'prod-kv' }, released)?.code,
  ).toBe('unsigned');
});

test('the way with ECDSA that it names signs as well', () => {
  const [, way = ''] = /# with ECDSA: (.*)$/m.exec(GUIDE) ?? [];
  const sign = GUIDE.match(/^openssl pkeyutl .*$/m)?.[0] ?? 'no such line';
  const script = [
    'openssl ecparam -name prime256v1 -genkey -noout -out ci.key',
    'openssl pkey -in ci.key -pubout -out ci.pub',
    ...blocks(GUIDE, 'bash').slice(1, 3),
  ].join('\n');
  expect(bash(script.replace(sign, way))).toMatchObject({ status: 0 });
  const artifact: Artifact = {
    ...{ name: 'executable', kind: 'executable', version: 'kv:12' },
    metadata: { attestation: readFileSync(join(folder, 'kv12.json'), 'utf8') },
  };
  expect(findUnsigned(parseRegistry(config(), {}), { pipeline: 'prod-kv' }, [artifact])).toBeUndefined();
});

test('a statement of the size that it names fits, with a signature', () => {
  const [, bytes = '0'] = /a statement about (\d+) bytes/.exec(GUIDE) ?? [];
  const payload = Buffer.alloc(Number(bytes), 'x').toString('base64');
  const signatures = [{ keyid: 'ci', sig: Buffer.alloc(72).toString('base64') }];
  const attestation = JSON.stringify({ payloadType: 'application/vnd.in-toto+json', payload, signatures });
  expect(unfitArtifact({ name: 'a', kind: 'a', version: '1', metadata: { attestation } })).toBeUndefined();
});

test('the configuration of docs/reference/access.md loads, with its keys', () => {
  const given = parse(blocks(read('reference/access.md'), 'yaml')[0] ?? '') as object;
  expect(parseRegistry(given, {}).signingKeys.map(({ name }) => name)).toEqual(['ci-2026', 'security']);
});
