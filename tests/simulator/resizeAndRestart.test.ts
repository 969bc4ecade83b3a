import { viaApp } from '../../sdk/client';
import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';
import { serveTaskController } from '../../sdk/server';
import { taskControlChecker } from '../../simulator/checkers/taskControl';
import type { FleetEvent } from '../../simulator/events';
import { expectNoViolations, givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

/** Tasks that leave a job or restart on request, and the messages to a controller about them. */

afterEach(expectNoViolations);

const UPDATE = 'deploy/p/1/d/1/0/1';

/** A job whose controller approves what `approves` says at the moment, last tasks first, and what it was asked. */
async function givenControlled(change: Readonly<Record<string, unknown>> = {}) {
  const seen: TaskControlRequest[] = [];
  const mood = { approves: (_: TaskOp): boolean => true };
  const app = serveTaskController('controller', {
    process: (request) => {
      seen.push(request);
      return {
        ack: request.request
          .filter(mood.approves)
          .map(({ id }) => id)
          .reverse(),
      };
    },
  });
  const fleet = givenFleet({ fetch: viaApp(app) });
  const controller = { kind: 'external', url: 'http://controller' };
  await fleet.job('kv-x', { tasks: 6, nSmall: 6, budget: 6, controller, ...change });
  return { fleet, seen, mood };
}

const slotsOf = (ops: readonly TaskOp[]): number[] => ops.map(({ task }) => Number(task.split('/')[1]));
const overIn = (seen: readonly TaskControlRequest[]): string[] =>
  seen.flatMap(({ completed }) => completed.map(({ id }) => id)).sort();

async function passing(fleet: TestFleet, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    fleet.pass(1000);
    await fleet.look('kv-x');
  }
}

describe('a job with a controller that is removed', () => {
  const REMOVAL = 'deploy/p/2/d/1/remove/1';
  const progress = async (fleet: TestFleet) => (await fleet.twine('trackUpdates', { updateId: REMOVAL })).body.units[0];

  test('loses each task when the controller lets it go, and is removed once all are gone', async () => {
    const { fleet, seen, mood } = await givenControlled({ nSmall: 1, budget: 1 });
    mood.approves = ({ task }) => task === 'kv-x/1' || task === 'kv-x/4';
    await fleet.twine('removeUnits', { updateId: REMOVAL, units: ['kv-x'] });
    await passing(fleet, 10);
    expect(seen[0]?.request).toMatchObject([0, 1, 2, 3, 4, 5].map((slot) => ({ task: `kv-x/${slot}`, kind: 'stop' })));
    expect(await progress(fleet)).toMatchObject({
      ...{ state: 'updating', targeted: 6, gone: 2 },
      reason: 'waiting for the task controller to approve: 4 tasks',
    });
    expect(await fleet.look('kv-x')).toMatchObject({ size: 4, running: 4 });
    mood.approves = () => true;
    await passing(fleet, 30);
    expect(await progress(fleet)).toMatchObject({ state: 'done', targeted: 6, gone: 6 });
    expect(await fleet.look('kv-x')).toMatchObject({ size: 0, removed: 6 });
    expect(overIn(seen).filter((id) => id.startsWith(REMOVAL))).toHaveLength(6);
  });

  test('keeps the other tasks while the removal is paused, and for good once it is cancelled', async () => {
    const { fleet, mood } = await givenControlled();
    mood.approves = ({ task }) => task === 'kv-x/1';
    await fleet.twine('removeUnits', { updateId: REMOVAL, units: ['kv-x'] });
    await passing(fleet, 10);
    await fleet.twine('pauseUpdates', { updateId: REMOVAL });
    mood.approves = () => true;
    await passing(fleet, 30);
    expect(await progress(fleet)).toMatchObject({ state: 'paused', gone: 1 });
    await fleet.twine('cancelUpdates', { updateId: REMOVAL });
    await passing(fleet, 30);
    expect(await progress(fleet)).toMatchObject({ state: 'failed', gone: 1 });
    expect(await fleet.look('kv-x')).toMatchObject({ size: 5, running: 5 });
    const all = { ...update('deploy/p/3/d/1/0/1', 'kv-x', 'kv:2'), wholeUnit: true };
    await fleet.twine('executeUpdates', all);
    await passing(fleet, 120);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
  });
});

describe('a job with a controller that is to be smaller', () => {
  test('loses its last tasks when the controller lets them go, in whatever order, and no other', async () => {
    const { fleet, seen, mood } = await givenControlled();
    mood.approves = () => false;
    expect(await fleet.control('PATCH', '/jobs/kv-x', { tasks: 3 })).toMatchObject({ size: 6, shrinkingTo: 3 });
    await passing(fleet, 60);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 6, running: 6 });
    expect(seen[0]?.request).toMatchObject([3, 4, 5].map((slot) => ({ task: `kv-x/${slot}`, kind: 'stop' })));
    mood.approves = ({ task }) => task === 'kv-x/3';
    await passing(fleet, 10);
    // A hole: gone for all who look at the job, though later slots are there.
    expect(await fleet.look('kv-x')).toMatchObject({ size: 5, running: 5, down: 0, versions: { 'kv:1': 5 } });
    expect(slotsOf(seen.at(-1)!.request)).toEqual([4, 5]);
    expect(seen.at(-1)!.allUnhealthyTasks).toEqual([]);
    mood.approves = () => true;
    await passing(fleet, 10);
    const end = await fleet.look('kv-x');
    expect(end).toMatchObject({ size: 3, running: 3 });
    expect(end).not.toHaveProperty('shrinkingTo');
    expect(overIn(seen)).toEqual(['resize/1/3', 'resize/1/4', 'resize/1/5']);
  });

  test('fills its holes when it is to be larger again before all have left', async () => {
    const { fleet, mood } = await givenControlled();
    mood.approves = ({ task }) => task === 'kv-x/3';
    await fleet.control('PATCH', '/jobs/kv-x', { tasks: 2 });
    await passing(fleet, 10);
    await fleet.control('PATCH', '/jobs/kv-x', { tasks: 7 });
    await passing(fleet, 60);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 7, running: 7, versions: { 'kv:1': 7 } });
  });

  test('loses at once what is down, and nothing while its scheduler is down', async () => {
    const { fleet, mood } = await givenControlled({ tasks: 12 });
    mood.approves = () => false;
    await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m11' });
    await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m9' });
    await fleet.control('POST', '/faults', { kind: 'scheduler', id: 'x', downMs: 60_000 });
    await fleet.control('PATCH', '/jobs/kv-x', { tasks: 8 });
    await passing(fleet, 30);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 12, running: 10 });
    await passing(fleet, 60);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 10, running: 10 });
  });

  test('shrinks in the middle of an update, which counts the tasks that left as gone and ends', async () => {
    const { fleet, seen, mood } = await givenControlled({ nSmall: 1 });
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    await fleet.look('kv-x');
    mood.approves = ({ task, kind }) => kind === 'update' || task !== 'kv-x/3';
    await fleet.control('PATCH', '/jobs/kv-x', { tasks: 3 });
    await passing(fleet, 120);
    mood.approves = () => true;
    await passing(fleet, 120);
    const [unit] = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units;
    expect(unit).toMatchObject({ state: 'done', targeted: 6, live: 3, gone: 3, unreachable: 0 });
    expect(await fleet.look('kv-x')).toMatchObject({ size: 3, running: 3, versions: { 'kv:2': 3 } });
    // Every approved operation was reported as over, including those of tasks that left before it began.
    const approved = new Set(seen.flatMap(({ request }) => request.map(({ id }) => id)));
    for (const id of new Set(overIn(seen))) expect(approved).toContain(id);
    expect(overIn(seen)).toEqual(expect.arrayContaining(['resize/1/3', 'resize/1/4', 'resize/1/5']));
  });

  test('shrinks by its autoscaler in the same way', async () => {
    const { fleet, seen, mood } = await givenControlled({ tasks: 20, autoscale: { min: 5, max: 10 } });
    mood.approves = ({ task }) => task !== 'kv-x/15';
    await passing(fleet, 120);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 11, shrinkingTo: 10 });
    expect(new Set(seen.flatMap(({ request }) => request.map(({ kind }) => kind)))).toEqual(new Set(['stop']));
    mood.approves = () => true;
    await passing(fleet, 10);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 10, running: 10 });
  });
});

test('an approved operation on a task that was removed before it began is reported as over', async () => {
  const { fleet, seen, mood } = await givenControlled();
  mood.approves = () => false;
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  await fleet.control('PATCH', '/jobs/kv-x', { tasks: 3 });
  await passing(fleet, 10);
  // Slots 3 to 5 may both be updated and leave; they leave first.
  mood.approves = () => true;
  await passing(fleet, 60);
  expect(await fleet.look('kv-x')).toMatchObject({ size: 3, versions: { 'kv:2': 3 } });
  const updated = [0, 1, 2, 3, 4, 5].map((slot) => `${UPDATE}/${slot}`);
  expect(overIn(seen)).toEqual([...updated, 'resize/1/3', 'resize/1/4', 'resize/1/5']);
});

describe('a restart', () => {
  test('starts the tasks anew on their version, N_small at a time and within the budget', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks: 6, nSmall: 4, budget: 3 });
    const restart = (body: object) => fleet.control('POST', '/jobs/kv-x/restart', body);
    expect(await restart({})).toMatchObject({ running: 3, down: 3, restarting: 6, versions: { 'kv:1': 6 } });
    await passing(fleet, 60);
    const end = await fleet.look('kv-x');
    expect(end).toMatchObject({ running: 6, versions: { 'kv:1': 6 } });
    expect(end).not.toHaveProperty('restarting');
    expect(await restart({ slots: [1] })).toMatchObject({ running: 5, restarting: 1 });
    const query = `/metrics?job=kv-x&metric=system.cpu&from=${fleet.now() - 60_000}&to=${fleet.now() + 60_000}`;
    await passing(fleet, 60);
    const { series } = (await fleet.control('GET', query)) as { series: { labels: { task: string } }[] };
    const identifiers = series.map(({ labels }) => labels.task);
    expect(identifiers).toEqual(expect.arrayContaining(['kv-x/0/2', 'kv-x/1/3']));
  });

  test('is asked for task by task where there is a controller, and over when the task runs again', async () => {
    const { fleet, seen, mood } = await givenControlled();
    mood.approves = ({ task }) => task === 'kv-x/2';
    await fleet.control('POST', '/jobs/kv-x/restart', { slots: [0, 2] });
    await passing(fleet, 30);
    expect(seen[0]?.request).toEqual(
      [0, 2].map((slot) => ({ id: `restart/1/${slot}`, task: `kv-x/${slot}`, kind: 'restart' })),
    );
    expect(overIn(seen)).toEqual(['restart/1/2']);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, restarting: 1 });
    // An update starts the other anew, so that nothing is left to do.
    mood.approves = ({ kind }) => kind === 'update';
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    await passing(fleet, 60);
    const end = await fleet.look('kv-x');
    expect(end).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
    expect(end).not.toHaveProperty('restarting');
  });

  test('ends with the first task that does not come up', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks: 6, nSmall: 1, budget: 6 });
    await fleet.behaves('kv:1', { crashOnStart: true });
    await fleet.control('POST', '/jobs/kv-x/restart', {});
    await passing(fleet, 60);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 5, down: 1 });
  });

  test.each([[[6]], [[-1]], [[0.5]], [['all']]])('a list of slots %j is refused', async (slots) => {
    const fleet = givenFleet();
    await fleet.job('kv-x');
    const { status, body } = await fleet.answer('POST', '/jobs/kv-x/restart', { slots });
    expect([status, body.error.message.slice(0, 9)]).toEqual([400, 'slots.0: ']);
  });
});

describe('a scheduler that was down', () => {
  test('asks again for all that was approved before and had not begun, under the next number', async () => {
    const { fleet, seen, mood } = await givenControlled({ nSmall: 1 });
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    expect(await fleet.look('kv-x')).toMatchObject({ updating: 1 });
    await fleet.control('POST', '/faults', { kind: 'scheduler', id: 'x', downMs: 600_000 });
    mood.approves = () => false;
    const before = seen.length;
    await passing(fleet, 900);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:1': 5, 'kv:2': 1 } });
    expect(seen[before]).toMatchObject({ sequenceNumber: before + 1, completed: [{ id: `${UPDATE}/5` }] });
    expect(slotsOf(seen[before]!.request)).toEqual([0, 1, 2, 3, 4]);
    mood.approves = () => true;
    await passing(fleet, 120);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
  });

  test('does not use an answer that arrived meanwhile, and reports what is not wanted any more', async () => {
    const { fleet, seen, mood } = await givenControlled({ nSmall: 1 });
    const slow = { kind: 'http', service: 'external', mode: 'delay', delayMs: 3000, count: 1 };
    await fleet.control('POST', '/faults', slow);
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    await fleet.look('kv-x');
    await fleet.control('POST', '/faults', { kind: 'scheduler', id: 'x', downMs: 60_000 });
    mood.approves = () => false;
    await passing(fleet, 120);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:1': 6 } });
    expect(seen[1]!.sequenceNumber).toBe(2);

    mood.approves = ({ task }) => task !== 'kv-x/1';
    await passing(fleet, 6);
    await fleet.control('POST', '/faults', { kind: 'scheduler', id: 'x', downMs: 60_000 });
    await fleet.twine('cancelUpdates', { updateId: UPDATE });
    await passing(fleet, 120);
    expect(overIn(seen)).toEqual([0, 2, 3, 4, 5].map((slot) => `${UPDATE}/${slot}`));
  });
});

test('a controller gets failures and returns although nothing is asked of it, each once', async () => {
  const { fleet, seen } = await givenControlled({ tasks: 12 });
  await passing(fleet, 60);
  expect(seen).toEqual([]);
  await fleet.control('POST', '/faults', { kind: 'msb', id: 'x-msb7', downMs: 30_000 });
  await fleet.look('kv-x');
  expect(seen).toMatchObject([{ request: [], completed: [], allUnhealthyTasks: ['kv-x/7'], sequenceNumber: 1 }]);
  await passing(fleet, 120);
  expect(seen.slice(1)).toMatchObject([{ request: [], allUnhealthyTasks: [], sequenceNumber: 2 }]);
});

test('a world that was written out in the middle of all this continues when it is read again', async () => {
  const { fleet, mood } = await givenControlled({ nSmall: 1 });
  mood.approves = ({ task }) => task === 'kv-x/4' || task === 'kv-x/0';
  await fleet.control('PATCH', '/jobs/kv-x', { tasks: 4 });
  await fleet.control('POST', '/jobs/kv-x/restart', {});
  await passing(fleet, 2);
  await fleet.control('POST', '/snapshot', await fleet.control('GET', '/snapshot'));
  mood.approves = () => true;
  await passing(fleet, 90);
  const end = await fleet.look('kv-x');
  expect(end).toMatchObject({ size: 4, running: 4, versions: { 'kv:1': 4 } });
  expect([end.shrinkingTo, end.restarting]).toEqual([undefined, undefined]);
});

test.each([
  ['a restart without leave', [], 'restart', false],
  ['a task that leaves without leave', [], 'resize', false],
  ['a restart with leave to stop', [{ kind: 'op-approved', job: 'j', slot: 1, op: 'stop' }], 'restart', false],
  ['a task that leaves with leave to stop', [{ kind: 'op-approved', job: 'j', slot: 1, op: 'stop' }], 'resize', true],
  [
    'leave from before the last question',
    [
      { kind: 'op-approved', job: 'j', slot: 1, op: 'restart' },
      { kind: 'controller-asked', job: 'j' },
    ],
    'restart',
    false,
  ],
  [
    'leave from before the scheduler was down',
    [
      { kind: 'op-approved', job: 'j', slot: 1, op: 'update' },
      { kind: 'scheduler-down', region: 'x' },
    ],
    'update',
    false,
  ],
  [
    'leave while another scheduler was down',
    [
      { kind: 'op-approved', job: 'j', slot: 1, op: 'update' },
      { kind: 'scheduler-down', region: 'y' },
    ],
    'update',
    true,
  ],
] as const)('the checker knows %s', (_, events: readonly FleetEvent[], why, isFine) => {
  const fleet = { jobs: new Map([['j', { control: {}, region: 'x' }]]) } as never;
  const memories = new Map<string, unknown>();
  for (const event of events) expect(taskControlChecker.see(event, memories, fleet)).toBeNull();
  const change = { kind: 'task', job: 'j', slot: 1, update: null, previous: null } as const;
  const stop = taskControlChecker.see({ ...change, from: 'running', to: 'down', why }, memories, fleet);
  expect(stop).toBe(isFine ? null : `j/1 was stopped (${why}) without leave of its controller`);
});
