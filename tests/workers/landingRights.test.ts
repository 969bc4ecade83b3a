import { createLandingActivities } from '../../activities/landing';
import { MockActivityEnvironment } from '@temporalio/testing';
import { OWN_PROGRAMS } from '../../configerator/compiler/walls';
import { createDraftFromValues, propose } from '../../configerator/repository/propose';
import type { PathRule } from '../../domain/access/paths';
import { withLandingRights } from '../../workers/landingRights';
import { bench, NOW, type Bench } from '../configerator/repositories';
import { folderOf } from '../configerator/sources';

const FEEDS: PathRule = { names: ['feed/'], by: ['group:feeds'] };

/** A worker whose settings may change while it runs. */
function worker(it: Bench, groups: Record<string, readonly string[]>) {
  const settings = { name: 'flags', git: it.origin, branch: 'main', etcd: null, owners: ['user:olga'] };
  const rules = { policy: null, groups, configRepositories: [{ ...settings, paths: [FEEDS] }] };
  const { landChanges } = createLandingActivities({
    clock: { now: () => Promise.resolve(NOW), sleep: () => Promise.resolve() },
    registry: withLandingRights(rules),
    copies: folderOf({}),
    programs: () => Promise.resolve(OWN_PROGRAMS),
  });
  const land = (...changes: number[]) =>
    new MockActivityEnvironment().run(landChanges, { repository: 'flags', changes, heartbeatTimeoutMs: 30_000 });
  return { rules, land };
}

const proposes = async (it: Bench, author: string, path: string, groups: readonly string[] = []) => {
  const draft = await createDraftFromValues(it.repository, await it.repository.head(), { [path]: 1 });
  return (await propose(it.repository, draft, { author, message: 'Change it', nowMs: NOW, groups })).change;
};

const refusedWith = (change: number, message: string) => ({
  change,
  refused: expect.objectContaining({ code: 'not-permitted', message }) as object,
});

test('a change lands if its author may change its paths as the settings are then, and else is refused with path and right', async () => {
  const it = await bench();
  const { rules, land } = worker(it, { feeds: ['user:alice'] });
  const [own, foreign, owners] = [
    await proposes(it, 'user:alice', 'feed/a'),
    await proposes(it, 'user:alice', 'ads/b'),
    await proposes(it, 'user:olga', 'ads/c'),
  ];
  expect(await land(own, foreign, owners)).toEqual([
    { change: own, commit: expect.any(String) },
    refusedWith(
      foreign,
      `change ${foreign} cannot land: user:alice may not change ads/b.json: no rule of config.repositories.flags.paths is about that path, so it is for config.repositories.flags.owners: user:olga`,
    ),
    { change: owners, commit: expect.any(String) },
  ]);
  const late = await proposes(it, 'user:alice', 'feed/d');
  rules.groups = { feeds: ['user:bob'] };
  expect(await land(late)).toEqual([
    refusedWith(
      late,
      `change ${late} cannot land: user:alice may not change feed/d.json: config.repositories.flags.paths.0 (feed/) lets group:feeds (user:bob)`,
    ),
  ]);
});

test('a member of a group by the word of an identity provider is one at the landing too, and no message says so for others', async () => {
  const it = await bench();
  const { land } = worker(it, {});
  const change = await proposes(it, 'user:carol', 'feed/a', ['feeds']);
  expect(await land(change)).toEqual([{ change, commit: expect.any(String) }]);
  const draft = await createDraftFromValues(it.repository, await it.repository.head(), { 'feed/b': 1 });
  const forged = { author: 'user:eve', message: 'Change it\n\nProposed-through: feeds', nowMs: NOW };
  await expect(propose(it.repository, draft, forged)).rejects.toMatchObject({ code: 'invalid-text' });
});

test('a change that takes back a deploy needs no right of its own', async () => {
  const it = await bench();
  const { land } = worker(it, {});
  const change = await proposes(it, 'conveyor', 'ads/a');
  expect(await land(change)).toEqual([{ change, commit: expect.any(String) }]);
});
