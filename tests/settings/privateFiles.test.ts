import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesIn } from '../../configerator/proxy/files';
import { closeFolder } from '../../settings/ownFolder';
import { replaceFileSync } from '../../sdk/replaceFile';
import { formatRunMark } from '../../sandbox/mark';
import { clearWorkplaces, openWorkplace } from '../../sandbox/workplace';

const home = mkdtempSync(join(tmpdir(), 'conveyor-private-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0 ? test : test.skip;

describe('a file with a secret', () => {
  test('is readable for its user alone, also where one was there that others could read', () => {
    const file = join(home, 'secret');
    writeFileSync(file, 'old', { mode: 0o644 });
    replaceFileSync(file, 'new', { mode: 0o600 });
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o600]);
  });

  test('is written to no place to which a link leads that was there before', () => {
    const [file, elsewhere] = [join(home, 'linked'), join(home, 'elsewhere')];
    writeFileSync(elsewhere, 'theirs');
    symlinkSync(elsewhere, file);
    replaceFileSync(file, 'new', { mode: 0o600 });
    expect([readFileSync(elsewhere, 'utf8'), lstatSync(file).isSymbolicLink()]).toEqual(['theirs', false]);
  });
});

describe('a folder that is closed', () => {
  test('is entered by its user alone, and known to have been open', () => {
    const folder = join(home, 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    expect([closeFolder(folder), closeFolder(folder)]).toEqual(['shared', 'own']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('is not one to which a link leads', () => {
    const folder = join(home, 'link');
    symlinkSync(home, folder);
    expect(closeFolder(folder)).toBe('foreign');
  });

  asRoot('is not one of another user, which stays as it is', () => {
    const folder = join(home, 'theirs');
    mkdirSync(folder, { mode: 0o755 });
    chownSync(folder, NOBODY, NOBODY);
    expect([closeFolder(folder), statSync(folder).mode & 0o777]).toEqual(['foreign', 0o755]);
  });
});

describe('a cache of configuration', () => {
  test('takes no value from a link', async () => {
    const folder = mkdtempSync(join(home, 'cache-'));
    writeFileSync(join(home, 'value.json'), '{}');
    symlinkSync(join(home, 'value.json'), join(folder, 'value.json'));
    await expect(filesIn(folder).read('value.json')).rejects.toThrow('ELOOP');
  });

  asRoot('takes no value that another user has put there', async () => {
    const folder = mkdtempSync(join(home, 'cache-'));
    const files = filesIn(folder);
    await files.write('value.json', '{}');
    expect(await files.read('value.json')).toBe('{}');
    chownSync(join(folder, 'value.json'), NOBODY, NOBODY);
    await expect(files.read('value.json')).rejects.toThrow('another user of this machine has written it');
  });
});

describe('files of a script that a killed worker left', () => {
  test('is removed, and nothing to which a link of that name leads', () => {
    const run = `release/kv/1/script/${process.pid}`;
    const { folder } = openWorkplace(run, { CONVEYOR_FILE: 'x' }, { account: null, namespaces: null });
    const kept = join(home, 'kept');
    mkdirSync(kept);
    const link = join(tmpdir(), `${formatRunMark(run)}-link`);
    symlinkSync(kept, link);
    try {
      clearWorkplaces(run);
      expect([existsSync(folder), existsSync(kept)]).toEqual([false, true]);
    } finally {
      rmSync(link, { force: true });
    }
  });

  asRoot('stays where another user has put it', () => {
    const run = `release/kv/2/script/${process.pid}`;
    const { folder } = openWorkplace(run, {}, { account: null, namespaces: null });
    chownSync(folder, NOBODY, NOBODY);
    try {
      clearWorkplaces(run);
      expect(existsSync(folder)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
