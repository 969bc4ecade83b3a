import { callExtension, viaApp } from '../../sdk/client';
import { taskControllerProtocol, type TaskControlRequest } from '../../sdk/protocol/taskController';
import { ExtensionError, serveTaskController } from '../../sdk/server';

const OP = { task: 'kv-x/1', kind: 'update', toVersion: 'kv:2' } as const;
const REQUEST: TaskControlRequest = {
  jobHandle: 'kv-x',
  request: ['a', 'b', 'c'].map((id) => ({ id, ...OP })),
  completed: [],
  advanceNotices: [{ machineIds: ['x-m1'], kind: 'maintenance', start: 1, end: 2, deadline: 3 }],
  allUnhealthyTasks: [],
  sequenceNumber: 1,
};

function givenController(broken: () => boolean = () => false) {
  const seen: TaskControlRequest[] = [];
  const app = serveTaskController('controller', {
    process: (request) => {
      if (broken()) throw new ExtensionError('later', 'not now', { retryable: true });
      seen.push(request);
      return { ack: request.request.slice(seen.length - 1, seen.length).map(({ id }) => id) };
    },
  });
  const service = { name: 'controller', url: 'http://controller', timeoutMs: 5000 };
  const ask = (request: TaskControlRequest) =>
    callExtension({
      ...{ service, protocol: taskControllerProtocol, method: 'process', context: null },
      ...{ request, fetch: viaApp(app) },
    });
  return { seen, ask, app };
}

test('a controller gets the request as the cluster manager sent it, without a context, and its answer comes back', async () => {
  const { ask, seen } = givenController();
  expect(await ask(REQUEST)).toEqual({ ack: ['a'] });
  expect(seen).toEqual([REQUEST]);
});

test('a call that is repeated gets the answer that it got, and the controller does not see it again', async () => {
  const { ask, seen } = givenController();
  expect([await ask(REQUEST), await ask(REQUEST)]).toEqual([{ ack: ['a'] }, { ack: ['a'] }]);
  expect(await ask({ ...REQUEST, jobHandle: 'kv-y' })).toEqual({ ack: ['b'] });
  expect(await ask({ ...REQUEST, sequenceNumber: 2 })).toEqual({ ack: ['c'] });
  expect(seen).toHaveLength(3);
});

test('a call that failed is no answer: repeated, it is decided anew', async () => {
  let isBroken = true;
  const { ask } = givenController(() => isBroken);
  await expect(ask(REQUEST)).rejects.toMatchObject({ code: 'extension-unavailable' });
  isBroken = false;
  expect(await ask(REQUEST)).toEqual({ ack: ['a'] });
});

test.each([
  ['a kind of operation that there is not', { request: [{ id: 'a', ...OP, kind: 'paint' }] }, 'request.0.kind'],
  ['a sequence number of zero', { sequenceNumber: 0 }, 'sequenceNumber'],
  ['no list of unhealthy tasks', { allUnhealthyTasks: undefined }, 'allUnhealthyTasks'],
])('%s is refused by name', async (_, change, field) => {
  const refused = givenController().ask({ ...REQUEST, ...change } as never);
  await expect(refused).rejects.toMatchObject({
    code: 'extension-rejected',
    message: expect.stringContaining(field) as string,
  });
});

test('openapi.json of a task controller describes its one method', async () => {
  const { app } = givenController();
  const text = await (await app.request('/openapi.json')).text();
  expect(text).toContain('/process');
  expect(text).not.toContain('deployId');
});
