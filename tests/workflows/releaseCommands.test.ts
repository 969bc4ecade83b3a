import { kvstore } from './pipelines';
import { HOUR, VirtualWorld } from './world';

const DEPLOY = 'deploy/kvstore/1/deploy/1';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
  await world.apply(kvstore());
  await world.command('pipeline/kvstore', 'hold');
  await world.release('kvstore', 'kv:2');
  const blocked = async () => (await world.releaseStatus('kvstore', 1)).actions[0]?.state === 'blocked';
  await world.until('the release waits for its turn', blocked);
});
afterEach(() => world.close());

test('a release that is paused while its deploy waits for its turn begins it only once it is resumed', async () => {
  await world.command('release/kvstore/1', 'pause');
  await world.command('pipeline/kvstore', 'unhold');
  await world.sleep(HOUR);
  expect(await world.releaseStatus('kvstore', 1)).toMatchObject({
    state: 'paused',
    actions: [{ state: 'blocked', blockedBy: 'the release is paused' }],
  });
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:1': 6 });
  await world.command('release/kvstore/1', 'resume');
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
});

test('a release that is cancelled while it is paused with its turn granted lets the next one deploy', async () => {
  await world.command('release/kvstore/1', 'pause');
  await world.command('pipeline/kvstore', 'unhold');
  await world.sleep(HOUR);
  await world.command('release/kvstore/1', 'cancel');
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
  await world.release('kvstore', 'kv:3');
  expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'succeeded' });
});

test('who becomes an owner while a deploy waits for its turn may command it once it runs', async () => {
  await world.apply({ ...kvstore(), owners: ['user:alice', 'user:bob'] });
  await world.command('pipeline/kvstore', 'unhold', { actor: 'user:bob' });
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.command(DEPLOY, 'cancel', { actor: 'user:bob' });
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'cancelled' });
});

describe('a command that the server kept for a release while no worker ran', () => {
  // As the client leaves it: it cannot ask then for which deploy the release would take it.
  const leave = (verb: 'pause' | 'resume' | 'cancel') =>
    world.client.workflow.getHandle('release/kvstore/1').signal(verb, { actor: 'user:alice', reason: 'kept' });
  const commands = async (): Promise<unknown> => (await world.releaseStatus('kvstore', 1)).commands.slice(-1);

  beforeEach(async () => {
    await world.command('pipeline/kvstore', 'unhold');
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  });

  test('resumes a deploy that was paused by itself', async () => {
    await world.command(DEPLOY, 'pause');
    await leave('resume');
    await world.reaches('kvstore', 1, ({ paused }) => paused === null);
    expect(await commands()).toMatchObject([{ verb: 'resume', reason: 'kept', accepted: true }]);
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
  });

  test('pauses a deploy that was resumed by itself, though the release is already paused', async () => {
    await world.command('release/kvstore/1', 'pause');
    await world.reaches('kvstore', 1, ({ paused }) => paused !== null);
    await world.command(DEPLOY, 'resume');
    await world.reaches('kvstore', 1, ({ paused }) => paused === null);
    await leave('pause');
    await world.reaches('kvstore', 1, ({ paused }) => paused?.reason === 'kept');
  });

  test('is refused, and on record, where neither the release nor a deploy of it can take it', async () => {
    await leave('resume');
    const refused = { verb: 'resume', accepted: false, rejection: 'it is not paused' };
    const onRecord = async () => (await world.deployStatus('kvstore', 1)).commands.length > 0;
    await world.until('the deploy has it on record', onRecord);
    expect((await world.deployStatus('kvstore', 1)).commands).toMatchObject([refused]);
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
  });
});
