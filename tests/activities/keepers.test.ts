import { findKeepers } from '../../activities/keepers';
import type { DeployCall, Invoke } from '../../activities/pushCalls';
import type { BroughtVersion } from '../../domain/broughtVersions';
import type { Unit } from '../../domain/fleet/unit';

/** Which units a rollback leaves to other pipelines, where the version of a unit does not say what runs there. */

const unit = (id: string, version: string, mixed = false): Unit => ({
  ...{ id, version, mixed, labels: {}, size: 6, available: true },
});
const hotfix: BroughtVersion = {
  ...{ pipeline: 'fix', release: 1, action: 'deploy', version: 'v:9', artifacts: [], at: '2026-11-27T09:00:00.000Z' },
  ...{ config: 2, units: ['x', 'y'] },
};
const stopped: BroughtVersion = { ...hotfix, stopped: true };
const left = { left: ['v:3'], before: { units: [] } };
const CALL = { deployId: 'deploy/web/2/deploy/1', pushType: 'twine' } as unknown as DeployCall;

/** How many of the six tasks of each unit run which version; a push type that says nothing leaves all open. */
type Running = Readonly<Record<string, Readonly<Record<string, number>>>>;

async function keeps(
  units: readonly Unit[],
  since: readonly BroughtVersion[],
  runs: Running | Error | null,
  inherited?: object,
) {
  const asked: string[] = [];
  const invoke = ((_: unknown, method: string, { targets }: { targets: { unit: string; version: string }[] }) => {
    asked.push(`${method} ${targets.map((one) => `${one.unit} ${one.version}`).join()}`);
    if (runs === null) return new Promise(() => undefined);
    if (runs instanceof Error) return Promise.reject(runs);
    const needs = targets.map(({ unit: id, version }) => ({ id, size: 6, outdated: 6 - (runs[id]?.[version] ?? 0) }));
    return Promise.resolve({ units: needs });
  }) as unknown as Invoke;
  const clock = { now: () => Promise.resolve(0), sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };
  const keepers = await findKeepers({ clock } as never, invoke, CALL, units, {
    since,
    ...(inherited ? { inherited: inherited as never } : {}),
  });
  return { kept: [...keepers.keys()], asked };
}

test('asks nothing where every deploy came through, and an odd task takes no unit from it', async () => {
  const answer = await keeps([unit('x', 'v:9', true), unit('y', 'v:2', true)], [hotfix], {});
  expect(answer).toEqual({ kept: ['x'], asked: [] });
});

test('a deploy that stopped keeps the units half of whose tasks run it, whatever version the unit has', async () => {
  const units = [unit('x', 'v:2'), unit('y', 'v:9', true), unit('z', 'v:9')];
  const { kept, asked } = await keeps(units, [stopped], { x: { 'v:9': 6 }, y: { 'v:9': 1 }, z: { 'v:9': 6 } });
  expect({ kept, asked }).toEqual({ kept: ['x'], asked: ['needsPush x v:9,y v:9'] });
});

test.each([
  ['does not answer', null],
  ['does not know that version', new Error('no such version')],
])('where the push type %s, the version of the unit decides', async (_, runs) => {
  expect((await keeps([unit('x', 'v:2', true), unit('y', 'v:9', true)], [stopped], runs)).kept).toEqual(['y']);
});

describe('a revert takes back the remains of its own pipeline', () => {
  test.each<[string, Unit, Running | null, string[]]>([
    ['from a unit with several versions', unit('x', 'v:9', true), {}, []],
    ['from a unit all of whose tasks run it', unit('x', 'v:9'), { x: { 'v:3': 6 } }, []],
    ['but not from one that it did not reach', unit('x', 'v:9'), {}, ['x']],
    ['and where nobody counts, not from one that runs a single version', unit('x', 'v:9'), null, ['x']],
  ])('%s', async (_, one, runs, kept) => {
    expect((await keeps([one], [hotfix], runs, left)).kept).toEqual(kept);
    expect((await keeps([one], [hotfix], runs, { ...left, settled: ['x'] })).kept).toEqual(['x']);
  });
});
