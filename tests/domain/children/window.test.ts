import fc from 'fast-check';
import { computeJitter } from '../../../domain/children/jitter';
import { pickFittingShards, planShards } from '../../../domain/children/shards';
import {
  childBegun,
  due,
  isShardIdle,
  newWindow,
  recordChildNumber,
  shardReport,
  childEnded,
  withoutNewStarts,
  wakeAtMs,
  type ChildEnd,
  type WindowPlan,
  type ShardState,
} from '../../../domain/children/window';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `model-${index + 1}`);
const plan = (more: Partial<WindowPlan> = {}): WindowPlan => ({
  names: names(10),
  share: 3,
  parent: 'inference/3',
  jitterMs: 0,
  originMs: 1_000,
  stopOnFailure: false,
  ...more,
});
const end = (pipeline: string, state: ChildEnd['state'] = 'succeeded', number: number | null = 1): ChildEnd => ({
  pipeline,
  number,
  state,
});
const startAll = (state: ShardState, of: WindowPlan, nowMs: number): ShardState =>
  due(state, of, nowMs).reduce((next, name) => recordChildNumber(childBegun(next, name), name, 1), state);

describe('the jitter of a child', () => {
  test('is at least nothing and less than the jitter, and always the same', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.integer({ min: 1, max: 10 ** 9 }), (parent, child, jitterMs) => {
        const jitter = computeJitter(parent, child, jitterMs);
        expect(jitter).toBeGreaterThanOrEqual(0);
        expect(jitter).toBeLessThan(jitterMs);
        expect(computeJitter(parent, child, jitterMs)).toBe(jitter);
      }),
    );
  });

  test('is nothing where none is wanted', () => expect(computeJitter('inference/3', 'model-1', 0)).toBe(0));

  test('spreads names that hardly differ evenly: every tenth of the time gets about a tenth of them', () => {
    const tenths = Array<number>(10).fill(0);
    for (const name of names(10_000)) tenths[Math.floor(computeJitter('inference/3', name, 1_000_000) / 100_000)]! += 1;
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(120);
  });

  test('puts the children of another release of the same parent into another order', () => {
    const order = (parent: string) => newWindow(plan({ parent, jitterMs: 60_000 })).waiting;
    expect(order('inference/3')).not.toEqual(order('inference/4'));
    expect([...order('inference/3')].sort()).toEqual([...order('inference/4')].sort());
  });
});

describe('shards', () => {
  test.each([
    [0, 50, []],
    [1, 50, [[1, 50]]],
    [3, 1, [[3, 1]]],
    [
      60,
      100,
      [
        [30, 50],
        [30, 50],
      ],
    ],
    [500, 50, [[500, 50]]],
    [
      1_001,
      50,
      [
        [333, 17],
        [334, 17],
        [334, 16],
      ],
    ],
    [
      2_000,
      2,
      [
        [500, 1],
        [500, 1],
        [500, 1],
        [500, 1],
      ],
    ],
  ])('%d children with %d at once', (count, maxConcurrent, expected) => {
    expect(planShards(names(count), maxConcurrent).map((shard) => [shard.names.length, shard.share])).toEqual(expected);
  });

  test('hold every child once, 500 at most, and those that run together never have more than may run at once', () => {
    fc.assert(
      fc.property(fc.nat(6_000), fc.integer({ min: 1, max: 2_000 }), (count, maxConcurrent) => {
        const shards = planShards(names(count), maxConcurrent);
        expect(shards.flatMap((shard) => shard.names)).toEqual(names(count));
        for (const shard of shards) {
          expect(shard.names.length).toBeGreaterThan(0);
          expect(shard.names.length).toBeLessThanOrEqual(500);
        }
        let waiting = shards;
        let running: typeof shards = [];
        while (waiting.length > 0) {
          const started = pickFittingShards(waiting, running, maxConcurrent);
          if (running.length === 0) expect(started.length).toBeGreaterThan(0);
          running = [...running, ...started];
          waiting = waiting.filter((shard) => !started.includes(shard));
          expect(running.reduce((sum, { share }) => sum + share, 0)).toBeLessThanOrEqual(maxConcurrent);
          running = running.slice(1);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a shard', () => {
  test('starts as many as its share, and the next when one has ended', () => {
    const of = plan();
    const full = startAll(newWindow(of), of, 1_000);
    expect(shardReport(full)).toMatchObject({ waiting: 7, running: 3 });
    expect(due(full, of, 9_999)).toEqual([]);
    expect(wakeAtMs(full, of)).toBeUndefined();
    expect(due(childEnded(full, end('model-1'), of), of, 9_999)).toHaveLength(1);
  });

  test('starts no child before its moment, and knows when the next one comes', () => {
    const of = plan({ jitterMs: 60_000 });
    const fresh = newWindow(of);
    const moment = wakeAtMs(fresh, of) ?? 0;
    expect(moment).toBe(1_000 + Math.min(...of.names.map((name) => computeJitter(of.parent, name, of.jitterMs))));
    expect(due(fresh, of, moment - 1)).toEqual([]);
    expect(due(fresh, of, moment)).toEqual([fresh.waiting[0]]);
  });

  const two = startAll(newWindow(plan()), plan(), 1_000);
  test.each<[string, ShardState, ChildEnd[], object]>([
    ['counts an end', two, [end('model-1')], { running: 2, succeeded: 1 }],
    ['counts an end once, however often it is reported', two, [end('model-1'), end('model-1')], { succeeded: 1 }],
    ['counts nobody whom it did not start', two, [end('model-9', 'failed')], { running: 3, failed: 0, waiting: 7 }],
    ['counts no other release of the child', two, [end('model-1', 'failed', 7)], { running: 3, failed: 0 }],
    [
      'believes an end that comes before the number is known',
      childBegun(newWindow(plan()), 'model-4'),
      [end('model-4', 'failed', 7)],
      { running: 0, failed: 1, failures: [{ id: 'model-4/7', state: 'failed', reason: 'its release failed' }] },
    ],
    [
      'says who refused and why',
      childBegun(newWindow(plan()), 'model-4'),
      [{ ...end('model-4', 'failed', null), reason: 'there is no pipeline model-4' }],
      { failed: 1, failures: [{ id: 'model-4', state: 'refused', reason: 'there is no pipeline model-4' }] },
    ],
    [
      'separates what was cancelled from what failed',
      two,
      [end('model-1', 'cancelled'), end('model-10', 'failed')],
      { cancelled: 1, failed: 1, failures: [{ state: 'cancelled' }, { state: 'failed' }] },
    ],
  ])('%s', (_, state, ends, expected) => {
    expect(shardReport(ends.reduce((next, one) => childEnded(next, one, plan()), state))).toMatchObject(expected);
  });

  test('keeps twenty failures and counts the others', () => {
    const of = plan({ names: names(30), share: 30 });
    const all = startAll(newWindow(of), of, 1_000);
    const { failed, failures } = of.names.reduce((next, name) => childEnded(next, end(name, 'failed'), of), all);
    expect([failed, failures.length]).toEqual([30, 20]);
  });

  test('one that goes first starts no more children once one has not succeeded; those that run continue', () => {
    const of = plan({ stopOnFailure: true });
    const after = childEnded(startAll(newWindow(of), of, 1_000), end('model-1', 'cancelled'), of);
    expect(shardReport(after)).toMatchObject({ waiting: 0, running: 2, cancelled: 1, notStarted: 7 });
  });

  test('that is stopped keeps its running children until they end', () => {
    const after = withoutNewStarts(two);
    expect(shardReport(after)).toMatchObject({ waiting: 0, running: 3, notStarted: 7 });
    expect(isShardIdle(after)).toBe(false);
    expect(withoutNewStarts(after)).toEqual(after);
  });
});

const anEvent = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('end' as const), at: fc.nat(99), good: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.nat(20_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const) }) },
);

test('in any order of events, no child starts twice or before its moment, the share is kept, and every child is accounted for', () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(60_000),
      fc.boolean(),
      fc.array(anEvent, { maxLength: 120 }),
      (count, share, jitterMs, stopOnFailure, events) => {
        const of = plan({ names: names(count), share, jitterMs, stopOnFailure });
        const started = new Map<string, number>();
        let nowMs = of.originMs;
        let state = newWindow(of);
        const start = () => {
          for (const name of due(state, of, nowMs)) {
            expect(started.has(name)).toBe(false);
            expect(nowMs).toBeGreaterThanOrEqual(of.originMs + computeJitter(of.parent, name, jitterMs));
            started.set(name, nowMs);
            state = childBegun(state, name);
          }
        };
        const check = () => {
          const { waiting, running, succeeded, failed, cancelled, notStarted } = shardReport(state);
          expect(running).toBeLessThanOrEqual(share);
          expect(waiting + running + succeeded + failed + cancelled + notStarted).toBe(count);
          expect(started.size).toBe(running + succeeded + failed + cancelled);
        };
        for (const event of events) {
          start();
          check();
          if (event.kind === 'time') nowMs += event.ms;
          else if (event.kind === 'stop') state = withoutNewStarts(state);
          else {
            const child = state.running[event.at % Math.max(1, state.running.length)];
            if (child) state = childEnded(state, end(child.pipeline, event.good ? 'succeeded' : 'failed'), of);
          }
          check();
        }
        while (!isShardIdle(state)) {
          start();
          check();
          for (const { pipeline } of state.running) state = childEnded(state, end(pipeline), of);
          nowMs = Math.max(nowMs, wakeAtMs(state, of) ?? 0);
        }
        check();
      },
    ),
    { numRuns: 200 },
  );
});
