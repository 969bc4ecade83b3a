import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createClient, type ConveyorClient } from '../client';
import { createPipelineIndex } from '../client/pipelineIndex';
import { planShards } from '../domain/children/shards';
import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema, type PipelineSource } from '../domain/spec/pipeline';
import type { ChildrenView, HistoryRow } from '../domain/views';
import { each, print, run, seconds, startStack, type Ready } from './stack';

/**
 * `npx jiti bench/fan-out.ts [children] [maxConcurrent]`: a parent release and its children, each with one build, on
 * its own development stack; then the same fan-out with Temporal alone, on the same server.
 */
const CHILDREN = Number(process.argv[2] ?? 3_000);
const MAX_CONCURRENT = Number(process.argv[3] ?? 100);
const OWNER = 'user:bench';
const PARENT = 'inference';
const LABELS = { parent: PARENT };
const NAMES = Array.from({ length: CHILDREN }, (_, index) => `model-${index + 1}`);
/** Builds of the simulator take about ten milliseconds at this speed. */
const SPEED = 240;

async function main(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const { stack, ready } = await startStack(SPEED);
  try {
    const connection = await Connection.connect({ address: ready.temporal });
    const temporal = new Client({ connection });
    const client = await createClient({
      address: ready.temporal,
      taskQueue: ready.taskQueue,
      platform: { groups: {}, settings: DEFAULT_SETTINGS },
    });
    await applyAll(client, temporal);
    const ours = await conveyor(client, temporal);
    const bareMs = await bare(ready, temporal);
    const ratio = (ours.ms / bareMs).toFixed(1);
    print([
      ['children, at once', `${CHILDREN}, ${MAX_CONCURRENT}`],
      ['Conveyor', `${seconds(ours.ms)}, ${perSecond(ours.ms)} children a second`],
      ['Temporal alone', `${seconds(bareMs)}, ${perSecond(bareMs)} children a second`],
      ['ratio', ratio],
      ['most at once', String(ours.peak)],
      ['lost / started twice', `${ours.lost} / ${ours.twice}`],
      ['events of the root', String(ours.rootEvents)],
      ['events of a shard, most in one run', `${ours.shardEvents} (${ours.shards} shards, ${ours.shardRuns} runs)`],
    ]);
    await client.close();
    await connection.close();
  } finally {
    stack.kill('SIGTERM');
  }
}

async function applyAll(client: ConveyorClient, temporal: Client): Promise<void> {
  const source: PipelineSource = {
    pipeline: PARENT,
    owners: [OWNER],
    artifacts: { executable: { finder: 'manual' } },
    actions: { build: { type: 'build', inputs: ['executable'], outputs: ['image'] } },
  };
  const apply = (more: Partial<PipelineSource>) => client.apply(pipelineSchema.parse({ ...source, ...more }), OWNER);
  const from = Date.now();
  await each(NAMES, 20, (pipeline) => apply({ pipeline, labels: LABELS }));
  await apply({
    children: { pipelines: { label: LABELS }, artifacts: ['executable'], maxConcurrent: MAX_CONCURRENT },
  });
  const index = createPipelineIndex(temporal);
  for (let known = 0; known < CHILDREN;) {
    known = 0;
    for await (const _ of index.labelled(LABELS)) known += 1;
  }
  process.stderr.write(`applied ${CHILDREN} pipelines in ${seconds(Date.now() - from)}\n`);
}

interface Measured {
  readonly ms: number;
  readonly peak: number;
  readonly lost: number;
  readonly twice: number;
  readonly rootEvents: number;
  readonly shards: number;
  readonly shardRuns: number;
  readonly shardEvents: number;
}

async function conveyor(client: ConveyorClient, temporal: Client): Promise<Measured> {
  const artifact = { name: 'executable', kind: 'executable', version: '1', metadata: {} };
  const from = Date.now();
  await client.release(PARENT, [artifact], { kind: 'manual', actor: OWNER, key: null });
  const root = workflowIds.children(PARENT, 1);
  const view = await ended(temporal, root);
  const ms = Date.now() - from;
  process.stderr.write(`${view.state}: ${view.succeeded} of ${view.total} succeeded\n`);
  const histories = await each(NAMES, 20, (name) => client.history(name));
  const { historyLength: rootEvents } = await temporal.workflow.getHandle(root).describe();
  const runs: { readonly id: string; readonly events: number }[] = [];
  for await (const { workflowId, historyLength } of temporal.workflow.list({ query: `WorkflowType = 'fanOutShard'` }))
    runs.push({ id: workflowId, events: historyLength });
  return {
    ms,
    peak: peakOf(histories.flat()),
    lost: histories.filter((rows) => !rows.some(({ state }) => state === 'succeeded')).length,
    twice: histories.filter((rows) => rows.length > 1).length,
    rootEvents,
    shards: new Set(runs.map(({ id }) => id)).size,
    shardRuns: runs.length,
    shardEvents: Math.max(...runs.map(({ events }) => events)),
  };
}

async function ended(temporal: Client, root: string): Promise<ChildrenView> {
  for (;;) {
    await delay(500);
    const view = await temporal.workflow
      .getHandle(root)
      .query<ChildrenView>('status')
      .catch(() => undefined);
    if (view && ['succeeded', 'failed', 'cancelled'].includes(view.state)) return view;
  }
}

async function bare(ready: Ready, temporal: Client): Promise<number> {
  const taskQueue = 'bare';
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address: ready.temporal }),
    taskQueue,
    workflowsPath: join(__dirname, 'fan-out/bare.ts'),
    activities: { nothing: () => Promise.resolve() },
    maxConcurrentWorkflowTaskExecutions: 120,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  });
  const shards = planShards(NAMES, MAX_CONCURRENT);
  const args = ['bare', shards.map(({ names }) => names.length), shards[0]?.share ?? 1];
  return worker.runUntil(async () => {
    const from = Date.now();
    await temporal.workflow.execute('bareRoot', { workflowId: 'bare', taskQueue, args });
    return Date.now() - from;
  });
}

/** The most releases that ran at the same time. */
function peakOf(rows: readonly HistoryRow[]): number {
  const changes = rows
    .flatMap(({ startedAt, endedAt }) => [[startedAt, 1] as const, [endedAt ?? startedAt, -1] as const])
    .sort(([a, up], [b, other]) => (a < b ? -1 : a > b ? 1 : up - other));
  let [now, peak] = [0, 0];
  for (const [, change] of changes) peak = Math.max(peak, (now += change));
  return peak;
}

const perSecond = (ms: number): string => ((CHILDREN * 1000) / ms).toFixed(1);
run(main);
