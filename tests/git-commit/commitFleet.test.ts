import { CommitWorld, CONFIG, nameDeploy } from '../builders/commitWorld';
import { observe } from '../../push-types/git-commit/watcher';

const worlds: CommitWorld[] = [];
afterAll(() => worlds.forEach((world) => world.close()));

async function openWorld(
  clusters: Record<string, string[]> = { eu: ['eu'], us: ['us'] },
  options: object = {},
): Promise<CommitWorld> {
  const world = new CommitWorld(clusters, options);
  worlds.push(world);
  await world.call('fetchDeployUnits', {});
  return world;
}

const FIRST = `${nameDeploy(12)}/0/1`;
const REVERT = `${nameDeploy(12)}/revert/1`;
const NEXT = `${nameDeploy(13)}/0/1`;
const back = { updatedBy: [FIRST] };

/** The commits of this update. */
const listCommits = (world: CommitWorld, updateId: string) =>
  world.branch.history.filter(({ message }) => message.includes(`Conveyor-Update: ${updateId}\n`));

describe('an update', () => {
  test('is one commit for several units, whose message names the release, the pipeline and the reason', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2', ['web-eu', 'web-us']);
    await world.settle();
    expect([world.tags('eu'), world.tags('us')]).toEqual([['2'], ['2']]);
    const [commit, ...more] = listCommits(world, FIRST);
    expect(more).toEqual([]);
    expect(commit?.message).toContain('Release shop/12 of the pipeline shop, started by user:alice.');
    expect(commit?.message).toContain('- web-us/us: 1 -> 2 in clusters/us/kustomization.yaml');
    expect(commit?.message).toContain(
      'Conveyor-Release: shop/12\nConveyor-Version: 2\nConveyor-Cluster: web-eu/eu\nConveyor-Cluster: web-us/us\n',
    );
    expect(await world.progress(FIRST, 'web-us')).toMatchObject({ state: 'done', live: 1 });
  });

  test('is refused if it is a share of a unit with one cluster, with what to do, and commits nothing', async () => {
    const world = await openWorld();
    await expect(world.push(FIRST, '2', ['web-eu'], { amount: { percent: 10 } })).rejects.toThrow(
      'amount: { units: 10% }',
    );
    await world.settle();
    expect(listCommits(world, FIRST)).toEqual([]);
  });

  test('changes as many clusters together as the settings say, and a revert all of them at once', async () => {
    const world = await openWorld({ eu: ['eu-1', 'eu-2', 'eu-3'], us: ['us'] }, { atOnce: 1 });
    await world.push(FIRST, '2');
    await world.step();
    expect(world.tags('eu')).toEqual(['2', '1', '1']);
    await world.settle();
    expect(world.tags('eu')).toEqual(['2', '2', '2']);
    expect(listCommits(world, FIRST)).toHaveLength(3);
    await world.push(REVERT, '1', ['web-eu'], back);
    await world.step();
    expect(world.tags('eu')).toEqual(['1', '1', '1']);
    expect(listCommits(world, REVERT)).toHaveLength(1);
  });

  test('that finds its value in the file needs no commit', async () => {
    const world = await openWorld();
    world.edit('eu', '2');
    await world.push(FIRST, '2');
    await world.settle();
    expect(listCommits(world, FIRST)).toEqual([]);
    expect(await world.progress(FIRST)).toMatchObject({ state: 'done' });
  });

  test('that was cancelled while the repository was away never comes there', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    world.branch.isAway = true;
    await world.step();
    await world.call('cancelUpdates', { updateId: FIRST });
    world.branch.isAway = false;
    await world.settle();
    expect(world.tags('eu')).toEqual(['1']);
    expect(await world.progress(FIRST)).toMatchObject({ state: 'failed', updated: 0 });
  });
});

describe('a push', () => {
  test('that is too late is repeated on a fresh base, and the change of the other stays', async () => {
    const world = await openWorld();
    let left = 2;
    world.branch.onPush = () => {
      if (left > 0) world.branch.edit({ [`other-${left}.yaml`]: 'a: 1\n' });
      left -= 1;
    };
    await world.push(FIRST, '2');
    await world.settle();
    expect(world.tags('eu')).toEqual(['2']);
    expect([world.branch.text('other-2.yaml'), world.branch.text('other-1.yaml')]).toEqual(['a: 1\n', 'a: 1\n']);
    expect(listCommits(world, FIRST)).toHaveLength(1);
  });

  test('that is too late each time waits for the next round, and says why', async () => {
    const world = await openWorld();
    let count = 0;
    world.branch.onPush = () => void world.branch.edit({ 'other.yaml': `a: ${(count += 1)}\n` });
    await world.push(FIRST, '2');
    await world.step();
    expect(count).toBe(5);
    expect((await world.progress(FIRST))?.reason).toContain('others push all the time');
    world.branch.onPush = () => undefined;
    await world.settle();
    expect(await world.progress(FIRST)).toMatchObject({ state: 'done' });
  });

  test('whose answer was lost is found by its trailers, and not made twice', async () => {
    const world = await openWorld();
    world.branch.losesAnswer = true;
    await world.push(FIRST, '2');
    await world.settle();
    expect(await world.progress(FIRST)).toMatchObject({ state: 'done', live: 1 });
    expect(listCommits(world, FIRST)).toHaveLength(1);
  });

  test('that the forge does not permit fails the update before anything changed, in its words', async () => {
    const world = await openWorld();
    world.branch.onPush = () => void (world.branch.refusal = 'protected branch hook declined');
    await world.push(FIRST, '2');
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'failed',
      updated: 0,
      failed: 0,
      reason: expect.stringContaining('protected branch hook declined') as string,
    });
    world.branch.refusal = undefined;
    world.branch.onPush = () => undefined;
    await world.settle();
    expect(world.tags('eu')).toEqual(['1']);
    expect((await world.call('fetchDeployUnits', {})).units[0]).toMatchObject({ version: '1', available: true });
  });

  test('with a revoked key fails the update, and its unit is unavailable until the key is there', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    world.branch.refusal = 'the branch main cannot be used: permission denied';
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('permission denied') as string,
    });
    expect((await world.call('fetchDeployUnits', {})).units[0]).toMatchObject({ available: false });
  });

  test('to a repository that is away waits, says why, and ends once it is back', async () => {
    const world = await openWorld();
    world.branch.isAway = true;
    await world.push(FIRST, '2');
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('does not answer') as string,
    });
    world.branch.isAway = false;
    await world.settle();
    expect(await world.progress(FIRST)).toMatchObject({ state: 'done' });
  });
});

describe('changes of others', () => {
  test('stay if they are of the same field: a forward update fails, and names who made them', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    const id = world.edit('eu', '1.5');
    await world.step();
    const { state, reason } = (await world.progress(FIRST)) ?? {};
    expect(state).toBe('failed');
    expect(reason).toContain(
      `the image registry.example.com/web was 1, and bob changed it to 1.5 in ${id.slice(0, 12)} (Use 1.5); that stays`,
    );
    expect(world.tags('eu')).toEqual(['1.5']);
  });

  test('stay if they are of the same field: a revert fails, and names who made them', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    await world.settle();
    const id = world.edit('eu', '3');
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({ live: 0 });
    await world.push(REVERT, '1', ['web-eu'], back);
    await world.settle();
    const { state, reason } = (await world.progress(REVERT)) ?? {};
    expect([state, reason]).toEqual(['failed', expect.stringContaining(`bob changed it to 3 in ${id.slice(0, 12)}`)]);
    expect(world.tags('eu')).toEqual(['3']);
  });

  test('stay if they are of another part of the file, through a deploy and its revert', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    await world.settle();
    const path = 'clusters/eu/kustomization.yaml';
    world.branch.edit({ [path]: `${world.branch.text(path)}# more\nnamePrefix: x-\n` });
    await world.push(REVERT, '1', ['web-eu'], back);
    await world.settle();
    expect(world.branch.text(path)).toMatch(/newTag: "?1"?\n# more\nnamePrefix: x-\n$/);
    expect(await world.progress(REVERT)).toMatchObject({ state: 'done', live: 1 });
  });

  test('are where the next deploy begins, and where its revert goes back to', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    await world.settle();
    world.edit('eu', '3');
    await world.step(60_000);
    const { units } = await world.call('fetchDeployUnits', {}, { release: 13 });
    expect(units[0]).toMatchObject({ version: '3' });
    await world.push(NEXT, '4');
    await world.settle();
    await world.push(`${nameDeploy(13)}/revert/1`, '3', ['web-eu'], { updatedBy: [NEXT] });
    await world.settle();
    expect(world.tags('eu')).toEqual(['3']);
  });

  test('that undo an update by hand leave its revert nothing to commit', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    await world.settle();
    world.edit('eu', '1');
    await world.push(REVERT, '1', ['web-eu'], back);
    await world.settle();
    expect(await world.progress(REVERT)).toMatchObject({ state: 'done', live: 1 });
    expect(listCommits(world, REVERT)).toEqual([]);
  });

  test('that delete the file fail an update with its path, and make the unit unavailable', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    world.branch.edit({ 'clusters/eu/kustomization.yaml': null });
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('clusters/eu/kustomization.yaml') as string,
    });
    expect((await world.call('fetchDeployUnits', {})).units[0]).toMatchObject({ available: false });
  });

  test('that rewrite the branch are logged, and a change that is gone is not live', async () => {
    const world = await openWorld();
    const before = world.branch.tip;
    await world.push(FIRST, '2');
    await world.settle();
    world.branch.tip = before;
    world.branch.edit({ 'other.yaml': 'a: 1\n' });
    await world.step();
    expect(world.logged.join('\n')).toContain('the branch was rewritten');
    expect(await world.progress(FIRST)).toMatchObject({
      live: 0,
      reason: expect.stringContaining('changed it to 1') as string,
    });
  });
});

describe('a service that says what is live', () => {
  test('and speaks of an older revision is not believed', async () => {
    const world = await openWorld();
    const old = world.branch.tip;
    world.answer = () => ({ revision: old });
    await world.push(FIRST, '2');
    await world.step();
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'updating',
      live: 0,
      reason: expect.stringContaining('is older than') as string,
    });
    world.answer = () => ({ revision: world.branch.tip });
    await world.settle();
    expect(await world.progress(FIRST)).toMatchObject({ state: 'done', live: 1 });
  });

  test('and speaks of a revision that is not of the branch is not believed', async () => {
    const world = await openWorld();
    world.answer = () => ({ revision: 'f'.repeat(40) });
    await world.push(FIRST, '2');
    await world.step();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'updating',
      reason: expect.stringContaining('is no commit of the branch') as string,
    });
  });

  test('and is silent fails a forward update after its time, and never a revert, which is in Git at once', async () => {
    const world = await openWorld();
    world.answer = () => observe('silent', 'Argo CD does not answer');
    await world.push(FIRST, '2');
    await world.step();
    await world.step(901_000);
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'failed',
      failed: 1,
      reason: expect.stringContaining('Argo CD does not answer (after 900 s)') as string,
    });
    await world.push(REVERT, '1', ['web-eu'], back);
    await world.step();
    expect(world.tags('eu')).toEqual(['1']);
    await world.step(9_000_000);
    expect(await world.progress(REVERT)).toMatchObject({ state: 'updating' });
    world.answer = () => ({ revision: world.branch.tip });
    await world.settle();
    expect(await world.progress(REVERT)).toMatchObject({ state: 'done', live: 1 });
  });

  test('and calls it degraded fails the update with that reason, and a revert in the middle goes into Git at once', async () => {
    const world = await openWorld();
    await world.push(FIRST, 'dead');
    await world.settle();
    expect(await world.progress(FIRST)).toMatchObject({
      state: 'failed',
      reason: 'dead is not live on eu: Degraded: it crashes',
    });
    world.answer = () => observe('waiting', 'Progressing');
    await world.push(NEXT, '3');
    await world.step();
    expect(world.tags('eu')).toEqual(['3']);
    await world.push(`${nameDeploy(13)}/revert/1`, '1', ['web-eu'], { updatedBy: [NEXT] });
    await world.step();
    expect(world.tags('eu')).toEqual(['1']);
  });
});

describe('the push type', () => {
  test.each(['begun', 'made', 'pushed', 'landed'] as const)(
    'that is killed once a change is %s ends with the same file, by one commit',
    async (at) => {
      const world = await openWorld();
      await world.push(FIRST, '2', ['web-eu', 'web-us']);
      world.onStep = (step) => {
        if (step === at) throw new Error('killed');
      };
      await expect(world.step()).rejects.toThrow('killed');
      world.onStep = () => undefined;
      world.open();
      await world.settle();
      expect(await world.progress(FIRST, 'web-us')).toMatchObject({ state: 'done', live: 1 });
      expect([world.tags('eu'), world.tags('us')]).toEqual([['2'], ['2']]);
      expect(listCommits(world, FIRST)).toHaveLength(1);
    },
  );

  test('that has lost its memory finds its update by the trailers, and reverts it', async () => {
    const world = await openWorld();
    await world.push(FIRST, '2');
    await world.settle();
    world.lose();
    const { units } = await world.call('fetchDeployUnits', {});
    expect(units[0]).toMatchObject({ version: '2', mixed: false });
    expect(await world.progress(FIRST)).toMatchObject({ state: 'done', live: 1 });
    await world.push(REVERT, '1', ['web-eu'], back);
    await world.settle();
    expect(world.tags('eu')).toEqual(['1']);
  });

  test('makes each change once if two of it run with one repository', async () => {
    const world = await openWorld();
    const other = new CommitWorld(world.clusters);
    worlds.push(other);
    Object.assign(other, { branch: world.branch });
    other.open();
    await other.call('fetchDeployUnits', {});
    await Promise.all([world.push(FIRST, '2'), other.push(FIRST, '2')]);
    await Promise.all([world.settle(), other.settle()]);
    expect(listCommits(world, FIRST)).toHaveLength(1);
    expect(await other.progress(FIRST)).toMatchObject({ state: 'done', live: 1 });
  });

  test('refuses a unit of which another pipeline has other files', async () => {
    const world = await openWorld();
    const config = { ...CONFIG, path: 'elsewhere/{cluster}.yaml' };
    const { problems } = await world.call('validateConfig', {}, { config, pipeline: 'other' });
    expect(problems[0]).toEqual({
      path: 'config.service',
      message: 'the pipeline shop deploys web-eu to other files: choose another name of the service',
    });
  });

  test('reports each field that cannot be changed, and each version without a value, before anything begins', async () => {
    const world = await openWorld();
    world.branch.edit({ 'clusters/eu/kustomization.yaml': 'images: []\n' });
    world.now += 60_000;
    const { problems } = await world.call('validateConfig', { version: 'no tag' });
    expect(problems).toEqual([
      {
        path: 'config.field',
        message: expect.stringContaining(
          'clusters/eu/kustomization.yaml: the image registry.example.com/web has no newTag under images',
        ) as string,
      },
      { path: 'version', message: expect.stringContaining('"no tag" is no tag of an image') as string },
    ]);
  });
});
