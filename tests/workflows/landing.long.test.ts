import type { Landing, Strip } from '../../configerator/domain/landing';
import { bench, type Bench } from '../configerator/repositories';
import { folderOf } from '../configerator/sources';
import { VirtualWorld } from './world';

let it: Bench;
let world: VirtualWorld;
const cache = process.env['CONVEYOR_CACHE'];
beforeEach(async () => {
  it = await bench();
  process.env['CONVEYOR_CACHE'] = folderOf({});
  world = await VirtualWorld.open(1, undefined, undefined, [
    { name: 'flags', git: it.origin, branch: 'main', etcd: null },
  ]);
});
afterEach(async () => {
  await world.close();
  if (cache === undefined) delete process.env['CONVEYOR_CACHE'];
  else process.env['CONVEYOR_CACHE'] = cache;
});

async function strip(repository = 'flags') {
  const handle = await world.client.workflow.start('landing', {
    ...{ workflowId: `landing/${repository}`, taskQueue: world.taskQueue },
    args: [{ repository, heartbeatTimeoutMs: 30_000 }],
  });
  return {
    handle,
    land: (change: number, ahead = false): Promise<Landing> =>
      handle.executeUpdate<Landing, [object]>('land', { args: [{ change, ahead }] }),
  };
}

test('a request to land a change gets its commit, or the file and the change that won', async () => {
  for (const [index, path] of ['a', 'b', 'a'].entries()) await it.proposeValues({ [path]: index }, null);
  const { land, handle } = await strip();
  const [first, second, third] = [await land(1), await land(2), await land(3)];
  expect([first, second]).toEqual(
    [1, 2].map((change) => ({ change, commit: expect.stringMatching(/^[0-9a-f]{40}$/) })),
  );
  expect(third).toMatchObject({
    refused: { message: 'change 3 cannot land: a.json was changed by change 1 meanwhile' },
  });
  expect(await land(1)).toEqual(first);
  expect(await handle.query<Strip>('strip')).toMatchObject({ waiting: [], landed: [first, third, second] });
});

test('those that come at once land once each, also where two ask for the same', async () => {
  const changes = [1, 2, 3, 4, 5, 6];
  for (const n of changes) await it.proposeValues({ [`a/${n}`]: n }, null);
  const { land } = await strip();
  const landed = await Promise.all([...changes, ...changes].map((change) => land(change)));
  expect(landed.slice(6)).toEqual(landed.slice(0, 6));
  expect(it.git('rev-list', '--count', 'main').trim()).toBe('6');
});

test('a malformed request is refused at once, and a cancel request ends nothing', async () => {
  await it.proposeValues({ a: 1 });
  const { land, handle } = await strip();
  await expect(land(0)).rejects.toMatchObject({ cause: { message: 'a change has a number from 1' } });
  await handle.cancel();
  expect(await land(1)).toEqual({ change: 1, commit: expect.any(String) });
});

test('a repository that is not configured is the answer, and no hindrance for ever', async () => {
  const { land } = await strip('flag');
  expect(await land(1)).toMatchObject({
    refused: { code: 'unknown-extension', message: 'no repository of configuration called flag is configured' },
  });
});
