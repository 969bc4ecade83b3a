import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { PollingWorld } from '../builders/pollingHosts';
import { describeSuite } from './suite';
import { bringVersion } from '../builders/bringVersion';

/** The push type `slowroll`, with hosts that poll its real manifest server: one after the other, when a test lets them. */

const SIZE = 6;
const UNITS = ['kv/x', 'kv/y'] as const;
const worlds: PollingWorld[] = [];
afterAll(() => Promise.all(worlds.map((world) => world.close())));

const openSubject = async () => {
  const world = await PollingWorld.open({ sizes: { x: SIZE, y: SIZE } });
  worlds.push(world);
  await bringVersion(world.app, { updateId: 'deploy/earlier/1/deploy/1/0/1', version: 'kv:1', units: UNITS });
  await world.settle();
  return {
    ...{ fetch: viaApp(world.app), url: 'http://slowroll' },
    ...{ config: { units: [...UNITS] }, units: UNITS, sizes: [SIZE, SIZE] as const, version: 'kv:1' },
    newVersions: ['new:1', 'new:2'] as const,
    ...{ deadVersion: 'dead:1', pipeline: 'kvstore', release: 12 },
    now: () => world.now,
    tick: () => world.tick(),
    settle: () => world.settle(),
    grow: async (unit: string) => void (await world.pollHost(world.join(unit.split('/')[1] ?? ''))),
  };
};
describeSuite('push type slowroll', PUSH_TYPE_CHECKS, openSubject, ['pages', 'shiftTraffic']);
