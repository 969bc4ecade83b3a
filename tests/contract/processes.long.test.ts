import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Copies } from '../../examples/push-types/processes/copies';
import type { Fleet } from '../../examples/push-types/processes/fleet';
import { processesPushType } from '../../examples/push-types/processes/pushType';
import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { judgeTargets } from '../../sdk/health';
import { acceptRemoval, acceptUpdate, beginStops, healthTasks, describeUnit } from '../../sdk/updates';
import { ProcessesHome, settle } from './processesFleet';
import { describeSuite } from './suite';

/** The push type of examples/push-types/processes, with real processes. They move only when a test lets them: one step at a time. */

const SIZE = 6;
const home = new ProcessesHome();
afterAll(() => home.close());

const suiteOf = async () => {
  home.forget(SIZE);
  const fleet = home.open({ 'kv-x': SIZE, 'kv-y': SIZE });
  await settle(fleet);
  const units = ['kv-x', 'kv-y'] as const;
  const withoutData = processesPushType(fleet, (request) =>
    judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
  );
  return {
    ...{ fetch: viaApp(withoutData), url: 'http://processes' },
    ...{ config: { units: [...units] }, units, sizes: [SIZE, SIZE] as const, version: 'kv:1' },
    newVersions: ['new:1', 'new:2'] as const,
    ...{ deadVersion: 'dead:1', pipeline: 'kvstore', release: 12 },
    now: Date.now,
    tick: async () => void (await Promise.all(fleet.unitNames.map((unit) => fleet.step(unit)))),
    settle: () => settle(fleet),
    grow: (unit: string) => Promise.resolve(fleet.resize(unit, fleet.state.units[unit]!.slots.length + 1)),
  };
};
describeSuite('push type processes', PUSH_TYPE_CHECKS, suiteOf, ['pages', 'shiftTraffic']);

describe('the processes of the push type', () => {
  const UPDATE = 'deploy/kv/1/deploy/1/0/1';
  const REMOVAL = 'deploy/kv/0/deploy/1/remove/1';
  const UNIT = 'kv-x';
  const three = (): Fleet => home.open({ [UNIT]: 3 });
  let fleet: Fleet;
  beforeEach(async () => {
    home.forget(3);
    fleet = three();
    await settle(fleet);
  });
  const update = async (count: number): Promise<void> => {
    const targets = [{ unit: UNIT, version: 'new:1', artifacts: [], amount: { count } }];
    acceptUpdate(fleet, { updateId: UPDATE, targets, wholeUnit: false, urgency: 'normal' });
    await settle(fleet);
  };
  const tasks = (): string[] => Object.keys(home.pids()).filter((task) => task.startsWith(`${UNIT}/`));
  const startOf = (task: string): number => Number(task.split('@')[1]);

  test('are found again by a push type that begins anew, and continue', async () => {
    await update(1);
    const before = home.pids();
    fleet = three();
    await settle(fleet);
    expect(home.pids()).toEqual(before);
    expect(fleet.state.units[UNIT]?.slots.map(({ state, version }) => [state, version])).toEqual([
      ['live', 'new:1'],
      ['live', 'kv:1'],
      ['live', 'kv:1'],
    ]);
  });

  test('are not taken for others where the memory was lost: all are started again', async () => {
    await update(1);
    const before = tasks();
    home.lose();
    fleet = three();
    await settle(fleet);
    expect(tasks()).toHaveLength(3);
    expect(tasks().filter((task) => before.includes(task))).toEqual([]);
  });

  test('are listed for Prometheus while they are there, each under the identifier of its present start', async () => {
    await update(1);
    const groups = JSON.parse(readFileSync(join(home.home, 'targets.json'), 'utf8')) as {
      targets: string[];
      labels: { task: string; unit: string; version: string };
    }[];
    const told = groups.filter(({ labels }) => labels.unit === UNIT);
    expect(told.map(({ labels }) => labels.task).sort()).toEqual(tasks().sort());
    expect(told.map(({ labels }) => labels.version)).toEqual(['new:1', 'kv:1', 'kv:1']);
    for (const { targets, labels } of told)
      expect(await (await fetch(`http://${targets[0]}/version`)).text()).toBe(labels.version);
  });

  test('are judged by what was updated, against what was not, and against what the same slots were called before', async () => {
    const [first = '', ...others] = tasks().sort();
    const start = Date.now();
    await update(1);
    const asked = { units: [UNIT], updatedBy: [UPDATE] };
    const fresh = `${UNIT}/0@${startOf(first) + 1}`;
    const baseline = { start: start - 1, end: start };
    expect(healthTasks(fleet.state, UNIT, asked, baseline)).toEqual({
      ...{ id: UNIT, fresh: [fresh], updated: 1, control: others, before: [first] },
    });
    const all = healthTasks(fleet.state, UNIT, { ...asked, updatedBy: [] }, baseline);
    expect(all).toMatchObject({ fresh: [fresh, ...others], control: [] });
    expect(healthTasks(fleet.state, UNIT, { ...asked, exclude: [UPDATE] }, baseline).fresh).toEqual([]);
  });

  test('are started again when they end by themselves, on their version and under another identifier', async () => {
    await update(1);
    const [ended = ''] = tasks().sort();
    process.kill(home.pids()[ended] ?? 0, 'SIGKILL');
    while (tasks().includes(ended)) await fleet.step(UNIT);
    const again = `${UNIT}/0@${startOf(ended) + 1}`;
    expect(tasks()).toContain(again);
    const baseline = { start: 0, end: 0 };
    const judged = healthTasks(fleet.state, UNIT, { units: [UNIT], updatedBy: [UPDATE] }, baseline);
    expect(judged.fresh).toEqual([again]);
    expect(fleet.state.units[UNIT]?.slots[0]).toMatchObject({ version: 'new:1', state: 'live' });
  });

  test('never get an identifier that another start had, also where a unit was smaller for a while', async () => {
    const [last = ''] = tasks().sort().reverse();
    fleet.resize(UNIT, 2);
    await settle(fleet);
    expect(tasks()).toHaveLength(2);
    fleet.resize(UNIT, 3);
    await settle(fleet);
    expect(tasks()).toContain(`${UNIT}/2@${startOf(last) + 1}`);
  });

  test('end when their unit is removed, also where the push type dies in the middle of that, and come back with the next update', async () => {
    acceptRemoval(fleet, { updateId: REMOVAL, units: [UNIT] });
    beginStops(fleet.state, UNIT, REMOVAL);
    fleet.memory.save();
    fleet = three();
    await settle(fleet);
    expect(tasks()).toEqual([]);
    fleet = three();
    await settle(fleet);
    expect(tasks()).toEqual([]);
    expect(describeUnit(fleet.state, UNIT)).toEqual({ size: 0, version: null, mixed: false });
    const targets = [{ unit: UNIT, version: 'new:1', artifacts: [] }];
    acceptUpdate(fleet, { updateId: UPDATE, targets, wholeUnit: true, urgency: 'normal' });
    await settle(fleet);
    expect(tasks()).toHaveLength(3);
    expect(fleet.state.units[UNIT]?.slots.map(({ state, version }) => [state, version])).toEqual([
      ['live', 'new:1'],
      ['live', 'new:1'],
      ['live', 'new:1'],
    ]);
  });

  test('run once, also where two push types start the same task at the same time', async () => {
    const copy = { task: 'twice/0@1', version: 'kv:1' };
    const [one, other] = [new Copies(home), new Copies(home)];
    expect(await Promise.all([one.bringUp(copy), other.bringUp(copy)])).toEqual([undefined, undefined]);
    await one.stop(copy.task);
    expect(await other.isLive(copy.task)).toBe(false);
  });
});
