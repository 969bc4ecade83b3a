import { restrictToModels } from '../../../configerator/vessel/modelsOnly';
import { PushWorld } from '../pushWorld';

const PATH = 'models/feed';
const UNIT = 'flags/models/feed:eu';
const PATHS = ['models/feed'];
const DEPLOY = 'deploy/feed-model/1/deploy/1';

/** Four hosts read a model, which is 1. */
async function world(): Promise<PushWorld> {
  const made = await PushWorld.open(null, undefined, restrictToModels);
  await made.commits({ [PATH]: 1 });
  for (let n = 0; n < 4; n += 1) await made.hosts.join(`eu-${n}`, 'eu', [PATH]);
  await made.ask('fetchDeployUnits', {}, PATHS);
  return made;
}

test('a task is live once its host no longer loads the model, and not when it knows of it', async () => {
  const it = await world();
  it.hosts.loads = (value) => (value?.trim() === '2' ? 'ranker loads it' : undefined);
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { units: [UNIT], amount: { count: 1 } }, PATHS);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/0/1`, PATHS)).toMatchObject([{ state: 'updating', targeted: 1, live: 0 }]);
  it.hosts.loads = () => undefined;
  await it.settle();
  expect(await it.progress(`${DEPLOY}/0/1`, PATHS)).toMatchObject([{ state: 'done', targeted: 1, live: 1 }]);
});

test('a model that an application refuses fails its update with the reason, and a revert gives those tasks the one before', async () => {
  const it = await world();
  it.hosts.refuses = (value) => (value?.trim() === '2' ? 'ranker: it has other layers' : undefined);
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { units: [UNIT], amount: { count: 1 } }, PATHS);
  await it.settle();
  const [progress] = await it.progress(`${DEPLOY}/0/1`, PATHS);
  expect(progress).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/^eu-\d refuses .*: models\/feed: ranker: it has other layers$/),
  });
  const [unit] = (await it.ask<{ units: { version: string }[] }>('fetchDeployUnits', {}, PATHS)).units;
  await it.revert(DEPLOY, unit?.version ?? '', [`${DEPLOY}/0/1`], [UNIT], PATHS);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/revert/1`, PATHS)).toMatchObject([{ state: 'done', live: 1 }]);
  expect(Object.values(await it.hosts.values(PATH)).map((value) => value?.trim())).toEqual(['1', '1', '1', '1']);
});

test.each([[['feed/limits']], [['models/feed', 'feed/']]])('%j are no paths of models', async (paths) => {
  const it = await world();
  expect(await it.ask('validateConfig', {}, paths)).toMatchObject({
    problems: [{ message: expect.stringContaining('is not a model: paths of the push type model begin with models/') }],
  });
  await expect(it.ask('fetchDeployUnits', {}, paths)).rejects.toThrow('not-deployable');
});
