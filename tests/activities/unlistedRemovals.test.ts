import type { DeployCall, Invoke, PushPorts } from '../../activities/pushCalls';
import { lookForUnlisted } from '../../activities/unlistedUnits';
import type { BroughtVersion } from '../../domain/broughtVersions';
import { markUnits } from '../../domain/unitMarks';
import { inlineSnapshots } from './inlineSnapshots';

/** The units that a removal misses, because its pipeline is known to have them. */

const CALL = { deployId: 'deploy/web/2/deploy/1', pushType: 'twine' } as unknown as DeployCall;
const unit = (id: string) => ({ id, version: 'v:2', mixed: false, labels: {}, size: 6, available: true });
const hotfix: BroughtVersion = {
  ...{ pipeline: 'fix', release: 1, action: 'deploy', version: 'v:9', artifacts: [], at: '2026-11-27T09:00:00.000Z' },
  ...{ config: 2, units: ['y'] },
};

/** @param sizes the number of tasks of each unit that the push type still knows */
function look(held: readonly string[], sizes: Readonly<Record<string, number>>, more: object = {}) {
  const invoke = ((_: unknown, _method: string, { targets }: { targets: { unit: string }[] }) => {
    const [id = ''] = targets.map((target) => target.unit);
    const size = sizes[id];
    return size === undefined
      ? Promise.reject(new Error(`unknown unit ${id}`))
      : Promise.resolve({ units: [{ id, size, outdated: 0 }] });
  }) as unknown as Invoke;
  const clock = { now: () => Promise.resolve(0), sleep: () => new Promise<void>(() => undefined) };
  const ports = { clock, snapshots: inlineSnapshots } as unknown as PushPorts;
  return lookForUnlisted(ports, invoke, CALL, {
    ...{ kind: 'removal', restores: { held: { ids: held } }, listed: [unit('x')] },
    ...{ rules: { deployed: 'v:2' }, ...more },
  });
}
const missed = (id: string, size: number) => ({ id, version: null, tasks: { updated: size, size } });

test('a unit that the last deploy held is missed, with its tasks if they can be counted', async () => {
  expect(await look(['x', 'y', 'z'], { y: 6 })).toEqual({
    unlisted: { count: 2, units: [missed('y', 6), { id: 'z', version: null }] },
    gone: [],
  });
});

test('a unit without tasks is gone', async () => {
  expect(await look(['x', 'y'], { y: 0 })).toEqual({ gone: ['y'] });
  expect(await look(['x', 'y', 'z'], { y: 0, z: 1 })).toEqual({
    unlisted: { count: 1, units: [missed('z', 1)] },
    gone: ['y'],
  });
});

test.each([
  ['is listed', ['x'], {}],
  ['this removal has removed', ['y'], { removed: markUnits(['y']) }],
  ['another pipeline has updated since', ['y'], { since: [hotfix] }],
  ['no deploy is known to have held', [], {}],
])('a unit that %s is not missed', async (_, held, more) => {
  expect(await look(held, { y: 6 }, more)).toEqual({ gone: [] });
});
