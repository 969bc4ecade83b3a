import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { freePorts } from '../../cli/stack/ports';
import { run, type World } from '../builders/cliWorld';
import { bench, NOW } from './repositories';
import { folderOf, LIMITS, program } from './sources';

const BROKEN = {
  ...LIMITS,
  'feed/limits.config.ts': LIMITS['feed/limits.config.ts']!.toString().replace('soft: SOFT', 'soft: 500'),
};

describe('conveyor config compile', () => {
  test('lists the values with their sources, and writes them where it is asked to', async () => {
    const [folder, out] = [folderOf(LIMITS), join(folderOf({}), 'out')];
    const ran = await run(['config', 'compile', folder, '--out', out]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('✔ feed/limits  feed/limits.config.ts');
    expect(JSON.parse(readFileSync(join(out, 'feed/limits.json'), 'utf8'))).toEqual({ hard: 100, soft: 50 });
  });

  test('writes nothing of a folder with a problem, and ends with 2', async () => {
    const out = join(folderOf({}), 'out');
    const ran = await run(['config', 'compile', folderOf(BROKEN), '--out', out]);
    expect(ran.code).toBe(2);
    expect(ran.out).toContain(
      '✗ config-value-refused: feed/limits of feed/limits.config.ts is refused by softBelowHard',
    );
    expect(ran.out).toContain('1 problem: none of it can be proposed');
    expect(existsSync(out)).toBe(false);
  });

  test('gives programs the same as JSON', async () => {
    const ran = await run(['config', 'compile', folderOf({ 'a.config.ts': program('{ b: 1 }') }), '-o', 'json']);
    expect(JSON.parse(ran.out)).toEqual({
      values: [{ path: 'a', file: 'a.config.ts', sources: ['a.config.ts'], text: '{\n  "b": 1\n}\n' }],
      problems: [],
    });
  });
});

describe('conveyor config why', () => {
  const folder = folderOf(LIMITS);
  test('says which files a value comes from', async () => {
    const ran = await run(['config', 'why', 'feed/limits', '--dir', folder]);
    expect(ran.out).toBe(
      'feed/limits is made by feed/limits.config.ts, from\n  feed/shared.ts\n  feed/limits.schema.ts\n  feed/limits.validate.ts\n',
    );
  });

  test('says which values a file contributes to', async () => {
    const ran = await run(['config', 'why', 'feed/shared.ts', '--dir', folder]);
    expect(ran.out).toBe('feed/shared.ts contributes to\n  feed/limits\n');
  });

  test('knows nothing of any other path', async () => {
    const ran = await run(['config', 'why', 'feed/lmits', '--dir', folder]);
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('feed/lmits is neither a value of') });
  });
});

describe('from a folder to a change', () => {
  const world = async (settings = '') => {
    const it = await bench();
    const folder = folderOf({
      'conveyor.config.yaml': `config:\n  repositories:\n    flags: { ${[`git: ${it.origin}`, settings].filter(Boolean).join(', ')} }\n`,
    });
    const env = {
      CONVEYOR_CONFIG: join(folder, 'conveyor.config.yaml'),
      CONVEYOR_CACHE: folder,
      CONVEYOR_ACTOR: 'user:carol',
    };
    const conveyor = (...argv: readonly string[]) => run(['config', ...argv], { env, interruptAtMs: 0 });
    const pipelines = [
      { pipeline: 'feed', paths: ['feed/'] },
      { pipeline: 'ads', paths: ['ads/', 'models/'] },
    ];
    const besidePipelines = (...argv: readonly string[]) =>
      run(['config', ...argv], { env, pipelines, interruptAtMs: 0 });
    const statusWith = (client: World['client'], ...argv: readonly string[]) =>
      run(['config', 'status', ...argv], { env, client });
    return { it, conveyor, besidePipelines, statusWith };
  };

  test('status says in which release a change is, and what became of it there', async () => {
    const { it, statusWith } = await world();
    const { version } = await it.proposeValues({ a: 1 });
    const of = (over: object) => ({
      listReleases: () =>
        Promise.resolve([{ id: 'feed/3', number: 3, cause: null, artifacts: [{ version }], ...over }]),
    });
    const client = (over: object) => of(over) as unknown as World['client'];
    expect((await statusWith(client({ state: 'queued' }))).out).toMatch(/^1 +waits as feed\/3 +user:alice/m);
    expect((await statusWith(client({ state: 'failed' }))).out).toMatch(/^1 +given up by feed\/3 \(failed\) /m);
    const json = JSON.parse((await statusWith(client({ state: 'running' }), '-o', 'json')).out) as object[];
    expect(json).toMatchObject([{ change: 1, landed: null, where: 'releasing', release: 'feed/3' }]);
    const away = { listReleases: () => Promise.reject(new Error('Temporal is away')) };
    expect(await statusWith(away as unknown as World['client'])).toMatchObject({
      ...{ code: 0, out: expect.stringMatching(/^1 +proposed /m) as string },
      err: 'note: the releases of these changes are unknown: Temporal is away\n',
    });
  });

  test('status of one change says where it is, however many came after it', async () => {
    const { it, statusWith } = await world();
    for (const a of [1, 2]) await it.proposeValues({ a });
    const client = { listReleases: () => Promise.resolve([]) };
    const rows = async (...argv: readonly string[]) =>
      (JSON.parse((await statusWith(client, ...argv, '-o', 'json')).out) as { change: number; where: string }[]).map(
        ({ change, where }) => `${change} ${where}`,
      );
    expect(await rows('--limit', '1')).toEqual(['2 proposed']);
    expect(await rows('--change', '1')).toEqual(['1 proposed']);
    expect(await statusWith(client, '--change', '3')).toMatchObject({
      code: 4,
      err: expect.stringContaining('config-change-unknown') as string,
    });
  });

  test('diff shows what changes, propose makes a change, and status, log and show say how it stands', async () => {
    const { it, conveyor } = await world();
    const folder = folderOf(LIMITS);
    expect((await conveyor('diff', folder)).out).toBe(
      'feed/limits new\n  + {\n  +   "hard": 100,\n  +   "soft": 50\n  + }\n4 files and 1 value change\n',
    );
    const proposed = await conveyor('propose', folder, '-m', 'Limit feeds', '-o', 'json');
    expect(JSON.parse(proposed.out)).toMatchObject({
      repository: 'flags',
      change: 1,
      base: null,
      paths: ['feed/limits'],
    });
    expect((await conveyor('status')).out).toMatch(/^1 +proposed +user:carol +.* +Limit feeds$/m);
    expect((await conveyor('log')).out).toBe('nothing has landed yet\n');
    expect(await conveyor('show', 'feed/limits')).toMatchObject({ code: 4 });
    await new Lander(it.repository).land([1], NOW);
    expect((await conveyor('status')).out).toMatch(/^1 +landed [0-9a-f]{12} /m);
    expect((await conveyor('log')).out).toMatch(/^[0-9a-f]{12} +change 1 +user:carol +.* +Limit feeds$/m);
    expect(JSON.parse((await conveyor('show', 'feed/limits')).out)).toEqual({ hard: 100, soft: 50 });
    expect((await conveyor('diff', folder)).out).toBe('nothing changes\n');
    expect(await conveyor('propose', folder, '-m', 'Again')).toMatchObject({
      code: 1,
      err: expect.stringContaining('config-unchanged'),
    });
  });

  test('a change to paths of two pipelines is refused to its author also without a server', async () => {
    const { it, besidePipelines } = await world();
    const both = folderOf({ ...LIMITS, 'ads/budget.json': '1' });
    expect(await besidePipelines('propose', both, '-m', 'Both')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'config-not-one-pipeline: no single pipeline releases all of this: it changes feed/limits (feed), ads/budget (ads)',
      ) as string,
    });
    expect(await it.repository.changes(10)).toEqual([]);
    expect(await besidePipelines('propose', folderOf(LIMITS), '-m', 'One')).toMatchObject({ code: 0 });
  });

  describe('publish-model', () => {
    const publish = async (conveyor: (...argv: readonly string[]) => ReturnType<typeof run>, name: string) => {
      const [port] = await freePorts(1);
      const file = join(folderOf({ 'feed.bin': 'weights' }), 'feed.bin');
      return conveyor('publish-model', file, '--name', name, '--listen', `127.0.0.1:${port}`);
    };

    test('proposes the model for owners of the repository alone', async () => {
      const { it, besidePipelines } = await world('owners: [user:carol]');
      const published = await publish(besidePipelines, 'feed');
      expect(published).toMatchObject({ code: 0, out: expect.stringMatching(/^1@[0-9a-f]{40}\n {2}models\/feed 1: /) });
      const { it: other, besidePipelines: outsider } = await world('owners: [user:dave]');
      expect(await publish(outsider, 'feed')).toMatchObject({
        code: 4,
        err: expect.stringContaining('user:carol is not an owner of the repository flags'),
      });
      expect([await it.repository.changes(10), await other.repository.changes(10)]).toMatchObject([
        [{ change: 1 }],
        [],
      ]);
    });

    test('asks for the right to the path of the model', async () => {
      const { it, conveyor } = await world('owners: [user:dave], paths: [{ names: [models/feed], by: [user:carol] }]');
      expect(await publish(conveyor, 'feed')).toMatchObject({ code: 0 });
      expect(await publish(conveyor, 'ads')).toMatchObject({
        code: 4,
        err: expect.stringContaining(
          'user:carol may not change models/ads.json: no rule of config.repositories.flags.paths',
        ),
      });
      expect(await it.repository.changes(10)).toMatchObject([{ change: 1 }]);
    });

    test('gives the model the number after the one on the branch', async () => {
      const { it, conveyor } = await world();
      await new Lander(it.repository).land([(await it.proposeValues({ 'models/feed': { version: 4 } })).change], NOW);
      expect((await publish(conveyor, 'feed')).out).toContain('models/feed 5: 7 bytes');
    });
  });

  test('a change that is refused is not proposed', async () => {
    const { conveyor } = await world();
    const ran = await conveyor('propose', folderOf(BROKEN), '-m', 'Too much');
    expect(ran).toMatchObject({ code: 2, out: expect.stringContaining('soft 500 is above hard 100') });
    expect((await conveyor('status')).out).toBe('no change has been proposed yet\n');
  });

  test('a repository that is not configured is named with those that are', async () => {
    const { conveyor } = await world();
    expect(await conveyor('status', '-r', 'flag')).toMatchObject({
      code: 1,
      err: expect.stringContaining('conveyor.config.yaml lists flags'),
    });
  });
});
