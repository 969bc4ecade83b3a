import { getEventListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createChildActivities } from '../../activities/children';
import type { Clock } from '../../activities/clock';
import { workflowIds } from '../../domain/ids';
import { MemoryIndex } from '../workflows/memoryIndex';

const ORDER = { parent: 'inference/1', owners: [], artifacts: [], reportTo: 'children/inference/1/0' };

test('when children are asked at once, a silent one delays no other', async () => {
  const slept: number[] = [];
  // As soon as every child has had the chance to answer, that time is over.
  const sleep: Clock['sleep'] = (ms) => new Promise((resolve) => setImmediate(() => resolve(void slept.push(ms))));
  const answers = { 'model-1': Promise.resolve({ number: 7 }), 'model-2': new Promise<never>(() => undefined) };
  const client = {
    withAbortSignal: (_signal: AbortSignal, work: () => Promise<unknown>) => work(),
    workflow: {
      getHandle: (id: string) => ({
        executeUpdate: () => answers[id === workflowIds.pipeline('model-1') ? 'model-1' : 'model-2'],
      }),
    },
  } as unknown as Client;
  const clock = { now: () => Promise.resolve(0), sleep };
  const { startChildReleases } = createChildActivities({ client, clock, index: new MemoryIndex(client) });
  const asked = { ...ORDER, children: ['model-1', 'model-2'], heartbeatTimeoutMs: 30_000 };
  expect(await new MockActivityEnvironment().run(startChildReleases, asked)).toEqual({
    'model-1': { kind: 'started', number: 7 },
  });
  expect(slept).toEqual([10_000]);
});

test('each child that is asked has a signal of its own, which ends with the asking', async () => {
  const signals = new Set<AbortSignal>();
  const client = {
    // As the real one, which never takes a listener away.
    withAbortSignal: (signal: AbortSignal, work: () => Promise<unknown>) => {
      signals.add(signal);
      signal.addEventListener('abort', () => undefined);
      return work();
    },
    workflow: { getHandle: () => ({ executeUpdate: () => Promise.resolve({ number: 7 }) }) },
  } as unknown as Client;
  const clock = { now: () => Promise.resolve(0), sleep: () => new Promise<never>(() => undefined) };
  const { startChildReleases } = createChildActivities({ client, clock, index: new MemoryIndex(client) });
  const children = Array.from({ length: 12 }, (_, n) => `model-${n}`);
  await new MockActivityEnvironment().run(startChildReleases, { ...ORDER, children, heartbeatTimeoutMs: 30_000 });
  const listeners = [...signals].map((signal) => getEventListeners(signal, 'abort').length);
  expect(listeners).toEqual(children.map(() => 1));
  expect([...signals].every(({ aborted }) => aborted)).toBe(true);
});

test('a child and a shard that are paused through Temporal have not ended', async () => {
  const describe = () => Promise.resolve({ status: { name: 'PAUSED' } });
  const client = { workflow: { getHandle: () => ({ describe }) } } as unknown as Client;
  const clock = { now: () => Promise.resolve(0), sleep: () => Promise.resolve() };
  const { childrenOver, shardsOver } = createChildActivities({ client, clock, index: new MemoryIndex(client) });
  expect(await childrenOver([{ pipeline: 'model-1', number: 7 }])).toEqual([]);
  expect(await shardsOver(['shard-1'])).toEqual([]);
});

test('a result that a stranger gave a child or a shard says nothing of how it ended', async () => {
  const describe = () => Promise.resolve({ status: { name: 'COMPLETED' } });
  // As the seal leaves it.
  const client = {
    workflow: { getHandle: () => ({ describe, result: () => Promise.resolve(undefined) }) },
  } as unknown as Client;
  const clock = { now: () => Promise.resolve(0), sleep: () => Promise.resolve() };
  const { childrenOver, shardsOver } = createChildActivities({ client, clock, index: new MemoryIndex(client) });
  expect(await childrenOver([{ pipeline: 'model-1', number: 7 }])).toEqual([
    { pipeline: 'model-1', number: 7, state: 'failed', reason: 'its release was terminated' },
  ]);
  expect(await shardsOver(['shard-1'])).toEqual([{ id: 'shard-1', report: null }]);
});
