import { sendCommand } from '../../client/commands';
import { kvstore } from './pipelines';
import { HOUR, VirtualWorld } from './world';

/** A person's revert is accepted at every moment of a release's life, even after an action was renamed. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const QUICK = { phases: [], healthChecks: [] };
const ALICE = { actor: 'user:alice', reason: 'it is bad' };
const versions = async () => (await world.jobs()).map((job) => Object.keys(job.versions).join());
const reverts = (id: string) => sendCommand(world.workflows(), id, 'revert', ALICE);
const ships = async (version: string) => world.ended('kvstore', (await world.release('kvstore', version)).number);

/** Resolves as soon as a deploy reports its end; its release, and the pipeline, learn that a moment later. */
const deployEnds = async (release: number): Promise<void> => {
  let isOver = false;
  const passing = world.sleep(HOUR);
  while (!isOver) isOver = (await world.deployStatus('kvstore', release).catch(() => undefined))?.outcome != null;
  void passing.catch(() => undefined);
};

test.each(['kvstore/2', 'kvstore/2/deploy'])(
  '%s is taken back in the moment in which its deploy has ended',
  async (id) => {
    await world.apply(kvstore(QUICK));
    await ships('kv:2');
    await world.release('kvstore', 'kv:3');
    await deployEnds(2);
    expect(await reverts(id)).toMatchObject({ accepted: true });
    await world.ended('kvstore', 3);
    expect(await versions()).toEqual(['kv:2', 'kv:2']);
    expect((await world.pipelineStatus('kvstore')).knownBad.map(({ artifact }) => artifact)).toEqual([
      'executable@kv:3',
    ]);
  },
);

test('a version that an action brought under another name goes back', async () => {
  await world.apply(kvstore(QUICK));
  await ships('kv:2');
  await ships('kv:3');
  const { deploy, ...others } = kvstore(QUICK).actions as Record<string, never>;
  await world.apply({ ...kvstore(QUICK), actions: { ...others, ship: deploy as never } });
  await reverts('kvstore/2');
  await world.ended('kvstore', 3);
  expect(await versions()).toEqual(['kv:2', 'kv:2']);
});

test('a version whose action the file no longer has stays, and the refusal names the action and a way', async () => {
  await world.apply(kvstore(QUICK));
  await ships('kv:2');
  await world.apply({ ...kvstore({ ...QUICK, config: { jobs: ['kvstore-x'] } }), actions: elsewhere() });
  await expect(reverts('kvstore/1')).rejects.toThrow(
    /it was deployed by deploy, which the pipeline file no longer has: apply a file with that deploy and revert again/,
  );
});

const elsewhere = () => {
  const { deploy } = kvstore({ ...QUICK, config: { jobs: ['kvstore-x'] } }).actions as Record<string, never>;
  return { ship: deploy as never };
};
