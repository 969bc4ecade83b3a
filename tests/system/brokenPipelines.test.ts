import { WithStartWorkflowOperation } from '@temporalio/client';
import { ask, startFront, type Front } from './front';
import { given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** Workflows that a process with access to Temporal may start there, next to a pipeline that works. */
let stack: Stack;
let shop: Service;
let front: Front;
beforeAll(async () => {
  stack = await Stack.open();
  shop = await given(stack);
  front = await startFront(stack);
});
afterAll(() => stack.close());

/** Calls it as a stranger's program does, bypassing the client and lint. */
async function applyDirectly(name: string, input: object): Promise<unknown> {
  const startWorkflowOperation = new WithStartWorkflowOperation('pipeline', {
    workflowId: `pipeline/${name}`,
    taskQueue: stack.taskQueue,
    args: [null],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return stack.temporal.workflow
    .executeUpdateWithStart('apply', { startWorkflowOperation, args: [input] })
    .catch((error: unknown) => error);
}

async function expectAllWell(): Promise<void> {
  await eventually('the list has the pipeline', async () => (await listed()).includes(shop.name));
  expect(await listed()).toEqual([shop.name]);
  const list = await ask<{ id: string }[]>(front, 'GET', '/v1/pipelines?limit=1000');
  expect([list.status, list.body.map(({ id }) => id).filter(isOurs)]).toEqual([200, [shop.name]]);
  expect(await ask(front, 'GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ok' } });
}

/** The tests share a server: lists only the workflows of this stack. */
async function listed(): Promise<string[]> {
  const { code, stdout } = await stack.conveyor(['list', 'pipelines', '-o', 'name', '-n', '1000']);
  expect(code).toBe(0);
  return stdout.trim().split('\n').filter(isOurs);
}

const isOurs = (name: string): boolean => name === shop.name || name.startsWith(`${shop.name}-`);

test('an apply that the workflow refuses leaves the list, the API and the readiness as they were', async () => {
  const actor = 'user:mallory';
  for (const [nth, input] of [{ spec: {}, actor }, { actor }, {}].entries())
    expect(await applyDirectly(`${shop.name}-refused-${nth}`, input)).toBeInstanceOf(Error);
  await expectAllWell();
});

test('a pipeline whose workflow cannot continue leaves them as they were', async () => {
  await stack.temporal.workflow.start('pipeline', {
    workflowId: `pipeline/${shop.name}-broken`,
    taskQueue: stack.taskQueue,
    args: [{ spec: 'none', active: 7 }],
  });
  await expectAllWell();
});

test('a pipeline may be applied in the place of one that was refused', async () => {
  const name = `${shop.name}-refused-0`;
  const file = stack.file(`${name}.yaml`, {
    pipeline: name,
    owners: [OWNER],
    actions: { approve: { type: 'manual-pick' } },
  });
  expect(await stack.conveyor(['apply', file])).toMatchObject({ code: 0 });
});
