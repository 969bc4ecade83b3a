import { getEventListeners } from 'node:events';
import type { Temporal } from '../../client/connection';
import { temporalEndings } from '../../client/endings';

/** A server that lists one release, of which it has no history; every call to it has to be within a deadline. */
function emptyTemporal() {
  let timed = 0;
  const answer = <T>(value: T) => {
    if (timed === 0) throw new Error('a call without a deadline');
    return Promise.resolve(value);
  };
  const info = {
    ...{ workflowId: 'release/kvstore/1', runId: 'run', type: 'release', closeTime: new Date(5) },
    status: { name: 'COMPLETED' },
  };
  const client = {
    options: { namespace: 'default' },
    withDeadline: async (_: number, call: () => Promise<unknown>) => {
      timed += 1;
      return Promise.resolve(call()).finally(() => (timed -= 1));
    },
    // As the real one, which never takes a listener away.
    withAbortSignal: (signal: AbortSignal, call: () => Promise<unknown>) => {
      signal.addEventListener('abort', () => undefined);
      return call();
    },
    workflow: {
      list: async function* () {
        yield await answer(info);
      },
      getHandle: () => ({ query: () => answer(null) }),
    },
    workflowService: {
      describeNamespace: () => answer({ namespaceInfo: { id: 'a' }, config: {} }),
      describeTaskQueue: () => answer({ pollers: [{ lastAccessTime: { seconds: 7 } }] }),
      getWorkflowExecutionHistory: () => answer({ history: { events: [] } }),
    },
  };
  return { client, namespace: 'default' } as unknown as Temporal;
}

test('every call to Temporal has a deadline, and a run whose history is gone is an error, not an end of nothing', async () => {
  const endings = temporalEndings(emptyTemporal(), 'conveyor');
  expect(await endings.origin()).toEqual({ name: 'default/a', retentionMs: 0 });
  expect(await endings.polledMs()).toBe(7000);
  const runs = [];
  for await (const run of endings.closed(0, 9)) runs.push(run);
  expect(runs).toMatchObject([{ workflowId: 'release/kvstore/1', closedMs: 5 }]);
  for (const read of [runs[0]?.rows, runs[0]?.remains])
    await expect(read?.()).rejects.toThrow('only the end of release/kvstore/1 is known');
});

test('calls that have ended leave nothing behind on the signal that would end them', async () => {
  const { signal } = new AbortController();
  const endings = temporalEndings(emptyTemporal(), 'conveyor', signal);
  for (let n = 0; n < 20; n += 1) await endings.origin();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('a call that is under way ends with the signal, and after that nothing is asked', async () => {
  const over = new AbortController();
  const temporal = emptyTemporal();
  let asked = 0;
  const withAbortSignal = (signal: AbortSignal) =>
    new Promise((_, reject) => {
      asked += 1;
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  Object.assign(temporal.client, { withAbortSignal });
  const endings = temporalEndings(temporal, 'conveyor', over.signal);
  const waiting = endings.origin();
  over.abort(new Error('over'));
  await expect(waiting).rejects.toThrow('over');
  await expect(endings.origin()).rejects.toThrow('over');
  expect(asked).toBe(1);
});
