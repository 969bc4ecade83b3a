import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitChanges } from '../../configerator/pushType/changes';
import type { ConfigFleet } from '../../configerator/pushType/fleet';
import type { Deployable } from '../../configerator/pushType/pushType';
import { Lander } from '../../configerator/repository/land';
import { MemoryStore } from '../../configerator/store/memory';
import { PushWorld } from './pushWorld';
import { NOW } from './repositories';

/** The push type of configuration removes units: the values of its paths are deleted. */

const [EU, US] = ['flags/feed:eu', 'flags/feed:us'];
const PATH = 'feed/limits';
const REMOVAL = 'deploy/feed/2/deploy/1/remove/1';
const NEXT = 'deploy/feed/3/deploy/1';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-removal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Requests advance nothing, so that a test decides what comes before a step. */
const still = (fleet: ConfigFleet): Deployable => Object.create(fleet, { step: { value: () => Promise.resolve() } }) as Deployable; // prettier-ignore

/** Three hosts in each of two regions read `feed/limits`, which is 1; another pipeline owns `ads/limits`. */
async function world(memory: string | null = null): Promise<PushWorld & { readonly base: string }> {
  const made = await PushWorld.open(memory, new MemoryStore(() => 0), still);
  await made.commits({ 'ads/limits': 9 });
  const base = await made.commits({ [PATH]: 1 });
  for (const region of ['eu', 'us'])
    for (let n = 0; n < 3; n += 1) await made.hosts.join(`${region}-${n}`, region, [PATH]);
  await made.ask('fetchDeployUnits', {});
  return Object.assign(made, { base });
}

const remove = (it: PushWorld, units = [EU, US], updateId = REMOVAL) => it.ask('removeUnits', { updateId, units });
const listed = async (it: PushWorld) => (await it.ask<{ units: object[] }>('fetchDeployUnits', {})).units;
const files = (it: PushWorld): string[] => it.bench.git('ls-tree', '-r', '--name-only', 'main').trim().split('\n');
const values = async (it: PushWorld): Promise<unknown[]> => [...new Set(Object.values(await it.hosts.values(PATH)))];

const BOTH = `import { z } from 'zod';
import { defineConfig, defineConfigs } from 'conveyor/config';
export default defineConfigs({ eu: defineConfig(z.number(), 1), us: defineConfig(z.number(), 2) });`;

const GONE = { size: 0, version: null, mixed: false, available: true };
const DONE = { state: 'done', targeted: 3, gone: 3, live: 0 };

test('a removal deletes the values of the paths for all hosts with one commit, and no others', async () => {
  const it = await world();
  expect(await remove(it)).toEqual({ accepted: [EU, US] });
  expect(await it.progress(REMOVAL)).toMatchObject([{ state: 'pending', targeted: 3, gone: 0 }, { targeted: 3 }]);
  await it.settle();
  expect(await it.progress(REMOVAL)).toMatchObject([DONE, DONE]);
  expect(await listed(it)).toMatchObject([GONE, GONE]);
  expect(files(it)).toEqual(['ads/limits.json', 'values/ads/limits.json']);
  expect(await values(it)).toEqual([null]);
  expect(it.bench.git('log', '-1', '--format=%an%n%B', 'main')).toMatch(/^conveyor\nRemove feed\/\n\nDeploy: /);
});

test('a deploy brings the values of a removed unit back, and the removal stays done', async () => {
  const it = await world();
  await remove(it);
  await it.settle();
  const targets = [EU, US].map((unit) => ({ unit, version: it.base, artifacts: [], amount: { all: true } }));
  const needs = await it.ask<{ units: object[] }>('needsPush', { targets });
  expect(needs.units).toMatchObject([
    { size: 0, outdated: 3 },
    { size: 0, outdated: 3 },
  ]);
  await it.push(`${NEXT}/0/1`, it.base, { amount: { count: 1 } });
  await it.settle();
  expect(await it.progress(`${NEXT}/0/1`)).toMatchObject([{ state: 'done', targeted: 1, live: 1 }]);
  await it.complete(NEXT, it.base, [EU, US]);
  await it.settle();
  expect(await it.progress(`${NEXT}/9/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect(await listed(it)).toMatchObject([
    { size: 3, version: it.base },
    { size: 3, version: it.base },
  ]);
  expect((await values(it)).map((value) => String(value).trim())).toEqual(['1']);
  expect(await it.progress(REMOVAL)).toMatchObject([DONE, DONE]);
});

test('a removal of one unit takes the values from its hosts, and the commit follows with the last unit', async () => {
  const it = await world();
  await remove(it, [EU]);
  await it.settle();
  expect(await it.progress(REMOVAL)).toMatchObject([DONE]);
  expect(await listed(it)).toMatchObject([GONE, { id: US, size: 3, version: it.base }]);
  expect(files(it)).toContain('feed/limits.json');
  await remove(it, [US], `${NEXT}/remove/1`);
  await it.settle();
  expect(await it.progress(`${NEXT}/remove/1`)).toMatchObject([DONE]);
  expect(files(it)).not.toContain('feed/limits.json');
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
});

test('a commit of somebody else is never deleted: one that came since fails the removal, which says so', async () => {
  const it = await world();
  await remove(it);
  await it.commits({ 'feed/words': ['a'] });
  await it.settle();
  for (const unit of await it.progress(REMOVAL)) {
    expect(unit).toMatchObject({ state: 'failed', gone: 0 });
    expect(unit.reason).toContain('another author has committed');
  }
  expect(files(it)).toEqual(expect.arrayContaining(['feed/limits.json', 'feed/words.json']));
  await expect(remove(it, [EU, US], 'deploy/feed/2/deploy/1/remove/2')).rejects.toThrow('changed-elsewhere');
  await remove(it, [EU, US], `${NEXT}/remove/1`);
  await it.settle();
  expect(await it.progress(`${NEXT}/remove/1`)).toMatchObject([DONE, DONE]);
  expect(files(it)).toEqual(['ads/limits.json', 'values/ads/limits.json']);
});

test('a commit that the store does not have yet fails the removal, too', async () => {
  const it = await world();
  const changes = gitChanges(
    () => Promise.resolve(it.bench.repository),
    () => NOW,
  );
  const { change } = await it.bench.proposeValues({ [PATH]: 5 });
  const lander = new Lander(it.bench.repository);
  it.restart({
    changes: {
      ...changes,
      remove: async (...asked) => {
        await lander.land([change], NOW);
        return changes.remove(...asked);
      },
    },
  });
  await it.ask('fetchDeployUnits', {});
  await remove(it);
  await it.settle();
  for (const unit of await it.progress(REMOVAL)) {
    expect(unit).toMatchObject({ state: 'failed' });
    expect(unit.reason).toMatch(/the commit \w{12} has changed these paths since/);
  }
  expect(it.bench.git('show', 'main:values/feed/limits.json').trim()).toBe('5');
});

test('a removal of a source that makes values of other pipelines, too, is refused', async () => {
  const it = await PushWorld.open();
  const { change } = await it.bench.proposeFiles({ 'feed.config.ts': BOTH });
  await it.land({ repository: 'flags', change });
  const [one, other] = ['feed.eu', 'feed.us'];
  await it.hosts.join('eu-0', 'eu', [one]);
  const unit = `flags/${one}:eu`;
  await it.ask('removeUnits', { updateId: REMOVAL, units: [unit] }, [one]);
  await it.settle();
  const [progress] = await it.progress(REMOVAL, [one]);
  expect(progress).toMatchObject({ state: 'failed' });
  expect(progress?.reason).toContain(`the paths are not removed: feed.config.ts also makes ${other}`);
  expect(files(it)).toContain('feed.config.ts');
});

test('a removal that is cancelled before its commit deletes nothing', async () => {
  const it = await world();
  await remove(it);
  await it.ask('cancelUpdates', { updateId: REMOVAL });
  await it.settle();
  expect(files(it)).toContain('feed/limits.json');
  expect(await it.progress(REMOVAL)).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
  await it.complete(NEXT, it.base, [EU, US]);
  await it.settle();
  expect((await values(it)).map((value) => String(value).trim())).toEqual(['1']);
});

test('a removal that a kill interrupts continues in the next process, and a removed unit is removed again at once', async () => {
  const it = await world(join(folder, 'memory'));
  await remove(it);
  it.restart();
  await it.settle();
  expect(await it.progress(REMOVAL)).toMatchObject([DONE, DONE]);
  it.restart();
  await it.settle();
  expect(await listed(it)).toMatchObject([GONE, GONE]);
  await remove(it, [EU, US], `${NEXT}/remove/1`);
  const none = { state: 'done', targeted: 0, gone: 0 };
  expect(await it.progress(`${NEXT}/remove/1`)).toMatchObject([none, none]);
});
