import { deploying, type LoneDeploy } from './deploys';
import { VirtualWorld } from './world';

/**
 * After a restore the numbers of lost releases are given again, and with them the ids of updates: a push type answers with what
 * became of the lost ones.
 */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6);
});
afterEach(() => world.close());

const SPEC = { config: { jobs: ['kvstore-x'] } };
const deploy = (release: number): Promise<LoneDeploy> => deploying(world, { release }, SPEC);
const versions = async () => (await world.jobs())[0]?.versions;

/** Releases 2 and 3 that a restore knows nothing of; the latter was in its first phase. */
async function lostReleases(): Promise<void> {
  expect(await (await deploy(2)).ended()).toMatchObject({ outcome: 'succeeded' });
  const third = await deploy(3);
  await third.reaches(({ state }) => state === 'baking');
  await third.command('cancel');
  expect(await third.ended()).toMatchObject({ outcome: 'cancelled' });
  expect(await versions()).toEqual({ 'kv:2': 3, 'kv:3': 3 });
}

test('a deploy whose updates were done by a lost release of its number brings its version all the same', async () => {
  await lostReleases();
  const again = await deploy(2);
  expect(await again.ended()).toMatchObject({ outcome: 'succeeded', reason: 'every unit runs kv:2' });
  expect(await versions()).toEqual({ 'kv:2': 6 });
  const { timeline } = await again.status();
  expect(timeline).toContainEqual(
    expect.objectContaining({
      text: 'completion: deploy/kvstore/2/deploy/1/1/1 counts as done, but 3 tasks of it as outdated: the push type may know that id from a release that a restore has lost',
    }),
  );
});

test('a deploy whose push type contradicts itself again and again waits for a person, and succeeds by nothing that it said', async () => {
  const honest = lying();
  const stubborn = await deploying(world, {}, { ...SPEC, healthChecks: [] });
  const { paused } = await stubborn.reaches((status) => status.paused !== null || status.state === 'ended');
  expect(paused).toMatchObject({
    by: 'unit',
    reason: expect.stringContaining('deploy/kvstore/2/deploy/1/0/4 counts as done'),
  });
  expect(await versions()).toEqual({ 'kv:1': 6 });
  honest();
  await stubborn.command('resume');
  expect(await stubborn.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual({ 'kv:2': 6 });
});

test('a revert ends where the push type contradicts itself for good, and says that it did', async () => {
  const bad = await deploying(world, {}, SPEC);
  await bad.reaches(({ state }) => state === 'baking');
  answering(({ method, updateId, common }) => {
    if (method === 'needsPush' && common?.updatedBy) return { units: [{ id: 'kvstore-x', size: 6, outdated: 3 }] };
    return method === 'trackUpdates' && updateId?.includes('/revert/') ? { units: [DONE] } : undefined;
  });
  await bad.command('revert');
  expect(await bad.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kv:1': 6 });
  const { timeline } = await bad.status();
  expect(timeline.filter(({ kind }) => kind === 'retrying')).toHaveLength(3);
});

const DONE = { id: 'kvstore-x', state: 'done', targeted: 3, updated: 3, live: 3, failed: 0, unreachable: 0, gone: 0 };

/** Until it is called, the push type takes no update and says that all are done. */
const lying = (): (() => void) =>
  answering(({ method }) => {
    if (method === 'executeUpdates') return { accepted: ['kvstore-x'] };
    return method === 'trackUpdates' ? { units: [DONE] } : undefined;
  });

interface Asked {
  readonly method: string | undefined;
  readonly updateId?: string;
  readonly common?: { readonly updatedBy?: readonly string[] };
}

/** Answers in place of the push type, where it has an answer. @returns stops that. */
function answering(answer: (asked: Asked) => object | undefined): () => void {
  const { app } = world.simulator;
  const real = app.fetch.bind(app);
  app.fetch = async (request, ...rest) => {
    const body = (await request
      .clone()
      .json()
      .catch(() => ({}))) as Omit<Asked, 'method'>;
    const given = answer({ ...body, method: request.url.split('/').at(-1) });
    return given ? Response.json(given) : real(request, ...rest);
  };
  return () => void (app.fetch = real);
}
