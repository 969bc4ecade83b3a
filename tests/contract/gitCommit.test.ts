import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import type { PushTypeSubject } from '../../sdk/conform/pushType/world';
import { CommitWorld, CONFIG } from '../builders/commitWorld';
import { describeSuite } from './suite';

/** The push type `git-commit` over a branch in memory. Clusters follow it only when a test lets them: one round at a time. */

const SIZE = 6;
const worlds: CommitWorld[] = [];
afterAll(() => worlds.forEach((world) => world.close()));

async function makeSubject(): Promise<PushTypeSubject> {
  const names = (region: string): string[] => Array.from({ length: SIZE }, (_, nth) => `${region}-${nth + 1}`);
  const world = new CommitWorld({ eu: names('eu'), us: names('us') }, { atOnce: 2 });
  worlds.push(world);
  return {
    ...{ fetch: viaApp(world.app), url: 'http://git-commit', config: CONFIG },
    ...{ units: ['web-eu', 'web-us'], sizes: [SIZE, SIZE], version: '1' },
    ...{ newVersions: ['2', '3'], deadVersion: 'dead', pipeline: 'shop', release: 12 },
    now: () => world.now,
    tick: async () => void (await world.step()),
    settle: () => world.settle(),
  };
}

describeSuite('push type git-commit', PUSH_TYPE_CHECKS, makeSubject, ['grow', 'pages', 'shiftTraffic', 'removeUnits']);
