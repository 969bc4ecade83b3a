import { answer, conversation, type Decide, type Situation } from '../../sdk';
import { op, requestOf } from './controllersWorld';

const everything: Decide = ({ pending }) => pending;

/** A conversation with a controller that notes what it decides on. */
function given(onMaintenance: 'move' | 'stop' | 'ride-out' = 'move') {
  const seen: Situation[] = [];
  const ask = conversation(onMaintenance);
  const say = (request: Parameters<typeof requestOf>[0], decide = everything): string[] =>
    ask(requestOf(request), (situation) => {
      seen.push(situation);
      return decide(situation);
    }).ack;
  const inFlight = (): string[] => [...seen.at(-1)!.inFlight];
  return { say, seen, inFlight };
}

describe('a conversation with the cluster manager', () => {
  test('an approved operation is in flight until it is completed', () => {
    const { say, inFlight } = given();
    expect(say({ sequenceNumber: 1, request: [op('kv-x/1'), op('kv-x/2')] })).toEqual([
      'update kv-x/1',
      'update kv-x/2',
    ]);
    say({ sequenceNumber: 2 });
    expect(inFlight()).toEqual(['kv-x/1', 'kv-x/2']);
    say({ sequenceNumber: 3, completed: [op('kv-x/1')] });
    expect(inFlight()).toEqual(['kv-x/2']);
  });

  test('the same number gets the same answer, whatever the controller would say by now', () => {
    const { say, seen } = given();
    const request = { sequenceNumber: 1, request: [op('kv-x/1')] };
    expect(say(request)).toEqual(['update kv-x/1']);
    expect(say(request, () => [])).toEqual(['update kv-x/1']);
    expect(seen).toHaveLength(1);
  });

  test('an operation that is requested again is not in flight: the answer that approved it was lost', () => {
    const { say, seen, inFlight } = given();
    say({ sequenceNumber: 1, request: [op('kv-x/1')] });
    expect(say({ sequenceNumber: 2, request: [op('kv-x/1')] })).toEqual(['update kv-x/1']);
    expect(inFlight()).toEqual([]);
    expect(seen.at(-1)!.pending).toEqual([op('kv-x/1')]);
  });

  test('a number that skips some is as good as any', () => {
    const { say } = given();
    say({ sequenceNumber: 1 });
    expect(say({ sequenceNumber: 9, request: [op('kv-x/1')] })).toEqual(['update kv-x/1']);
  });

  test('an earlier number approves nothing, and what was in flight may be down until the next call says', () => {
    const { say, seen, inFlight } = given();
    say({ sequenceNumber: 5, request: [op('kv-x/1')] });
    expect(say({ sequenceNumber: 1, request: [op('kv-x/2')] })).toEqual([]);
    say({ jobHandle: 'kv-y', sequenceNumber: 1 });
    expect([...seen.at(-1)!.unhealthy]).toEqual(['kv-x/1']);
    expect(say({ sequenceNumber: 2, request: [op('kv-x/2')] })).toEqual(['update kv-x/2']);
    expect(inFlight()).toEqual([]);
    expect([...seen.at(-1)!.unhealthy]).toEqual([]);
  });

  test('a task that is away in one job counts in the others', () => {
    const { say, seen, inFlight } = given();
    say({ sequenceNumber: 1, request: [op('kv-x/1')], allUnhealthyTasks: ['kv-x/7'] });
    say({ jobHandle: 'kv-y', sequenceNumber: 1, allUnhealthyTasks: ['kv-y/2'] });
    expect(inFlight()).toEqual(['kv-x/1']);
    expect([...seen.at(-1)!.unhealthy]).toEqual(['kv-x/7', 'kv-y/2']);
  });

  test('a newer update of a task that is away, such as a revert, takes nothing more away', () => {
    const { say, seen } = given();
    const revert = { ...op('kv-x/1'), id: 'revert kv-x/1' };
    say({ sequenceNumber: 1, request: [op('kv-x/1')] });
    expect(say({ sequenceNumber: 2, request: [revert] }, () => [])).toEqual(['revert kv-x/1']);
    expect(seen.at(-1)!.pending).toEqual([]);
    say({ sequenceNumber: 3, completed: [revert] });
    expect([...seen.at(-1)!.inFlight]).toEqual([]);
  });

  test('a decision does not remember by itself: the memory goes in and comes out', () => {
    const { memory, ack } = answer(new Map(), requestOf({ sequenceNumber: 1, request: [op('kv-x/1')] }), everything);
    expect(ack).toEqual(['update kv-x/1']);
    const kept = new Map(JSON.parse(JSON.stringify([...memory])) as typeof memory);
    const next = (situation: Situation) => situation.pending.filter(() => situation.inFlight.size === 0);
    expect(answer(kept, requestOf({ sequenceNumber: 2, request: [op('kv-x/2')] }), next).ack).toEqual([]);
    expect(answer(new Map(), requestOf({ sequenceNumber: 2, request: [op('kv-x/2')] }), next).ack).toHaveLength(1);
  });
});

describe('before maintenance', () => {
  const announced = [op('kv-x/1'), op('kv-x/1', 'move'), op('kv-x/1', 'stop'), op('kv-x/2')];
  test.each([
    ['move', ['move kv-x/1', 'update kv-x/2']],
    ['stop', ['stop kv-x/1', 'update kv-x/2']],
    ['ride-out', ['update kv-x/1', 'update kv-x/2']],
  ] as const)('%s: one operation a task is approved', (onMaintenance, ack) => {
    expect(given(onMaintenance).say({ sequenceNumber: 1, request: announced })).toEqual(ack);
  });

  test('a move for another reason is no maintenance, so that it is not ridden out', () => {
    const request = [op('kv-x/1', 'move')];
    expect(given('ride-out').say({ sequenceNumber: 1, request })).toEqual(['move kv-x/1']);
  });

  test('a task that is being moved is not stopped besides', () => {
    const { say } = given();
    say({ sequenceNumber: 1, request: announced });
    expect(say({ sequenceNumber: 2, request: [op('kv-x/1', 'stop')] })).toEqual([]);
  });
});
