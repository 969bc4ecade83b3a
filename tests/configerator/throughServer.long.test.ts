import { Lander } from '../../configerator/repository/land';
import { run } from '../builders/cliWorld';
import { TOKEN } from '../builders/serverWorld';
import { configServer } from '../server/configWorld';
import { NOW } from './repositories';
import { folderOf, LIMITS, program } from './sources';

/** Commands that know a server and nothing else: neither a repository nor git of their own. */
async function world(over: Parameters<typeof configServer>[0] = {}) {
  const server = await configServer(over);
  const fetch = ((url: string, init: RequestInit) => server.app.request(url, init)) as typeof globalThis.fetch;
  const env = { CONVEYOR_SERVER: 'http://localhost:4500', CONVEYOR_TOKEN: TOKEN, CONVEYOR_CONFIG: '/nowhere.yaml' };
  return { ...server, conveyor: (...argv: readonly string[]) => run(['config', ...argv], { fetch, env }) };
}

test('propose, status, log, show and why work through a server as they do on the machine of the repository', async () => {
  const { it, conveyor } = await world();
  const folder = folderOf({ ...LIMITS, 'old.json': '1' });
  const proposed = await conveyor('propose', folder, '-m', 'Limit feeds', '-o', 'json');
  expect(JSON.parse(proposed.out)).toMatchObject({ repository: 'flags', change: 1, paths: ['feed/limits', 'old'] });
  expect((await conveyor('status')).out).toMatch(/^1 +proposed +service:ci +.* +Limit feeds$/m);
  expect((await conveyor('status', '--change', '1')).out).toMatch(/^1 +proposed +service:ci +.* +Limit feeds$/m);
  await new Lander(it.repository).land([1], NOW);
  expect((await conveyor('log')).out).toMatch(/^[0-9a-f]{12} +change 1 +service:ci +.* +Limit feeds$/m);
  expect(JSON.parse((await conveyor('show', 'feed/limits')).out)).toEqual({ hard: 100, soft: 50 });
  expect((await conveyor('why', 'feed/shared.ts')).out).toBe(
    'feed/shared.ts contributes to\n  feed/limits\nthe subscribers of feed/limits are unknown: config.repositories.flags names no etcd\n',
  );
  const { 'feed/shared.ts': shared = '' } = LIMITS;
  const next = folderOf({ ...LIMITS, 'feed/shared.ts': shared.toString().replace('50', '60') });
  const base = (await it.repository.head()) ?? '';
  const second = await conveyor('propose', next, '-m', 'Less, and nothing old', '--base', base, '-o', 'json');
  expect(JSON.parse(second.out)).toMatchObject({
    change: 2,
    base,
    paths: ['feed/limits', 'old'],
  });
  expect(it.git('diff', '--name-only', 'main', 'refs/changes/2').trim().split('\n')).toEqual([
    ...['feed/shared.ts', 'old.json', 'values/feed/limits.json', 'values/old.json'],
  ]);
  expect(JSON.parse((await conveyor('show', 'feed/limits', '--change', '2')).out)).toEqual({ hard: 100, soft: 60 });
});

test('a change that no pipeline could release whole is refused with its paths and their pipelines, and is no change', async () => {
  const of = (pipeline: string, paths: readonly string[]) => ({
    ...{ pipeline, subscribedAtMs: 0, subscriptions: [{ artifact: 'change', with: { repository: 'flags', paths } }] },
  });
  const { conveyor, it } = await world({
    index: {
      subscriptions: async function* () {
        yield* [of('feed', ['feed/']), of('ads', ['ads/'])];
      },
    },
  });
  const both = folderOf({ ...LIMITS, 'ads/budget.json': '1' });
  expect(await conveyor('propose', both, '-m', 'Both')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'config-not-one-pipeline: no single pipeline releases all of this: it changes feed/limits (feed), ads/budget (ads)',
    ) as string,
  });
  expect(await it.repository.changes(10)).toEqual([]);
  expect(await conveyor('propose', folderOf(LIMITS), '-m', 'One')).toMatchObject({ code: 0 });
});

test('diff shows through a server what a folder would change, with its problems, and leaves nothing behind', async () => {
  const { it, conveyor } = await world();
  const first = await conveyor('diff', folderOf(LIMITS));
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toContain('feed/limits new\n  + {\n  +   "hard": 100,\n  +   "soft": 50\n  + }\n');
  await it.proposeFiles({ ...LIMITS, 'old.json': '1' });
  await new Lander(it.repository).land([1], NOW);
  const next = { ...LIMITS, 'a.config.ts': program('NaN') };
  const shown = await conveyor('diff', folderOf(next), '--base', (await it.repository.head()) ?? '', '-o', 'json');
  expect({ ...shown, out: JSON.parse(shown.out) as unknown }).toMatchObject({
    code: 2,
    out: {
      ...{ repository: 'flags', base: await it.repository.head(), files: ['a.config.ts', 'old.json'] },
      values: [{ path: 'old', before: '1', after: null }],
      problems: [{ code: 'config-value-refused', message: expect.stringContaining('the value is NaN') }],
    },
  });
  expect((await conveyor('status', '-o', 'name')).out.trim().split('\n')).toHaveLength(1);
});

test('a refusal of the server is shown in its words, with its exit code', async () => {
  const { conveyor } = await world();
  expect(await conveyor('propose', folderOf({ 'a.config.ts': program('NaN') }), '-m', 'm')).toMatchObject({
    code: 2,
    err: expect.stringContaining('config-value-refused: a of a.config.ts is refused by its schema: the value is NaN'),
  });
  expect(await conveyor('show', 'nothing')).toMatchObject({ code: 4 });
  expect(await conveyor('status', '-r', 'flag')).toMatchObject({
    code: 1,
    err: expect.stringContaining('lists flags'),
  });
});
