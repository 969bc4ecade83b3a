import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { run } from '../builders/cliWorld';
import { TOKEN } from '../builders/serverWorld';
import { configServer } from '../server/configWorld';
import { bench, NOW, type Bench } from './repositories';
import { folderOf } from './sources';

/** The base of a folder without a checkout: nothing that others have landed is undone because it was not there yet. */

interface Door {
  readonly it: Bench;
  conveyor(...argv: readonly string[]): ReturnType<typeof run>;
}

async function ownDoor(): Promise<Door> {
  const it = await bench();
  const folder = folderOf({ 'conveyor.config.yaml': `config:\n  repositories:\n    flags: { git: ${it.origin} }\n` });
  const env = { CONVEYOR_CONFIG: join(folder, 'conveyor.config.yaml'), CONVEYOR_CACHE: folder };
  return { it, conveyor: (...argv) => run(['config', ...argv], { env: { ...env, CONVEYOR_ACTOR: 'user:carol' } }) };
}

async function serverDoor(): Promise<Door> {
  const { it, app } = await configServer();
  const fetch = ((url: string, init: RequestInit) => app.request(url, init)) as typeof globalThis.fetch;
  const env = { CONVEYOR_SERVER: 'http://localhost:4500', CONVEYOR_TOKEN: TOKEN, CONVEYOR_CONFIG: '/nowhere.yaml' };
  return { it, conveyor: (...argv) => run(['config', ...argv], { fetch, env }) };
}

describe.each([
  ['on this machine', ownDoor],
  ['through a server', serverDoor],
])('a folder without a checkout, %s', (_title, door) => {
  const FIRST = { 'soft.json': '10', 'hard.json': '100' };
  let it: Bench;
  let conveyor: Door['conveyor'];
  const lands = (change: number) => new Lander(it.repository).land([change], NOW);
  const copyOf = (folder: string): string => {
    const copy = folderOf({});
    cpSync(folder, copy, { recursive: true });
    return copy;
  };
  const proposes = (folder: string, ...more: string[]) => conveyor('propose', folder, '-m', 'Change it', ...more);
  const valueOf = async (path: string) => (await conveyor('show', path)).out.trim();
  beforeEach(async () => ({ it, conveyor } = await door()));

  test('continues from its own change that has landed, and undoes nothing that others have landed since', async () => {
    const mine = folderOf(FIRST);
    await proposes(mine);
    await lands(1);
    const theirs = copyOf(mine);
    writeFileSync(join(theirs, 'soft.json'), '20');
    writeFileSync(join(theirs, 'new.json'), '1');
    expect(await proposes(theirs)).toMatchObject({ code: 0 });
    await lands(2);
    writeFileSync(join(mine, 'hard.json'), '200');
    const ran = await proposes(mine, '-o', 'json');
    expect(JSON.parse(ran.out)).toMatchObject({ change: 3, paths: ['hard'], deleted: [] });
    expect(await lands(3)).toMatchObject([{ change: 3, commit: expect.anything() }]);
    expect([await valueOf('soft'), await valueOf('hard'), await valueOf('new')]).toEqual(['20', '200', '1']);
  });

  test('proposes the difference from before if its change did not land', async () => {
    const folder = folderOf(FIRST);
    await proposes(folder);
    await lands(1);
    writeFileSync(join(folder, 'soft.json'), '500');
    await proposes(folder);
    writeFileSync(join(folder, 'soft.json'), '50');
    writeFileSync(join(folder, 'hard.json'), '500');
    await proposes(folder);
    expect(await lands(3)).toMatchObject([{ change: 3, commit: expect.anything() }]);
    expect([await valueOf('soft'), await valueOf('hard')]).toEqual(['50', '500']);
    expect((await conveyor('diff', folder)).out).toBe('nothing changes\n');
  });

  test('is refused where nothing says what it is based on, and continues from the commit that its author names', async () => {
    await proposes(folderOf(FIRST));
    await lands(1);
    const folder = folderOf({ 'hard.json': '200' });
    const base = (await it.repository.head()) ?? '';
    for (const ran of [await proposes(folder), await conveyor('diff', folder)])
      expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('config-base-unknown') });
    const said = await proposes(folder, '--base', base);
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining('deletes 1 file:\n  - soft.json\n') });
    writeFileSync(join(folder, 'hard.json'), '300');
    expect(JSON.parse((await proposes(folder, '-o', 'json')).out)).toMatchObject({ base, deleted: ['soft.json'] });
  });

  test('that was proposed before the branch had a commit undoes nothing of what landed first', async () => {
    const [mine, other] = [folderOf(FIRST), folderOf({ 'other.json': '1', 'soft.json': '11' })];
    await proposes(mine);
    await proposes(other);
    await lands(1);
    expect(await proposes(other)).toMatchObject({ code: 1, err: expect.stringContaining('config-conflict') });
    rmSync(join(other, 'soft.json'));
    expect(JSON.parse((await proposes(other, '-o', 'json')).out)).toMatchObject({ paths: ['other'], deleted: [] });
  });

  test('that is of another repository is based on nothing that this one knows', async () => {
    await proposes(folderOf(FIRST));
    await lands(1);
    const folder = folderOf({ '.conveyor-base.json': '{"repository":"ads","base":null,"proposed":[]}', 'a.json': '1' });
    expect(await proposes(folder)).toMatchObject({ code: 2, err: expect.stringContaining('config-base-unknown') });
  });
});

test('a checkout says itself what it is based on, and is left as it is; one of another branch is refused', async () => {
  const { it, conveyor } = await ownDoor();
  await it.proposeFiles({ 'soft.json': '10', 'hard.json': '100' });
  await new Lander(it.repository).land([1], NOW);
  const clone = join(folderOf({}), 'clone');
  execFileSync('git', ['clone', '--quiet', it.origin, clone]);
  await it.proposeFiles({ 'soft.json': '20', 'hard.json': '100', 'new.json': '1' });
  await new Lander(it.repository).land([2], NOW);
  writeFileSync(join(clone, 'hard.json'), '200');
  const ran = await conveyor('propose', clone, '-m', 'Raise it', '-o', 'json');
  expect(JSON.parse(ran.out)).toMatchObject({ paths: ['hard'], deleted: [] });
  expect(existsSync(join(clone, '.conveyor-base.json'))).toBe(false);
  const elsewhere = folderOf({ 'hard.json': '1' });
  execFileSync('git', ['init', '--quiet', elsewhere]);
  expect(await conveyor('propose', elsewhere, '-m', 'm')).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('config-base-unknown') },
  });
  expect(readFileSync(join(elsewhere, 'hard.json'), 'utf8')).toBe('1');
});
