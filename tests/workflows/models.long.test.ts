import { restrictToModels } from '../../configerator/vessel/modelsOnly';
import { PushWorld } from '../configerator/pushWorld';
import { exampleSource } from '../setup/examples';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** Two pipelines of one service, its executable and its model, at the same time (examples/inference). */

const PATH = 'models/feed';
const MODEL = '/push-types/model/';

let world: VirtualWorld;
let models: PushWorld;

beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
  models = await PushWorld.open(null, undefined, restrictToModels);
  await models.commits({ [PATH]: 1 });
  for (let n = 0; n < 6; n += 1) await models.hosts.join(`x-${n}`, 'x', [PATH]);
  const toSimulator = world.simulator.app.fetch;
  world.simulator.app.fetch = async (request, ...rest) => {
    const { pathname, origin } = new URL(request.url);
    if (!pathname.startsWith(MODEL)) return toSimulator(request, ...rest);
    // Hosts have read the store by then.
    await models.settle(1);
    return models.app.fetch(new Request(`${origin}/${pathname.slice(MODEL.length)}`, request));
  };
});
afterEach(() => world.close());

const onHosts = async (): Promise<(string | undefined)[]> =>
  Object.values(await models.hosts.values(PATH)).map((value) => value?.trim());

/** Releases an executable and, at the same time, the model of examples/inference. */
async function bothReleased(version: string): Promise<{ executable: string; model: string }> {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  const source = { ...exampleSource('inference/data/feed.yaml'), owners: ['user:alice'] };
  const { deploy } = source.actions;
  if (deploy?.type !== 'deploy') throw new Error('it has no deploy');
  // These hosts have no metrics: only refusals by applications are judged.
  await world.apply({ ...source, actions: { deploy: { ...deploy, with: { ...deploy.with, healthChecks: [] } } } });
  await world.start(source.pipeline, { artifacts: [{ name: 'model', kind: 'model', version, metadata: {} }] });
  return { executable: 'kvstore', model: source.pipeline };
}

test('a model that applications refuse is taken back from the tasks that had it, while the executable deploys beside it', async () => {
  models.hosts.refuses = (value) => (value?.trim() === '2' ? 'ranker: it has other layers' : undefined);
  const { version } = await models.bench.proposeValues({ [PATH]: 2 });
  const { executable, model } = await bothReleased(version);
  await world.until(
    'both deploy',
    async () => {
      const phases = await Promise.all([executable, model].map(async (it) => (await world.pipelineStatus(it)).active));
      return phases.every((active) => active.length === 1) && (await onHosts()).includes('2');
    },
    { stepMs: 1000, withinMs: 5 * MINUTE },
  );

  const [failed, shipped] = [
    await world.ended(model, 1, { stepMs: 5000, withinMs: HOUR }),
    await world.ended(executable, 1),
  ];
  expect([failed.state, shipped.state]).toEqual(['failed', 'succeeded']);
  expect(JSON.stringify(failed)).toContain('ranker: it has other layers');
  await models.settle();
  expect(await onHosts()).toEqual(Array.from({ length: 6 }, () => '1'));
  expect(models.landed).toEqual([]);
  expect(new Set((await world.jobs()).flatMap((job) => Object.keys(job.versions)))).toEqual(new Set(['kv:2']));
});

test('a good model is on all hosts while the executable deploys beside it, and neither waits for the lock of the other', async () => {
  const { version, change } = await models.bench.proposeValues({ [PATH]: 2 });
  const { executable, model } = await bothReleased(version);
  const [second, first] = [
    await world.ended(executable, 1, { stepMs: 5000, withinMs: HOUR }),
    await world.ended(model, 1),
  ];
  expect([first.state, second.state]).toEqual(['succeeded', 'succeeded']);
  expect([models.landed, await onHosts()]).toEqual([[change], Array.from({ length: 6 }, () => '2')]);
});
