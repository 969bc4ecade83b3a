import { ServiceError } from '@temporalio/client';
import { untilTaken } from '../../client/retaken';

/** As the client throws what the server answers with a code of gRPC. */
const answered = (code: number, details: string): Error =>
  new ServiceError('Workflow Update failed', {
    cause: Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} }),
  });

const forgotten = answered(9, 'Unable to perform workflow execution update due to unexpected workflow task failure.');

/** A server that answers so, one after the other, and then takes it; with the ids that it was asked by. */
function serverOf(...errors: Error[]) {
  const ids: string[] = [];
  const send = (updateId: string): Promise<string> => {
    ids.push(updateId);
    const error = errors.shift();
    return error ? Promise.reject(error) : Promise.resolve('taken');
  };
  return { ids, send };
}

test('an update that the server forgets as its task fails is sent again, under the id that it had', async () => {
  const { ids, send } = serverOf(forgotten, forgotten);
  expect(await untilTaken(send)).toBe('taken');
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(1);
});

test.each([
  ['no worker polls', answered(9, 'no poller seen for task queue recently, worker may be down')],
  ['the server is away', answered(14, 'connection refused')],
])('where %s, it is not', async (_what, error) => {
  const { ids, send } = serverOf(error);
  await expect(untilTaken(send)).rejects.toBe(error);
  expect(ids).toHaveLength(1);
});

test('a workflow whose tasks fail again and again is given up', async () => {
  const { ids, send } = serverOf(...Array<Error>(9).fill(forgotten));
  await expect(untilTaken(send)).rejects.toBe(forgotten);
  expect(ids).toHaveLength(5);
});
