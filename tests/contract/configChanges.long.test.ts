import { configChangesFinder } from '../../configerator/finder/finder';
import { gitChanges } from '../../configerator/pushType/changes';
import { Lander } from '../../configerator/repository/land';
import { viaApp } from '../../sdk/client';
import { ARTIFACT_FINDER_CHECKS } from '../../sdk/conform/artifactFinder';
import { bench, NOW, type Bench } from '../configerator/repositories';
import { program } from '../configerator/sources';
import { describeSuite } from './suite';

/** The finder over real repositories. */

const finderOf = ({ repository }: Bench) =>
  configChangesFinder({ names: ['flags'], open: () => Promise.resolve(repository) });

describeSuite('artifact finder config-changes', ARTIFACT_FINDER_CHECKS, async () => {
  const it = await bench();
  let n = 0;
  return {
    ...{ fetch: viaApp(finderOf(it)), url: 'http://config' },
    with: { repository: 'flags', paths: ['feed/'] },
    other: { repository: 'flags', paths: ['ads/'] },
    make: async () => (await it.proposeValues({ 'feed/limits': (n += 1) })).version,
  };
});

interface Answer {
  readonly found: readonly { readonly pipeline: string; readonly artifact: { readonly version: string } }[];
  readonly refused: readonly { readonly message: string }[];
  readonly cursor: string;
}

async function ask(app: ReturnType<typeof finderOf>, wanted: object | object[], cursor?: string): Promise<Answer> {
  const context = { pipeline: '', release: 0, deployId: 'sweep', actor: 'service:finder', config: {} };
  const all = Array.isArray(wanted) ? wanted : [wanted];
  const named = (index: number): string => (index === 0 ? 'feed' : `feed-${index}`);
  const subscriptions = all.map((one, index) => ({ pipeline: named(index), artifact: 'limits', with: one }));
  const body = JSON.stringify({ context, subscriptions, ...(cursor === undefined ? {} : { cursor }) });
  const response = await app.request('/getArtifacts', { method: 'POST', body });
  return (await response.json()) as Answer;
}

const versions = ({ found }: Answer): readonly string[] => found.map(({ artifact }) => artifact.version);

const FEED = { repository: 'flags', paths: ['feed/'] };

test('every change of the paths is found, oldest first: two changes that are proposed in the same second are both found', async () => {
  const it = await bench();
  const app = finderOf(it);
  const { cursor } = await ask(app, { path: 'nothing' });
  const one = await it.proposeValues({ 'feed/limits': 1 });
  const other = await it.proposeValues({ 'feed/words': ['a'] });
  expect(versions(await ask(app, FEED))).toEqual([one.version, other.version]);
  expect(versions(await ask(app, FEED, cursor))).toEqual([one.version, other.version]);
  await new Lander(it.repository).land([other.change], NOW);
  expect(versions(await ask(app, FEED, cursor))).toEqual([one.version]);
});

test('more changes than one answer holds are found at the next look, those of the fewest first', async () => {
  const it = await bench();
  const app = finderOf(it);
  const { version } = await it.proposeValues({ 'ads/limits': 1 });
  for (const n of [1, 2, 3, 4, 5]) await it.proposeValues({ 'feed/limits': n });
  const wanted = Array.from({ length: 999 }, () => FEED);
  const { found, refused } = await ask(app, [...wanted, { path: 'ads/limits' }]);
  expect(versions({ found, refused, cursor: '' }).at(-1)).toBe(version);
  expect(found).toHaveLength(1 + 5 * 799);
  expect(refused).toHaveLength(200);
  expect(refused[0]?.message).toContain('at the next look');
});

test('a change is found with the facts for people, whatever was proposed since', async () => {
  const it = await bench();
  const app = finderOf(it);
  const { version } = await it.proposeValues({ 'feed/limits': 2, 'feed/words': ['a'] });
  await it.proposeValues({ 'ads/limits': 1 });
  const { found } = await ask(app, FEED);
  expect(found).toEqual([
    {
      pipeline: 'feed',
      artifact: {
        ...{ name: 'limits', kind: 'config', version },
        metadata: {
          ...{ repository: 'flags', change: '1', author: 'user:alice', message: 'Change it' },
          paths: 'feed/limits, feed/words',
        },
      },
    },
  ]);
  expect(versions(await ask(app, { repository: 'flags', paths: ['feed/words'] }))).toEqual([version]);
  expect(versions(await ask(app, { path: 'feed/words' }))).toEqual([version]);
  expect(versions(await ask(app, { repository: 'flags', paths: ['feed'] }))).toEqual([]);
});

test('a change that has landed is found no more, nor an older one', async () => {
  const it = await bench();
  const app = finderOf(it);
  await it.proposeValues({ 'feed/limits': 1 });
  const { change } = await it.proposeValues({ 'feed/limits': 2 });
  const { cursor } = await ask(app, { path: 'nothing' });
  await new Lander(it.repository).land([change], NOW);
  expect(versions(await ask(app, FEED))).toEqual([]);
  const { version } = await it.proposeValues({ 'feed/limits': 3 });
  expect(versions(await ask(app, FEED))).toEqual([version]);
  expect(versions(await ask(app, FEED, cursor))).toEqual([version]);
});

test('a change with which a deploy is taken back is not a release of its own', async () => {
  const it = await bench();
  const app = finderOf(it);
  const { change } = await it.proposeValues({ 'feed/limits': 1 });
  await new Lander(it.repository).land([change], NOW);
  const changes = gitChanges(
    () => Promise.resolve(it.repository),
    () => NOW,
  );
  expect(await changes.restore('flags', ['feed/'], null, change)).toBe(2);
  expect(versions(await ask(app, FEED))).toEqual([]);
});

test('a deploy is not taken back by a change of the value of another pipeline, which began to use the same file since', async () => {
  const it = await bench();
  const lander = new Lander(it.repository);
  const module = (limit: number) => ({ 'shared.ts': `export const LIMIT: number = ${limit};` });
  const importing = (from: string) => program('LIMIT').replace('\n', `\nimport { LIMIT } from '${from}';\n`);
  const feed = { 'feed/limit.config.ts': importing('../shared') };
  const own = await it.proposeFiles({ ...module(1), ...feed });
  await lander.land([own.change], NOW);
  const before = await it.repository.head();
  const raised = await it.proposeFiles({ ...module(2), ...feed });
  await lander.land([raised.change], NOW);
  const ads = await it.proposeFiles({ ...module(2), ...feed, 'ads/budget.config.ts': importing('../shared') });
  await lander.land([ads.change], NOW);
  const changes = gitChanges(
    () => Promise.resolve(it.repository),
    () => NOW,
  );
  await expect(changes.restore('flags', ['feed/'], before, raised.change)).rejects.toMatchObject({
    ...{ code: 'config-conflict', retryable: false },
    message: expect.stringContaining(
      `ads/budget.config.ts, which produces that value, was last changed by change ${ads.change}`,
    ),
  });
  expect(await changes.restore('flags', ['feed/', 'ads/'], before, raised.change)).toBe(ads.change + 1);
});

test('a repository that does not answer is refused by name, and hides nothing later', async () => {
  const it = await bench();
  const { version } = await it.proposeValues({ 'feed/limits': 1 });
  let isAway = true;
  const app = configChangesFinder({
    names: ['flags', 'other'],
    open: () => (isAway ? Promise.reject(new Error('no disk')) : Promise.resolve(it.repository)),
  });
  const { refused, cursor } = await ask(app, FEED, 'flags:0');
  expect(refused).toMatchObject([{ message: expect.stringContaining('no disk') }]);
  isAway = false;
  expect(versions(await ask(app, FEED, cursor))).toEqual([version]);
  for (const wanted of [{ path: 'feed/limits' }, { repository: 'ads', paths: ['feed/'] }])
    expect((await ask(app, wanted)).refused).toMatchObject([
      { message: expect.stringMatching(/there are flags, other|no repository of configuration called ads/) },
    ]);
});
