import { randomBytes } from 'node:crypto';
import { pipelineSchema } from '../../domain/spec/pipeline';
import type { PipelineStatus } from '../../domain/views';
import { workflowIds } from '../../domain/ids';
import { createClient, type ConveyorClient } from '../../client';
import { OWNER, Stack } from './stack';

let stack: Stack;
let client: ConveyorClient;
beforeAll(async () => {
  stack = await Stack.open();
  client = await createClient({ address: stack.temporalAddress, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  await client.close();
  await stack.close();
});

/** One history of a workflow takes 2,000 updates; a merge train or a bot may send more within a minute. */
const COMMITS = 2_300;
const AT_ONCE = 8;

test('a pipeline takes thousands of submissions in a row, numbers each once, and keeps the newest in line', async () => {
  const name = `burst-${randomBytes(4).toString('hex')}`;
  await client.apply(pipelineOf(name), OWNER);
  const numbers: (number | null)[] = [];
  const bring = async (first: number): Promise<void> => {
    for (let n = first; n <= COMMITS; n += AT_ONCE) {
      const artifact = { name: 'source', kind: 'source', version: String(n), metadata: {} };
      const trigger = { kind: 'webhook', actor: 'service:ci', key: `delivery-${n}` } as const;
      numbers.push((await client.submit(name, [artifact], trigger)).number);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => bring(index + 1)));
  expect(new Set(numbers).size).toBe(COMMITS);
  const { active, lastRelease } = (await client.status(name)) as PipelineStatus;
  expect(lastRelease).toBe(COMMITS);
  expect(active).toContain(COMMITS);
  expect(active.length).toBeLessThanOrEqual(300);
  const { count } = await stack.temporal.workflow.count(`WorkflowId='${workflowIds.pipeline(name)}'`);
  expect(count).toBeGreaterThan(1);
});

/** Releases that wait for a person cost nothing meanwhile. */
const pipelineOf = (name: string) =>
  pipelineSchema.parse({
    pipeline: name,
    owners: [OWNER],
    artifacts: { source: { finder: 'commits', with: { repository: `acme/${name}`, branch: 'main' } } },
    actions: { approve: { type: 'manual-pick' } },
  });
