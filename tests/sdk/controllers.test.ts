import fc from 'fast-check';
import type { Situation } from '../../sdk';
import { leaderLast, loadAdaptive, loadOf, shardAware } from '../../sdk';
import { op, tasksOf } from './controllersWorld';

const given = (pending: readonly string[], inFlight: readonly string[] = [], unhealthy: readonly string[] = []) => ({
  pending: pending.map((task) => op(task)),
  inFlight: new Set(inFlight),
  unhealthy: new Set(unhealthy),
});

describe('a shard-aware controller', () => {
  // A chain: neighbours share a shard.
  const placement = new Map([
    ['a', ['1']],
    ['b', ['1', '2']],
    ['c', ['2', '3']],
    ['d', ['3']],
    ['e', []],
  ]);
  test.each([
    ['takes tasks that share nothing, and as many as there are', given(['b', 'a', 'c']), ['a', 'c']],
    ['takes a task without shards whatever else continues', given(['e'], ['a', 'b', 'c', 'd']), ['e']],
    ['leaves shards alone that an operation in flight is about', given(['a', 'b', 'd'], ['c']), ['a']],
    ['leaves shards alone that a failure hurt', given(['a', 'b', 'd'], [], ['c']), ['a']],
    ['lets a task that is down be updated, which costs nothing', given(['b'], [], ['b']), ['b']],
    [
      'and also where another replica is lost, so that a bad version can be taken back',
      given(['b'], [], ['b', 'c']),
      ['b'],
    ],
    ['but then one after the other', given(['b', 'c'], [], ['b', 'c']), ['b']],
    ['and not while another replica is operated on', given(['b'], ['c'], ['b', 'c']), []],
    ['does not touch a task of which it does not know the shards', given(['z', 'e']), ['e']],
  ])('%s', (_, situation, approved) => {
    expect(tasksOf(shardAware(placement)(situation))).toEqual(approved);
  });

  test('waits for the rest of a batch rather than begin the few that would spoil the next', () => {
    const names = (group: string) => Array.from({ length: 10 }, (_, index) => `${group}${index}`);
    // Each task of p shares a shard with every task of q; r0 is free.
    const grid = new Map([
      ...names('p').map((task) => [task, names('q').map((other) => `${task}${other}`)] as const),
      ...names('q').map((task) => [task, names('p').map((other) => `${other}${task}`)] as const),
      ['r0', []],
    ]);
    const decide = shardAware(grid);
    expect(tasksOf(decide(given([...names('p'), ...names('q')])))).toEqual(names('p'));
    expect(decide(given([...names('q'), 'r0'], ['p9']))).toEqual([]);
    expect(tasksOf(decide(given([...names('q'), 'r0'])))).toEqual([...names('q'), 'r0']);
    expect(tasksOf(decide(given(['r0'], ['p9'])))).toEqual(['r0']);
  });

  const tasks = Array.from({ length: 9 }, (_, index) => `t${index}`);
  const world = fc.record({
    shards: fc.array(fc.uniqueArray(fc.nat(8), { minLength: 2, maxLength: 3 }), { maxLength: 12 }),
    inFlight: fc.uniqueArray(fc.constantFrom(...tasks), { maxLength: 2 }),
    unhealthy: fc.uniqueArray(fc.constantFrom(...tasks), { maxLength: 3 }),
  });

  test('never takes a second replica of a shard that runs, and never stops for good', () => {
    fc.assert(
      fc.property(world, ({ shards, inFlight, unhealthy }) => {
        const hosts = shards.map((slots) => slots.map((slot) => `t${slot}`));
        const placement = new Map(
          tasks.map((task) => [task, hosts.flatMap((all, shard) => (all.includes(task) ? [`s${shard}`] : []))]),
        );
        const decide = shardAware(placement);
        const pending = tasks.filter((task) => !inFlight.includes(task));
        const approved = tasksOf(decide(given(pending, inFlight, unhealthy)));
        const away = new Set([...inFlight, ...unhealthy]);
        for (const replicas of hosts) {
          const taken = replicas.filter((task) => approved.includes(task) && !away.has(task));
          if (taken.length > 0)
            expect(replicas.filter((task) => away.has(task) || taken.includes(task))).toEqual(taken);
          expect(taken.length).toBeLessThan(2);
        }
        // Nothing in flight and every task fit: then something can always begin.
        expect(decide(given(pending)).length).toBeGreaterThan(0);
      }),
    );
  });

  test('finds a batch that no further task fits into', () => {
    fc.assert(
      fc.property(world, ({ shards }) => {
        const placement = new Map(
          tasks.map((task, slot) => [
            task,
            shards.flatMap((slots, shard) => (slots.includes(slot) ? [`s${shard}`] : [])),
          ]),
        );
        const batch = tasksOf(shardAware(placement)(given(tasks)));
        const hurt = new Set(batch.flatMap((task) => placement.get(task) ?? []));
        const others = tasks.filter((task) => !batch.includes(task));
        expect(others.filter((task) => !placement.get(task)!.some((shard) => hurt.has(shard)))).toEqual([]);
      }),
    );
  });
});

describe('a leader-last controller', () => {
  const five = leaderLast({ members: 5, leader: 'zk/2' });
  const all = ['zk/0', 'zk/1', 'zk/2', 'zk/3', 'zk/4'];
  test.each([
    ['begins with followers, and keeps a majority', five, given(all), ['zk/0', 'zk/1']],
    ['takes the next follower when one is back', five, given(['zk/2', 'zk/3', 'zk/4'], ['zk/1'], ['zk/1']), ['zk/3']],
    ['counts a failure as if it were an operation', five, given(all, [], ['zk/4', 'zk/3']), ['zk/3', 'zk/4']],
    ['waits with the leader while a follower waits', five, given(['zk/2', 'zk/4'], ['zk/0', 'zk/1']), []],
    ['waits with the leader while a follower is in flight', five, given(['zk/2'], ['zk/4']), []],
    ['takes the leader at the end', five, given(['zk/2']), ['zk/2']],
    [
      'takes the leader although a follower has failed, while a majority stays',
      five,
      given(['zk/2'], [], ['zk/0']),
      ['zk/2'],
    ],
    ['keeps the leader when the majority hangs on it', five, given(['zk/2'], [], ['zk/0', 'zk/1']), []],
    ['leaves running tasks alone while nobody leads', leaderLast({ members: 5, leader: null }), given(all), []],
    [
      'brings tasks back one by one when the majority is lost',
      leaderLast({ members: 5, leader: null }),
      given(all, [], ['zk/1', 'zk/2', 'zk/4']),
      ['zk/1'],
    ],
    ['goes through a pair one by one', leaderLast({ members: 2, leader: 'zk/0' }), given(['zk/0', 'zk/1']), ['zk/1']],
    ['updates a single task at once', leaderLast({ members: 1, leader: 'zk/0' }), given(['zk/0']), ['zk/0']],
  ])('%s', (_, decide, situation, approved) => {
    expect(tasksOf(decide(situation))).toEqual(approved);
  });
});

describe('a load-adaptive controller', () => {
  const names = Array.from({ length: 100 }, (_, index) => `web/${index}`);
  const check = (load: number, situation: Situation): number =>
    loadAdaptive({ tasks: 100, load, limit: 0.7 })(situation).length;
  test.each([
    ['takes many at night', 28, given(names), 60],
    ['takes few at the peak', 63, given(names), 10],
    ['takes none when there is nothing to spare', 70, given(names), 0],
    ['takes none when it is too much already', 90, given(names), 0],
    ['takes all that wait when nobody asks for anything', 0, given(names), 100],
    [
      'counts what is in flight and what has failed once',
      63,
      given(names.slice(6), names.slice(0, 4), names.slice(2, 6)),
      4,
    ],
    ['does not count a task that is down twice when it is operated on', 63, given(names, [], names.slice(0, 8)), 10],
  ])('%s', (_, load, situation, count) => {
    expect(check(load, situation)).toBe(count);
  });

  test('never lets the rest exceed the limit, and leaves no room unused', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 69, noNaN: true }), fc.nat(20), (load, failed) => {
        const approved = check(load, given(names.slice(failed), [], names.slice(0, failed)));
        const rest = 100 - failed - approved;
        if (approved > 0) expect(load / rest).toBeLessThanOrEqual(0.7 + 1e-9);
        expect(rest === 0 || load / (rest - 1) > 0.7 - 1e-9).toBe(true);
      }),
    );
  });

  test('reads the load off the latest point of each task that still reports', () => {
    const points = (...values: [number, number][]) => ({ points: values });
    expect(loadOf([points([1, 0.9], [2, 0.4]), points([2, 0.25]), points([1, 0.9]), points()])).toBeCloseTo(0.65);
    expect(loadOf([])).toBe(0);
  });
});
