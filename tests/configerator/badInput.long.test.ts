import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { run } from '../builders/cliWorld';
import { configServer, type ConfigServer } from '../server/configWorld';
import { NOW } from './repositories';
import { folderOf, LIMITS, type Files } from './sources';

/** A caller proposes the same on the machine of the repository and over HTTP. */
async function proposedTwice(files: Files, before: Files = {}): Promise<{ cli: string; code: number; http: string }> {
  const server = await configServer();
  if (Object.keys(before).length > 0)
    await new Lander(server.it.repository).land([(await server.it.proposeFiles(before)).change], NOW);
  const ran = await onMachine(server, folderOf({ ...before, ...files }));
  const texts = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.toString()]));
  const { body } = await server.propose({ message: 'm', files: texts });
  return { cli: ran.out + ran.err, code: ran.code, http: `${body.error?.code}: ${body.error?.message}` };
}

function onMachine({ it }: ConfigServer, folder: string, ...more: readonly string[]) {
  const own = folderOf({ 'conveyor.config.yaml': `config:\n  repositories:\n    flags: { git: ${it.origin} }\n` });
  const env = { CONVEYOR_CONFIG: join(own, 'conveyor.config.yaml'), CONVEYOR_CACHE: own };
  return run(['config', 'propose', folder, '-m', 'm', ...more], { env });
}

const validator = (holds: string): Files => ({
  'feed/limits.validate.ts': `import { invariant } from 'conveyor/config';
import { limits } from './limits.schema';
export const broken = invariant(limits, ${holds});`,
});

describe('bad input has one clear error, on the machine of the repository and over HTTP', () => {
  test.each<readonly [what: string, files: Files, says: string]>([
    [
      'a program that throws',
      { 'bad.config.ts': `throw new RangeError('boo');` },
      'config-program-failed: bad.config.ts produced no value: bad.config.ts:1: RangeError: boo',
    ],
    [
      'a program that loops',
      { 'bad.config.ts': 'for (;;);' },
      'config-program-failed: bad.config.ts produced no value: it ran for more than 10s',
    ],
    [
      'a program that prints',
      { 'bad.config.ts': `for (;;) console.log('x'.repeat(1000));` },
      'config-program-failed: bad.config.ts produced no value: it wrote more than 64 kB',
    ],
    [
      'a value that does not fit its schema',
      { 'a.json': '{"n":"x"}', 'a.schema.json': '{"properties":{"n":{"type":"number"}}}' },
      'config-value-refused: a of a.json is refused by a.schema.json: n should be number',
    ],
    [
      'a validator that hangs',
      { ...LIMITS, ...validator('() => { for (;;); }') },
      'config-validator-failed: broken of feed/limits.validate.ts could not judge feed/limits: it ran for more than 10s',
    ],
    [
      'a binary file',
      { 'a.json': '"\0"' },
      'config-file-unusable: a.json cannot be used as configuration: it is binary',
    ],
    [
      'an import from outside',
      { 'bad.config.ts': `import '../../etc/hosts';` },
      'config-import-refused: bad.config.ts cannot import ../../etc/hosts: it lies outside of the tree',
    ],
    [
      'a file that is too large',
      { 'a.json': `"${'x'.repeat(1024 * 1024)}"` },
      'config-file-unusable: a.json cannot be used as configuration: it has 1,048,578 bytes, and a file may have 1,048,576 bytes',
    ],
  ])('%s', async (_what, files, says) => {
    const { cli, code, http } = await proposedTwice(files);
    expect([code, cli, http]).toEqual([2, expect.stringContaining(says), expect.stringContaining(says)]);
  });

  test('a merge conflict: the file, and the change that won', async () => {
    const server = await configServer();
    const lander = new Lander(server.it.repository);
    await lander.land([(await server.it.proposeFiles({ 'a.json': '1' })).change], NOW);
    const base = (await server.it.repository.head()) ?? '';
    await lander.land([(await server.it.proposeFiles({ 'a.json': '2' })).change], NOW);
    const says = 'config-conflict: this cannot land: a.json was changed by change 2 meanwhile';
    const ran = await onMachine(server, folderOf({ 'a.json': '3' }), '--base', base);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(says)]);
    const { status, body } = await server.propose({ message: 'm', values: { a: 3 }, base });
    expect([status, `${body.error?.code}: ${body.error?.message}`]).toEqual([409, says]);
  });

  test('a change of 15 MB', async () => {
    const server = await configServer();
    const files = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`v${n}.json`, `"${'x'.repeat(1e6)}"`]));
    const ran = await onMachine(server, folderOf(files));
    expect([ran.code, ran.err]).toEqual([
      2,
      expect.stringContaining('over-limit: the total size of the values of a change is'),
    ]);
    const { status, body } = await server.propose({ message: 'm', files });
    expect([status, body.error?.code]).toEqual([413, 'too-large']);
  });

  test('a repository with a broken branch', async () => {
    const server = await configServer();
    await new Lander(server.it.repository).land([(await server.it.proposeValues({ a: 1 })).change], NOW);
    const input = { input: 'x' };
    const blob = execFileSync('git', ['--git-dir', server.it.origin, 'hash-object', '-w', '--stdin'], input);
    execFileSync('cp', ['/dev/null', join(server.it.origin, 'packed-refs')]);
    execFileSync('tee', [join(server.it.origin, 'refs/heads/main')], { input: blob });
    const ran = await onMachine(server, folderOf({ 'b.json': '1' }));
    const says = 'the configuration repository flags cannot be used: ';
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(says)]);
    const { status, body } = await server.propose({ message: 'm', values: { b: 1 } });
    expect([status, body.error?.message]).toEqual([500, expect.stringContaining(says)]);
  });
});

test('a path outside is refused on its way in, however it is written', async () => {
  const { it, propose } = await configServer();
  for (const path of ['../a', 'values/a'])
    for (const body of [{ values: { [path]: 1 } }, { files: { [`${path}.json`]: '1' } }]) {
      const { status, body: answer } = await propose({ message: 'm', ...body });
      expect([path, status, answer.error?.code]).toEqual([path, 400, 'config-file-unusable']);
    }
  expect(it.git('for-each-ref')).toBe('');
});
