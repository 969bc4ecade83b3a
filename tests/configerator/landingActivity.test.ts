import { MockActivityEnvironment } from '@temporalio/testing';
import { createLandingActivities } from '../../activities/landing';
import { OWN_PROGRAMS } from '../../configerator/compiler/walls';
import { bench, NOW } from './repositories';
import { folderOf } from './sources';

const programs = () => Promise.resolve(OWN_PROGRAMS);
const clock = { now: () => Promise.resolve(NOW), sleep: () => Promise.resolve() };

const landing = (git: string) => {
  const registry = { configRepositories: [{ name: 'flags', git, branch: 'main', etcd: null }] };
  const { landChanges } = createLandingActivities({ clock, registry, copies: folderOf({}), programs });
  return (repository: string, changes: readonly number[]) =>
    new MockActivityEnvironment().run(landChanges, { repository, changes, heartbeatTimeoutMs: 30_000 });
};

test('attempts that overlap in a process land each change once', async () => {
  const it = await bench();
  for (const n of [1, 2, 3]) await it.proposeValues({ [`a/${n}`]: n }, null);
  const land = landing(it.origin);
  const [first, second] = await Promise.all([land('flags', [1, 2, 3]), land('flags', [1, 2, 3])]);
  expect(first).toEqual([1, 2, 3].map((change) => ({ change, commit: expect.any(String) })));
  expect(second).toEqual(first);
  expect(it.git('rev-list', '--count', 'main').trim()).toBe('3');
});

test('an unproposed change is refused, and blocks no other from landing', async () => {
  const it = await bench();
  await it.proposeValues({ a: 1 });
  expect(await landing(it.origin)('flags', [7, 1])).toEqual([
    { change: 7, refused: expect.objectContaining({ code: 'config-change-unknown' }) },
    { change: 1, commit: expect.any(String) },
  ]);
});

test('a repository that is not configured is not tried again, and one that does not answer is', async () => {
  const it = await bench();
  await expect(landing(it.origin)('flag', [1])).rejects.toMatchObject({
    type: 'unknown-extension',
    nonRetryable: true,
  });
  await expect(landing('/nowhere.git')('flags', [1])).rejects.toMatchObject({
    type: 'config-repository-unreachable',
    nonRetryable: false,
  });
});

test('a landing that hangs holds up those of no other repository', async () => {
  const [stuck, free] = [await bench(), await bench()];
  await stuck.proposeValues({ a: 1 });
  await free.proposeValues({ a: 1 });
  const repository = (name: string, git: string) => ({ name, git, branch: 'main', etcd: null });
  const registry = { configRepositories: [repository('stuck', stuck.origin), repository('free', free.origin)] };
  let thaw = (_now: number): void => undefined;
  const times = [new Promise<number>((resolve) => (thaw = resolve)), Promise.resolve(NOW)];
  const hanging = { ...clock, now: () => times.shift() ?? Promise.resolve(NOW) };
  const { landChanges } = createLandingActivities({ clock: hanging, registry, copies: folderOf({}), programs });
  const land = (name: string) =>
    new MockActivityEnvironment().run(landChanges, { repository: name, changes: [1], heartbeatTimeoutMs: 30_000 });
  const late = land('stuck');
  while (times.length > 1) await new Promise((next) => setImmediate(next));
  expect(await land('free')).toEqual([{ change: 1, commit: expect.any(String) }]);
  // An attempt that is not over keeps its process alive by its heartbeats.
  thaw(NOW);
  expect(await late).toEqual([{ change: 1, commit: expect.any(String) }]);
});
