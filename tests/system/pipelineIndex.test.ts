import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createPipelineIndex } from '../../client/pipelineIndex';
import { workflowIds } from '../../domain/ids';
import type { PipelineSubscriptions, SubscriptionsMemo } from '../../domain/pipeline/pipelineIndex';
import { tagPairs, type Tags } from '../../workflows/tags';
import { eventually } from './waiting';

// No worker polls this queue: lookups return the values with which the workflows were started.
const taskQueue = `index-${randomUUID()}`;
const own = randomUUID().slice(0, 8);
let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['CONVEYOR_TEST_TEMPORAL'] ?? '' });
  client = new Client({ connection });
});
afterAll(async () => {
  for await (const { workflowId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` }))
    await client.workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
  await connection.close();
});

async function given(name: string, tags: Tags, subscriptions?: SubscriptionsMemo): Promise<string> {
  await client.workflow.start('pipeline', {
    workflowId: workflowIds.pipeline(name),
    taskQueue,
    args: [null],
    typedSearchAttributes: tagPairs(tags),
    ...(subscriptions ? { memo: { subscriptions } } : {}),
  });
  return name;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('subscriptions of a finder', () => {
  const finder = `commits-${own}`;
  const look = (): Promise<PipelineSubscriptions[]> => all(createPipelineIndex(client).subscriptions(finder));

  test('are those of every running pipeline that has an artifact from it', async () => {
    const memo = (of: string): SubscriptionsMemo => ({
      atMs: 17,
      artifacts: {
        source: { finder: of, with: { repository: 'web', branch: "it's" } },
        model: { finder: 'other', with: {} },
      },
    });
    await given(`a-${own}`, { ConveyorFinders: [finder, 'other'] }, memo(finder));
    await given(`b-${own}`, { ConveyorFinders: ['other'] }, memo('other'));
    await given(`c-${own}`, { ConveyorFinders: [finder] });
    const gone = await given(`d-${own}`, { ConveyorFinders: [finder] }, memo(finder));
    await client.workflow.getHandle(workflowIds.pipeline(gone)).terminate();
    const [found, ...others] = await eventually('the listing has caught up', async () => {
      const seen = await look();
      return seen.length === 1 && seen;
    });
    expect(others).toEqual([]);
    expect(found).toEqual({
      pipeline: `a-${own}`,
      subscribedAtMs: expect.any(Number),
      subscriptions: [{ artifact: 'source', with: { repository: 'web', branch: "it's" } }],
    });
  });

  test('count from when the pipeline continued in a new history, since it may have been missing in a listing then', async () => {
    const [found] = await look();
    expect(Math.abs((found?.subscribedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
  });
});

describe('pipelines with labels', () => {
  const look = (labels: Readonly<Record<string, string>>): Promise<string[]> =>
    all(createPipelineIndex(client).labelled(labels));

  test('are those that carry all of them, whatever is in the labels', async () => {
    const tier = `${own}'s "own" \\ tier`;
    await given(`e-${own}`, { ConveyorLabels: [`tier=${tier}`, 'team=storage'] });
    await given(`f-${own}`, { ConveyorLabels: [`tier=${tier}`, 'team=web'] });
    await eventually('the listing has caught up', async () => (await look({ tier })).length === 2);
    expect(await look({ tier, team: 'storage' })).toEqual([`e-${own}`]);
    expect(await look({ tier, team: "x' OR WorkflowType = 'pipeline" })).toEqual([]);
  });

  test('are none when no label is named', async () => {
    expect(await look({})).toEqual([]);
  });
});
