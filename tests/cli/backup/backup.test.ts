import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePorts } from '../../../cli/stack/ports';
import type { BackupManifest } from '../../../cli/backup/manifest';
import { verifyAudit } from '../../../settings/audit/files';
import { openEmbedded } from '../../../archive/duckdb';
import { ServerAudit } from '../../../server/audit/audit';
import { auditEntry } from '../../../domain/audit/record';
import { run, type Ran } from '../../builders/cliWorld';

let home: string;
let env: Record<string, string>;
const at = (...names: string[]): string => join(home, ...names);
const database = (): string => at('temporal.db');

/** All that a machine may keep. */
const ARCHIVE = { file: 'archive.duckdb' };
const AUDIT = { file: 'audit.jsonl' };
const CONFIG = { repositories: { flags: { git: 'flags.git', etcd: 'http://127.0.0.1:2379' } } };

const types = (verb: 'backup' | 'restore', ...more: string[]): Promise<Ran> =>
  run([verb, at('copy'), '--db', database(), '--state', at('config', 'service.json'), ...more], { env });
const configure = (sections: object): void => writeFileSync(at('conveyor.config.yaml'), stringify(sections));
const manifest = (): BackupManifest => JSON.parse(readFileSync(at('copy', 'backup.json'), 'utf8')) as BackupManifest;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'conveyor-machine-'));
  const [temporal, server] = await freePorts(2);
  env = {
    CONVEYOR_CONFIG: at('conveyor.config.yaml'),
    CONVEYOR_CACHE: at('cache'),
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`,
    CONVEYOR_SERVER_URL: `http://127.0.0.1:${server}`,
    PATH: process.env['PATH'] ?? '',
  };
  configure({});
  writeFileSync(database(), 'what Temporal had');
  writeFileSync(`${database()}-wal`, 'what it wrote last');
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

async function records(count: number): Promise<void> {
  const options = {
    file: at('audit.jsonl'),
    keepMs: 1e12,
    server: 'web-1',
    now: () => Date.now(),
    log: () => undefined,
  };
  const audit = new ServerAudit(options);
  await audit.ready();
  const about = { actor: 'user:alice', door: 'api', operation: 'hold', target: 'web', outcome: 'accepted' } as const;
  for (let n = 0; n < count; n += 1) await audit.record(auditEntry({ ...about, result: `hold ${n}` }));
  await audit.close();
}

async function archived(): Promise<void> {
  await openEmbedded(at('archive.duckdb')).write([], { origin: 'default/1', readUntilMs: 7 }, null);
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' });

/** A repository with a branch and a change. */
function landed(): string {
  git('init', '--quiet', '--bare', '--initial-branch=main', at('flags.git'));
  const tree = git('-C', at('flags.git'), 'mktree').trim();
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const commit = git('-C', at('flags.git'), ...author, 'commit-tree', tree, '-m', 'first').trim();
  for (const ref of ['refs/heads/main', 'refs/changes/1']) git('-C', at('flags.git'), 'update-ref', ref, commit);
  return git('-C', at('flags.git'), 'for-each-ref');
}

describe('a backup', () => {
  test('brings back all that the machine kept: Temporal with its last writes, archive, audit, and configuration', async () => {
    configure({ archive: ARCHIVE, audit: AUDIT, config: CONFIG });
    await archived();
    await records(3);
    const refs = landed();
    mkdirSync(at('config'));
    writeFileSync(at('config', 'service.json'), '{"services":{}}');
    expect(await types('backup')).toMatchObject({
      code: 0,
      out: expect.stringContaining('copy is complete: 10 files'),
    });
    expect(statSync(at('copy')).mode & 0o077).toBe(0);

    for (const name of readdirSync(home).filter((one) => !['copy', 'conveyor.config.yaml'].includes(one)))
      rmSync(at(name), { recursive: true });
    expect(await types('restore')).toMatchObject({ code: 0, out: expect.stringContaining('Restored as of ') });
    expect(readFileSync(database(), 'utf8')).toBe('what Temporal had');
    expect(readFileSync(`${database()}-wal`, 'utf8')).toBe('what it wrote last');
    expect(await openEmbedded(at('archive.duckdb')).mark()).toEqual({ origin: 'default/1', readUntilMs: 7 });
    expect(await verifyAudit(at('audit.jsonl'))).toMatchObject([
      { records: 3, broken: null },
      { records: 0, broken: null },
    ]);
    expect(git('-C', at('flags.git'), 'for-each-ref')).toBe(refs);
    expect(readFileSync(at('config', 'service.json'), 'utf8')).toBe('{"services":{}}');
    expect(readdirSync(home).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  (process.getuid?.() === 0 ? test : test.skip)(
    'that root restores belongs to the user whose folder it is',
    async () => {
      expect(await types('backup')).toMatchObject({ code: 0 });
      for (const end of ['', '-wal']) rmSync(`${database()}${end}`);
      chownSync(home, 4711, 4712);
      expect(await types('restore')).toMatchObject({ code: 0 });
      expect(statSync(database())).toMatchObject({ uid: 4711, gid: 4712 });
      expect(readdirSync(home).filter((name) => name.endsWith('.part'))).toEqual([]);
    },
  );

  test('says what is not in it', async () => {
    const repositories = { far: { git: 'ssh://git@example.com/far.git', etcd: 'http://127.0.0.1:2379' } };
    configure({ archive: { urlEnv: 'ARCHIVE_URL' }, config: { repositories } });
    const { out } = await types('backup');
    expect(out.slice(out.indexOf('Not in it:'))).toMatch(
      /secrets: .*\n.*the fleet.*\n.*ARCHIVE_URL: .*pg_dump.*\n.*state of the configuration service: .* is not there\n.*an audit: .* has none\n.*the repository far/,
    );
    expect(manifest().leftOut).toHaveLength(6);
  });

  test('names each part that is not where it should be, as on a disk that is not mounted', async () => {
    configure({ archive: ARCHIVE, audit: AUDIT, config: CONFIG });
    const { code, out } = await types('backup');
    expect(code).toBe(0);
    for (const what of ['the archive', 'the audit', 'the repository flags'])
      expect(out).toMatch(new RegExp(`${what}: \\S+ is not there`));
  });

  test('includes the last writes of a database behind a link, which lie beside the file itself', async () => {
    mkdirSync(at('disk'));
    for (const end of ['', '-wal']) renameSync(`${database()}${end}`, at('disk', `kept.db${end}`));
    symlinkSync(at('disk', 'kept.db'), database());
    expect(await types('backup')).toMatchObject({ code: 0 });
    expect(readFileSync(at('copy', 'temporal', 'temporal.db-wal'), 'utf8')).toBe('what it wrote last');
  });

  test('goes only into a folder that is empty or not there, and touches nothing of another', async () => {
    mkdirSync(at('copy'), { mode: 0o755 });
    writeFileSync(at('copy', 'kept'), 'mine');
    expect(await types('backup')).toMatchObject({ code: 2 });
    expect([statSync(at('copy')).mode & 0o777, readdirSync(at('copy'))]).toEqual([0o755, ['kept']]);
    rmSync(at('copy'), { recursive: true });
    expect(await types('backup')).toMatchObject({ code: 0 });
    const before = readFileSync(at('copy', 'backup.json'), 'utf8');
    expect(await types('backup')).toMatchObject({ code: 2, err: expect.stringContaining('copy is not empty') });
    expect(readFileSync(at('copy', 'backup.json'), 'utf8')).toBe(before);
  });

  test('without room for it leaves nothing behind, and says how much there is', async () => {
    truncateSync(database(), 8e12);
    const { code, err } = await types('backup');
    expect(err).toMatch(
      /backup-failed: .*Temporal \(8000.0 GB\) and conveyor.config.yaml \(3 bytes\) need 8000.0 GB, and \S+ [MG]B are free\n.*make room/,
    );
    expect([code, readdirSync(at('copy'))]).toEqual([1, []]);
  });

  test('is refused before it copies anything where the disk has room for the database, and not for all else too', async () => {
    configure({ archive: ARCHIVE, audit: AUDIT, config: CONFIG });
    await archived();
    await records(3);
    landed();
    mkdirSync(at('config'));
    writeFileSync(at('config', 'service.json'), '{"services":{}}');
    const copied = jest.spyOn(promises, 'copyFile');
    const free = (bavail: number) => jest.spyOn(promises, 'statfs').mockResolvedValue({ bavail, bsize: 1 } as never);
    free(statSync(at('archive.duckdb')).size + 40);
    const { code, err } = await types('backup');
    const parts =
      'the archive \\(.*\\), Temporal \\(35 bytes\\), the state of the configuration service \\(15 bytes\\), repositories .* \\(.*\\), the audit \\(.*\\) and conveyor.config.yaml \\(.*\\)';
    expect(err).toMatch(
      new RegExp(
        `no backup was made: the disk of ${at('copy')}: ${parts} need \\S+ [kM]B, and \\S+ [kM]B are free\n.*make room`,
      ),
    );
    expect([code, readdirSync(at('copy')), copied.mock.calls]).toEqual([1, [], []]);
    free(3e7);
    expect(await types('backup')).toMatchObject({ code: 0 });
  });

  test('without the database of Temporal is none, and says how to name it', async () => {
    unlinkSync(database());
    const { code, err } = await types('backup');
    expect(err).toMatch(/there is no database .*temporal.db\n.*--db or CONVEYOR_TEMPORAL_DB/);
    expect([code, existsSync(at('copy', 'backup.json'))]).toEqual([1, false]);
  });

  test('refuses the database of another Temporal server: something answers, and nothing has it open', async () => {
    const server = createServer().listen(Number(env['TEMPORAL_ADDRESS']?.split(':')[1]), '127.0.0.1');
    await once(server, 'listening');
    const { code, err } = await types('backup');
    server.close();
    expect(err).toContain('no process visible to this user has');
    expect(code).toBe(1);
  });

  test('ends an audit with its last whole record, and warns of a broken one', async () => {
    configure({ audit: AUDIT });
    await records(2);
    appendFileSync(at('audit.jsonl'), '{"seq":3,"at":"2026-');
    expect(await types('backup')).toMatchObject({ code: 0, err: expect.not.stringContaining('warning') });
    const copy = at('copy', 'audit', 'audit.jsonl');
    expect((await verifyAudit(copy))[0]).toMatchObject({ records: 2, broken: null });

    rmSync(at('copy'), { recursive: true });
    const [, ...others] = readFileSync(at('audit.jsonl'), 'utf8').split('\n');
    writeFileSync(at('audit.jsonl'), others.join('\n'));
    expect(await types('backup')).toMatchObject({
      code: 0,
      err: expect.stringMatching(/warning: the audit is broken/),
    });
  });
});

describe('a restore is refused, and changes nothing, where', () => {
  const edit = (change: (manifest: BackupManifest) => object): void =>
    writeFileSync(at('copy', 'backup.json'), JSON.stringify({ ...manifest(), ...change(manifest()) }));
  const copied = (name: string): string => at('copy', 'temporal', name);

  beforeEach(async () => {
    configure({});
    expect(await types('backup')).toMatchObject({ code: 0 });
    for (const name of readdirSync(home).filter((one) => one.startsWith('temporal'))) rmSync(at(name));
  });

  test.each<[string, () => void, RegExp]>([
    ['the backup was not finished', () => unlinkSync(at('copy', 'backup.json')), /has no backup.json/],
    ['its list is torn', () => truncateSync(at('copy', 'backup.json'), 40), /backup.json cannot be read/],
    ['a file is missing', () => unlinkSync(copied('temporal.db-wal')), /temporal.db-wal is missing/],
    ['a file was cut', () => truncateSync(copied('temporal.db'), 4), /temporal.db is not as it was written/],
    [
      'a file has another byte',
      () => writeFileSync(copied('temporal.db'), 'what Temporal hat'),
      /temporal.db is not as it was written/,
    ],
    ['its format is newer', () => edit(() => ({ format: 2 })), /a newer Conveyor made it\n.*with the version that/],
    [
      'a newer Conveyor made it',
      () => edit(({ versions }) => ({ versions: { ...versions, conveyor: '99.0.0' } })),
      /made with Conveyor 99.0.0, and this is/,
    ],
    [
      'it names a place outside of itself',
      () => edit(({ files }) => ({ files: [{ ...files[0], path: '../../etc/passwd' }] })),
      /backup.json is not as it was written: files.0.path/,
    ],
    ['it has no database', () => edit(() => ({ files: [] })), /it holds no database of Temporal/],
    [
      'a log of writes is there, as a restore leaves it that was killed',
      () => writeFileSync(`${database()}-wal`, ''),
      /temporal.db-wal is already there\n.*mv \S+temporal.db-wal \S+temporal.db-wal.2\d{7}T\d{6}Z/,
    ],
  ])('%s', async (_, spoil, words) => {
    spoil();
    const before = readdirSync(home).sort();
    const { code, err } = await types('restore');
    expect(err).toMatch(words);
    expect([code, readdirSync(home).sort()]).toEqual([1, before]);
  });

  test('something answers at the address of Temporal or of the server', async () => {
    const server = createServer().listen(Number(env['TEMPORAL_ADDRESS']?.split(':')[1]), '127.0.0.1');
    await once(server, 'listening');
    expect(await types('restore')).toMatchObject({ code: 1, err: expect.stringContaining('Temporal runs at') });
    server.close();
  });

  test('a worker of this Temporal server runs, also while that does not; one of another server does not count', async () => {
    const script = at('conveyor.js');
    writeFileSync(script, 'setInterval(() => undefined, 1000); console.log("ready")');
    const starts = (program: string, address: string) =>
      spawn(process.execPath, [script, program], { env: { TEMPORAL_ADDRESS: address } });
    const here = env['TEMPORAL_ADDRESS']!.replace('127.0.0.1', 'localhost');
    const [own, other, server] = [starts('worker', here), starts('worker', 'localhost:1'), starts('server', here)];
    await Promise.all([own, other, server].map((one) => once(one.stdout, 'data')));
    expect((await types('restore')).err).toMatch(
      /nothing was restored: (worker|server) \d+ and (worker|server) \d+ still run\n/,
    );
    server.kill();
    await once(server, 'exit');
    expect(await types('restore')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`nothing was restored: worker ${own.pid} still runs`),
    });
    own.kill();
    await once(own, 'exit');
    expect(await types('restore')).toMatchObject({ code: 0 });
    other.kill();
    await once(other, 'exit');
  });
});

describe('a restore of all that a machine kept', () => {
  const keeps = { archive: ARCHIVE, audit: AUDIT };
  const lose = (...kept: string[]): void => {
    for (const name of readdirSync(home).filter((one) => !['copy', ...kept].includes(one))) rmSync(at(name));
  };

  beforeEach(async () => {
    configure(keeps);
    await archived();
    await records(2);
    expect(await types('backup')).toMatchObject({ code: 0 });
    lose('conveyor.config.yaml');
  });

  test('is refused before it writes anything where the disk has room for the database, and not for the archive and the audit too', async () => {
    const room = statSync(at('copy', 'archive', 'archive.duckdb')).size + 40;
    const statfs = jest.spyOn(promises, 'statfs').mockResolvedValue({ bavail: room, bsize: 1 } as never);
    const { code, err } = await types('restore');
    expect(err).toMatch(
      new RegExp(
        `nothing was restored: the archive, Temporal and the audit take \\S+ \\S+ on the disk of ${home}, which has room for .*\n.*make room there`,
      ),
    );
    expect([code, readdirSync(home).sort()]).toEqual([1, ['conveyor.config.yaml', 'copy']]);
    statfs.mockRestore();
    expect(await types('restore')).toMatchObject({ code: 0 });
  });

  test('is refused before it writes anything where the settings have no place for a part, unless that is left out by name', async () => {
    configure({});
    const { code, err } = await types('restore');
    expect(err).toMatch(
      /conveyor.config.yaml names no place for the archive and the audit of the backup\n.*copy\/configuration\/conveyor.config.yaml, .*conveyor restore \S+copy --db \S+ --state \S+ --without archive audit/,
    );
    expect([code, readdirSync(home).sort()]).toEqual([1, ['conveyor.config.yaml', 'copy']]);
    expect(await types('restore', '--without', 'archive', 'audit')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /Left as it is:\n +the archive, left out as asked: .*archive\n +the audit, left out as asked: .*audit\n/,
      ),
    });
    expect(readFileSync(database(), 'utf8')).toBe('what Temporal had');
    expect(existsSync(at('archive.duckdb'))).toBe(false);
  });

  test('leaves out no part that the rest is nothing without', async () => {
    expect(await types('restore', '--without', 'temporal')).toMatchObject({
      code: 2,
      err: expect.stringContaining('archive, repositories, audit'),
    });
  });
});

test('commands to type hold where a path has spaces and quotes', async () => {
  const folder = at("Bob's disk");
  mkdirSync(folder);
  const words = [join(folder, 'copy'), '--db', join(folder, 'temporal.db')];
  writeFileSync(join(folder, 'temporal.db'), 'what Temporal had');
  const { out } = await run(['backup', ...words], { env });
  const typed = /conveyor restore (.*) puts it back/.exec(out)?.[1] ?? '';
  expect(execFileSync('sh', ['-c', `printf '%s\\n' ${typed}`], { encoding: 'utf8' }).split('\n')).toEqual([
    ...words,
    '',
  ]);
  const { err } = await run(['restore', ...words], { env });
  execFileSync('sh', ['-c', /mv .*/.exec(err)?.[0] ?? 'false']);
  expect(readdirSync(folder).filter((name) => /^temporal\.db\.2\d{7}T/.test(name))).toHaveLength(1);
});

test('a restore leaves an audit that has come further than the backup, and asks to move away another one', async () => {
  configure({ audit: AUDIT });
  await records(2);
  await types('backup');
  await records(2);
  rmSync(database());
  rmSync(`${database()}-wal`);
  expect(await types('restore')).toMatchObject({
    code: 0,
    out: expect.stringContaining(`the audit ${at('audit.jsonl')}, which continues that of the backup`),
  });
  expect((await verifyAudit(at('audit.jsonl')))[0]).toMatchObject({ records: 4, broken: null });

  for (const name of readdirSync(home).filter((one) => /^(audit|temporal)\./.test(one))) rmSync(at(name));
  await records(5);
  expect(await types('restore')).toMatchObject({ code: 1, err: expect.stringContaining(`mv ${at('audit.jsonl')} `) });
});

describe('a restore goes where the backup came from', () => {
  const lose = (): void => {
    for (const end of ['', '-wal']) rmSync(`${database()}${end}`);
  };

  test('by the whole command that the backup prints, with a database that a variable named too', async () => {
    env['CONVEYOR_TEMPORAL_DB'] = database();
    const { out } = await run(['backup', at('copy'), '--state', at('config', 'service.json')], { env });
    const named = `--db ${database()} --state ${at('config', 'service.json')}`;
    expect(out).toContain(
      `CONVEYOR_CONFIG=${at('conveyor.config.yaml')} conveyor restore ${at('copy')} ${named} puts it back.`,
    );
    lose();
    expect(await types('restore')).toMatchObject({ code: 0, out: expect.not.stringContaining('before at') });
  });

  test('or is refused before it writes anything, with the whole command', async () => {
    expect(await types('backup')).toMatchObject({ code: 0 });
    lose();
    const { code, err } = await run(['restore', at('copy'), '--without', 'archive'], { env });
    expect(err).toMatch(
      /nothing was restored: the database of Temporal was \S+temporal.db, and would be \S+\.conveyor\/temporal.db; the state .*\n.*conveyor restore \S+copy --db \S+temporal.db --state \S+service.json --without archive puts it back where it was; .* use --db and --state/,
    );
    expect([code, existsSync(database())]).toEqual([1, false]);
  });

  test('or to another place that is named, and says where it was', async () => {
    expect(await types('backup')).toMatchObject({ code: 0 });
    lose();
    const words = ['restore', at('copy'), '--db', at('other.db'), '--state', at('config', 'service.json')];
    expect(await run(words, { env })).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Temporal: ${at('other.db')}, before at ${database()}\n`),
    });
    expect(readFileSync(at('other.db'), 'utf8')).toBe('what Temporal had');
  });

  test('also of a backup by an older Conveyor, which does not know where it was', async () => {
    expect(await types('backup')).toMatchObject({ code: 0 });
    lose();
    const { named: _, files, ...older } = manifest();
    const oldFiles = files.map(({ place: __, ...file }) => file);
    writeFileSync(at('copy', 'backup.json'), JSON.stringify({ ...older, files: oldFiles }));
    expect(await types('restore')).toMatchObject({ code: 0 });
  });
});
