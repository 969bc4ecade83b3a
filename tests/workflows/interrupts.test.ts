import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { beside, finishSignal, innerSignal, nested, outerSignal, reasonsQuery, settling } from './interruptions';
import { startServer } from './world';

/** Work of a workflow that a reason interrupts (workflows/interrupts.ts). */

let env: TestWorkflowEnvironment;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  env = await startServer();
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, 'interruptions.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  worker = await Worker.create({ connection: env.nativeConnection, taskQueue: 'interrupts', workflowBundle });
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await env.teardown();
});

/** The workflow at its first wait: a reason that came before would interrupt its work before it begins. */
async function start(workflow: typeof settling) {
  const handle = await env.client.workflow.start(workflow, { taskQueue: 'interrupts', workflowId: randomUUID() });
  await handle.query(reasonsQuery);
  return handle;
}

test('ends with the reason, although it is gone by the time that the work has ended', async () => {
  const handle = await start(settling);
  await handle.signal(outerSignal, 'halted');
  expect(await handle.query(reasonsQuery)).toMatchObject({ outer: 'halted' });
  await handle.signal(outerSignal, null);
  await handle.signal(finishSignal);
  expect(await handle.result()).toEqual({ kind: 'interrupted', reason: 'halted' });
});

test('ends by the outer reason first, after the clean-up of each scope, which nothing interrupts', async () => {
  const handle = await start(nested);
  await handle.signal(innerSignal, 'skipped');
  expect(await handle.query(reasonsQuery)).toMatchObject({ inner: 'skipped' });
  await handle.signal(outerSignal, 'stopped');
  await handle.signal(finishSignal);
  const { end, told } = (await handle.result()) as { end: object; told: string[] };
  expect(end).toEqual({ kind: 'interrupted', reason: 'stopped' });
  expect(told).toEqual(['inner cleaned', 'outer cleaned']);
});

test.each([
  ['its end', finishSignal, [], { kind: 'done', value: true }],
  ['its interruption', outerSignal, ['stopped'], { kind: 'interrupted', reason: 'stopped' }],
] as const)('ends the work beside it with %s', async (_, signal, args, end) => {
  const handle = await start(beside);
  await handle.signal(innerSignal, 'go');
  expect(await handle.query(reasonsQuery)).toMatchObject({ inner: 'go' });
  await handle.signal<unknown[]>(signal.name, ...args);
  expect(await handle.result()).toEqual({ end, told: ['beside'] });
});
