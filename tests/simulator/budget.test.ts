import fc from 'fast-check';
import type { TaskControlRequest } from '../../sdk/protocol/taskController';
import { serveTaskController } from '../../sdk/server';
import { viaApp } from '../../sdk/client';
import { expectNoViolations, givenFleet, START, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

type Step =
  | { readonly kind: 'update'; readonly version: number; readonly percent: number; readonly whole: boolean }
  | { readonly kind: 'revert' | 'pauseUpdates' | 'resumeUpdates' | 'cancelUpdates' }
  | { readonly kind: 'fault'; readonly place: string; readonly index: number; readonly downMs: number }
  | { readonly kind: 'maintenance'; readonly machines: readonly number[]; readonly leadMs: number }
  | { readonly kind: 'trouble'; readonly mode: string; readonly count: number }
  | { readonly kind: 'resize'; readonly tasks: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'pass'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('update' as const),
    version: fc.integer({ min: 1, max: 4 }),
    percent: fc.integer({ min: 1, max: 100 }),
    whole: fc.boolean(),
  }),
  fc.record({
    kind: fc.constantFrom(
      'revert' as const,
      'pauseUpdates' as const,
      'resumeUpdates' as const,
      'cancelUpdates' as const,
    ),
  }),
  fc.record({
    kind: fc.constant('fault' as const),
    place: fc.constantFrom('machine:x-m', 'msb:x-msb', 'datacentre:x-dc', 'scheduler:x'),
    index: fc.integer({ min: 0, max: 11 }),
    downMs: fc.integer({ min: 1000, max: 200_000 }),
  }),
  fc.record({
    kind: fc.constant('maintenance' as const),
    machines: fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 4 }),
    leadMs: fc.integer({ min: 0, max: 60_000 }),
  }),
  fc.record({
    kind: fc.constant('trouble' as const),
    mode: fc.constantFrom('error', 'delay', 'lose-reply', 'duplicate', 'garbage'),
    count: fc.integer({ min: 1, max: 5 }),
  }),
  fc.record({ kind: fc.constant('resize' as const), tasks: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ kind: fc.constant('restart' as const) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 60_000 }) }),
);

/** Version 4 does not come up. */
async function play(fleet: TestFleet, steps: readonly Step[]): Promise<void> {
  const deploy = 'deploy/p/1/d/1';
  const updates: string[] = [];
  let reverts = 0;
  for (const [index, it] of steps.entries()) {
    const last = updates.at(-1) ?? 'none';
    if (it.kind === 'pass') fleet.pass(it.ms);
    else if (it.kind === 'resize') await fleet.control('PATCH', '/jobs/kvstore-x', { tasks: it.tasks });
    else if (it.kind === 'restart') await fleet.control('POST', '/jobs/kvstore-x/restart', {});
    else if (it.kind === 'fault') {
      const [kind, prefix] = it.place.split(':');
      const id = kind === 'scheduler' ? prefix : `${prefix}${it.index}`;
      await fleet.control('POST', '/faults', { kind, id, downMs: it.downMs });
    } else if (it.kind === 'maintenance') {
      const machines = it.machines.map((machine) => `x-m${machine}`);
      const times = { startMs: it.leadMs, deadlineMs: 60_000 - it.leadMs, durationMs: 30_000 };
      await fleet.control('POST', '/faults', { kind: 'maintenance', machines, ...times });
    } else if (it.kind === 'trouble') {
      const fault = { kind: 'http', service: 'external', mode: it.mode, count: it.count, delayMs: 3000 * it.count };
      await fleet.control('POST', '/faults', fault);
    } else if (it.kind === 'update') {
      updates.push(`${deploy}/${index}/1`);
      const request = update(updates.at(-1) ?? '', 'kvstore-x', `kv:${it.version}`, {
        amount: { percent: it.percent },
      });
      await fleet.twine('executeUpdates', { ...request, wholeUnit: it.whole });
    } else if (it.kind === 'revert') {
      reverts += 1;
      await fleet.twine(
        'executeUpdates',
        update(`${deploy}/revert/${reverts}`, 'kvstore-x', 'kv:1', { updatedBy: updates }),
      );
    } else await fleet.twine(it.kind, { updateId: last }, `${it.kind} ${index}`);
    await fleet.look('kvstore-x');
  }
}

/** A controller that approves what it likes, differently from call to call, and what it thinks is under way. */
function moody() {
  const inFlight = new Set<string>();
  const app = serveTaskController('moody', {
    process: ({ request, completed, sequenceNumber }: TaskControlRequest) => {
      for (const { id } of [...completed, ...request]) inFlight.delete(id);
      const ack = request.filter((_, index) => (index + sequenceNumber) % 3 !== 0).map(({ id }) => id);
      for (const id of ack) inFlight.add(id);
      return { ack };
    },
  });
  return { app, inFlight };
}

test('for any failures and requests, our updates never break the budget nor any other invariant', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        tasks: fc.integer({ min: 1, max: 30 }),
        nSmall: fc.integer({ min: 1, max: 9 }),
        budget: fc.integer({ min: 1, max: 5 }),
        hotswap: fc.boolean(),
        controller: fc.constantFrom(undefined, { kind: 'external', url: 'http://controller' }),
        autoscale: fc.constantFrom(undefined, { min: 5, max: 15 }),
      }),
      fc.array(step, { maxLength: 40 }),
      fc.integer(),
      async (job, steps, seed) => {
        const { app, inFlight } = moody();
        const fleet = givenFleet({ seed, fetch: viaApp(app) });
        await fleet.job('kvstore-x', job);
        await fleet.behaves('kv:4', { crashOnStart: true });
        await play(fleet, steps);
        expect(await fleet.control('GET', '/violations')).toEqual([]);
        // Once nothing is asked any more and everything is repaired, a revert leaves nothing of the deploy behind.
        await play(fleet, [
          ...steps.filter(({ kind }) => kind === 'update').slice(0, 1),
          { kind: 'pass', ms: 3_600_000 },
        ]);
        const { updating, moving, running, size, swapping = 0, shrinkingTo } = await fleet.look('kvstore-x');
        expect({ updating, moving, swapping }).toEqual({ updating: 0, moving: 0, swapping: 0 });
        // An autoscaler may have changed its mind just now, and tasks that do not come up use up the budget.
        const fails = steps.some((it) => it.kind === 'update' && it.version === 4);
        const settles = !fails && job.autoscale === undefined;
        if (settles) expect({ running, shrinkingTo }).toEqual({ running: size });
        // The controller got the end of all that it ever approved, also in answers that were lost.
        if (settles) expect([...inFlight]).toEqual([]);
        expect(await fleet.control('GET', '/violations')).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});

test('the checkers see a broken budget: a task that an update stops beyond it is a violation', async () => {
  const { budgetChecker } = await import('../../simulator/checkers/budget');
  const memories = new Map<string, unknown>();
  const see = (event: Parameters<typeof budgetChecker.see>[0]): string | null =>
    budgetChecker.see(event, memories, undefined as never);
  const stop = (slot: number, why: 'update' | 'fault' | 'restart' | 'resize') =>
    see({ kind: 'task', job: 'j', slot, from: 'running', to: 'updating', why, update: 'u', previous: null });
  see({ kind: 'job-sized', job: 'j', size: 10, budget: { percent: 20 } });
  expect(stop(0, 'update')).toBeNull();
  expect(stop(1, 'fault')).toBeNull();
  expect(stop(2, 'update')).toContain('3 tasks unavailable, 2 allowed');
  expect(stop(3, 'restart')).toContain('4 tasks unavailable, 2 allowed');
  expect(stop(4, 'resize')).toBeNull();
});

test('tasks that are down are restarted first and cost no budget', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { tasks: 12, nSmall: 12, budget: 1 });
  await fleet.behaves('kv:2', { crashOnStart: true });
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 1 } }));
  fleet.pass(15_000);
  expect(await fleet.look('kvstore-x')).toMatchObject({ down: 1, running: 11 });
  await fleet.twine(
    'executeUpdates',
    update('deploy/p/1/d/1/revert/1', 'kvstore-x', 'kv:1', { updatedBy: ['deploy/p/1/d/1/0/1'] }),
  );
  expect(await fleet.look('kvstore-x')).toMatchObject({ updating: 1, running: 11, down: 0 });
});

test('an update waits for the budget that others use up, says so, and continues when they return', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { tasks: 12, budget: 1 });
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m11', downMs: 30_000 });
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 1 } }));
  const track = async () => (await fleet.twine('trackUpdates', { updateId: 'deploy/p/1/d/1/0/1' })).body.units[0];
  expect(await track()).toMatchObject({
    state: 'pending',
    reason: 'waiting for the unavailability budget: 1 task down, 1 allowed',
  });
  fleet.pass(120_000);
  expect(await track()).toMatchObject({ state: 'done', updated: 1, live: 1 });
});

test('tasks whose machine is down get their version set, block nothing, and start on it when they return', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { tasks: 12, nSmall: 4, budget: 4 });
  const { id } = (await fleet.control('POST', '/faults', { kind: 'datacentre', id: 'x-dc1' })) as { id: string };
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 3 } }));
  const track = async (updateId: string) => (await fleet.twine('trackUpdates', { updateId })).body.units[0];
  expect(await track('deploy/p/1/d/1/0/1')).toMatchObject({ state: 'pending', unreachable: 0 });
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/1/1', 'kvstore-x', 'kv:2'));
  expect(await track('deploy/p/1/d/1/1/1')).toMatchObject({ targeted: 12, updated: 0, unreachable: 4 });
  await fleet.control('DELETE', `/faults/${id}`);
  fleet.pass(600_000);
  expect(await track('deploy/p/1/d/1/1/1')).toMatchObject({ state: 'done', targeted: 12, live: 12, unreachable: 0 });
});

test('a region that is down updates nothing and is not available; its tasks return', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  const { id } = (await fleet.control('POST', '/faults', { kind: 'region', id: 'x' })) as { id: string };
  expect((await fleet.look('kvstore-x')).down).toBe(6);
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2'));
  fleet.pass(3_600_000);
  expect((await fleet.look('kvstore-x')).versions).toEqual({ 'kv:1': 6 });
  await fleet.control('DELETE', `/faults/${id}`);
  fleet.pass(600_000);
  expect(await fleet.look('kvstore-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
  expect(fleet.now()).toBeGreaterThan(START);
});

test('the tasks of a machine that stays down move, with their version, under a new identifier', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 1 } }));
  fleet.pass(30_000);
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m0' });
  fleet.pass(30_000);
  expect((await fleet.look('kvstore-x')).down).toBe(1);
  fleet.pass(300_000);
  expect(await fleet.look('kvstore-x')).toMatchObject({ running: 6, versions: { 'kv:1': 5, 'kv:2': 1 } });
  const end = (await fleet.twine('trackUpdates', { updateId: 'deploy/p/1/d/1/0/1' })).body.units[0];
  expect(end).toMatchObject({ targeted: 1, live: 1 });
});
