import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { activityInfo } from '@temporalio/activity';

/** The two calls of an action service's run. */
export async function runTwoCalls(url: string, action: string): Promise<void> {
  const runId = `${activityInfo().workflowExecution?.workflowId}/${action}`;
  const call = async (method: string): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': runId };
    const context = { pipeline: 'bare', release: 1, deployId: runId, actor: 'user:bench', config: {} };
    const asked = { runId, pipeline: 'bare', release: 1, action, attempt: 1, inputs: [], with: {}, context };
    const body = JSON.stringify(asked);
    const answer = await fetch(`${url}/${method}`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`${method}: ${answer.status} ${await answer.text()}`);
    await answer.json();
  };
  await call('startRun');
  await call('getRunProgress');
}

export async function ask(url: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST' });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  await answer.json();
}

/** `worker.ts ADDRESS`: a worker in its own process, with as many slots as ours; sends `ready`, and ends with its parent process. */
async function main(address: string): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const common = {
    connection,
    activities: { ask, runTwoCalls },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  } as const;
  const worker = await Worker.create({
    ...common,
    taskQueue: 'bare',
    workflowsPath: join(__dirname, 'bare.ts'),
    maxConcurrentWorkflowTaskExecutions: 120,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
  });
  const beside = await Worker.create({ ...common, taskQueue: 'bare-looks' });
  process.once('disconnect', () => process.exit());
  process.send?.('ready');
  await Promise.all([worker.run(), beside.run()]);
}

const [, , address] = process.argv;
if (address !== undefined && process.argv[1]?.includes('overhead')) void main(address);
