import { randomBytes } from 'node:crypto';
import { createClient, type ConveyorClient } from '../../client';
import { workflowIds } from '../../domain/ids';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { pipelineSchema } from '../../domain/spec/pipeline';
import { deployPipeline, ERRORS } from '../builders/deployPipeline';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
let client: ConveyorClient;
beforeAll(async () => {
  stack = await Stack.open({ config: { slots: { effects: 2, urgent: 1, looks: 2, scripts: 1 } } });
  const settings = { ...DEFAULT_SETTINGS, heartbeatTimeoutMs: 2_000, trackIntervalMs: 200, progressIntervalMs: 500 };
  client = await createClient({
    address: stack.temporalAddress,
    taskQueue: stack.taskQueue,
    platform: { groups: {}, settings },
  });
});
afterAll(async () => {
  await client.close();
  await stack.close();
});

const BAKES = 30;
const WITHIN_MS = 2_000;

/** Each is a separate service, whose first phase bakes for an hour while a script and a run continue just as long. */
const name = `slots-${randomBytes(3).toString('hex')}`;
const pipelineOf = (pipeline: string) => {
  const { actions, ...source } = deployPipeline(pipeline, {
    config: { jobs: [pipeline] },
    phases: [{ name: 'first', scope: '*', amount: 1, bake: '1h' }],
    healthInterval: '5s',
    healthChecks: [ERRORS],
  });
  const waits = {
    script: { type: 'custom-script', with: { command: ['sleep', '3600'] } },
    wait: { type: 'wait-for', with: { pipeline: `${name}-never` } },
  };
  return pipelineSchema.parse({ ...source, owners: [OWNER], actions: { ...waits, ...actions } });
};

async function bakes(pipeline: string): Promise<void> {
  const job = { name: pipeline, service: pipeline, region: 'x', tasks: 3, version: `${pipeline}:1`, nSmall: 3 };
  await stack.control('POST', '/control/jobs', { ...job, budget: '50%' });
  await client.apply(pipelineOf(pipeline), OWNER);
  const artifact = { name: 'executable', kind: 'executable', version: `${pipeline}:2`, metadata: {} };
  await client.release(pipeline, [artifact], { kind: 'manual', actor: OWNER, key: null });
}

test('deploys that bake on a worker with two slots for looks do not delay a revert of one of them', async () => {
  const names = Array.from({ length: BAKES }, (_, index) => `${name}-${index}`);
  for (const pipeline of names) await bakes(pipeline);
  const query = `WorkflowType='deploy' AND ConveyorState='baking' AND ConveyorPipeline STARTS_WITH '${name}'`;
  const isBaking = async () => (await stack.temporal.workflow.count(query)).count === BAKES;
  await eventually('all bake', isBaking, 120_000);
  const pipeline = `${name}-${BAKES - 1}`;
  const sentAt = Date.now();
  const deploy = workflowIds.deploy(pipeline, 1, 'deploy', 1);
  await client.command(`${pipeline}/1/deploy`, 'revert', { actor: OWNER, reason: 'a test says so' });
  await eventually('the revert is sent', async () =>
    (await stack.ledger()).some(({ key }) => key?.startsWith(`${deploy}/revert/1/execute`)),
  );
  expect(Date.now() - sentAt).toBeLessThan(WITHIN_MS);
  await eventually('it is reverted', async () => {
    const status = await client.status(`${pipeline}/1/deploy`);
    return status.kind === 'deploy' && status.outcome === 'reverted';
  });
});
