import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type ConveyorClient } from '../../client';
import { createPipelineIndex } from '../../client/pipelineIndex';
import { workflowIds } from '../../domain/ids';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { ChildrenView, HistoryRow } from '../../domain/views';
import { Processes } from './process';
import { startTemporalWithShortHistories } from './server';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

type Children = NonNullable<PipelineSource['children']>;

const PATIENT_MS = 80_000;
/** As impatient as the configuration of the other system tests. */
const SETTINGS = { ...DEFAULT_SETTINGS, heartbeatTimeoutMs: 2_000, progressIntervalMs: 200 };

/** A parent and its children: each takes the executable and builds an image of it. */
class Family {
  readonly parent = `inference-${randomBytes(4).toString('hex')}`;
  readonly children: readonly string[];

  constructor(
    readonly stack: Stack,
    size: number,
  ) {
    this.children = Array.from({ length: size }, (_, index) => `${this.parent}-model-${index + 1}`);
  }

  /** Applies all of them, as a client of Conveyor does, and waits until visibility knows the children. */
  async settle(children: Partial<Children>): Promise<void> {
    const labels = { parent: this.parent };
    const { temporalAddress: address, taskQueue } = this.stack;
    const client = await createClient({ address, taskQueue, platform: { groups: {}, settings: SETTINGS } });
    await each(this.children, (name) => apply(client, { ...BUILDS, pipeline: name, labels }));
    await apply(client, {
      ...BUILDS,
      pipeline: this.parent,
      children: { pipelines: { label: labels }, artifacts: ['executable'], ...children },
    });
    await client.close();
    const index = createPipelineIndex(this.stack.temporal);
    await eventually('visibility lists every child', async () => {
      let known = 0;
      for await (const _ of index.labelled(labels)) known += 1;
      return known === this.children.length;
    });
  }

  async release(version: string): Promise<void> {
    const artifact = { name: 'executable', kind: 'executable', version, metadata: {} };
    await this.stack.client.release(this.parent, [artifact], { kind: 'manual', actor: OWNER, key: null });
  }

  view(): Promise<ChildrenView> {
    return this.stack.temporal.workflow.getHandle(this.fanOut).query('status');
  }

  get fanOut(): string {
    return workflowIds.children(this.parent, 1);
  }

  async reaches(what: string, holds: (view: ChildrenView) => boolean): Promise<ChildrenView> {
    const look = async () => {
      const view = await this.view();
      return holds(view) && view;
    };
    return eventually(`the children of ${this.parent} ${what}`, look, PATIENT_MS);
  }

  ended(): Promise<ChildrenView> {
    return this.reaches('ended', ({ state }) => state === 'succeeded' || state === 'failed' || state === 'cancelled');
  }

  /** The releases of every child, as its own pipeline has them. */
  histories(): Promise<HistoryRow[][]> {
    return each(this.children, (name) => this.stack.client.history(name));
  }
}

const apply = (client: ConveyorClient, source: PipelineSource): Promise<unknown> =>
  client.apply(pipelineSchema.parse(source), OWNER);

const BUILDS = {
  owners: [OWNER],
  artifacts: { executable: { finder: 'manual' } },
  actions: { build: { type: 'build', inputs: ['executable'], outputs: ['image'] } },
} satisfies Partial<PipelineSource>;

/** Twenty at a time: a Temporal server on two cores takes no more. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += 20)
    done.push(...(await Promise.all(items.slice(at, at + 20).map((item) => work(item)))));
  return done;
}

/** The most releases that were under way at the same time. */
function peakOf(rows: readonly HistoryRow[]): number {
  const at = (time: string) => rows.filter((row) => row.startedAt <= time && time < (row.endedAt ?? '9')).length;
  return Math.max(...rows.map(({ startedAt }) => at(startedAt)));
}

describe('the children of a release', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await Stack.open();
  });
  afterAll(() => stack.close());

  test('300 get exactly one release each, so many at a time, though a worker is killed meanwhile', async () => {
    const family = new Family(stack, 300);
    await family.settle({ maxConcurrent: 60, jitter: '2s' });
    await family.release('2');
    await family.reaches('begin to end', ({ succeeded }) => succeeded > 50);
    await stack.crashWorker();
    expect(await family.ended()).toMatchObject({ state: 'succeeded', total: 300, succeeded: 300, failures: [] });
    const histories = await family.histories();
    expect(histories.map((rows) => rows.map(({ number, state }) => [number, state]))).toEqual(
      family.children.map(() => [[1, 'succeeded']]),
    );
    for (const row of histories.flat())
      expect(row.trigger).toMatchObject({ kind: 'parent', parent: `${family.parent}/1` });
    expect(peakOf(histories.flat())).toBeLessThanOrEqual(60);
    expect(await stack.client.history(family.parent)).toMatchObject([{ number: 1, state: 'succeeded' }]);
  }, 150_000);

  test('that have not begun when an owner cancels never begin', async () => {
    const family = new Family(stack, 12);
    await family.settle({ maxConcurrent: 2 });
    await family.release('2');
    await family.reaches('begin to end', ({ succeeded }) => succeeded > 0);
    await stack.temporal.workflow
      .getHandle(family.fanOut)
      .executeUpdate('cancel', { args: [{ actor: OWNER, reason: 'a test' }] });
    const { state, succeeded, notStarted } = await family.ended();
    expect([state, succeeded + notStarted]).toEqual(['cancelled', 12]);
    expect(notStarted).toBeGreaterThan(0);
    expect((await family.histories()).filter((rows) => rows.length > 0)).toHaveLength(succeeded);
  });
});

test('nothing is lost or started twice where histories are short, so that shards continue as new all the time', async () => {
  const processes = new Processes();
  const home = mkdtempSync(join(tmpdir(), 'conveyor-fan-out-'));
  const stack = await Stack.open({ temporal: await startTemporalWithShortHistories(processes, home) });
  try {
    const family = new Family(stack, 30);
    await family.settle({ maxConcurrent: 5 });
    await family.release('2');
    expect(await family.ended()).toMatchObject({ state: 'succeeded', succeeded: 30 });
    const states = (await family.histories()).map((rows) => rows.map(({ state }) => state));
    expect(states).toEqual(family.children.map(() => ['succeeded']));
    const shard = stack.temporal.workflow.getHandle(workflowIds.childrenShard(family.parent, 1, 0));
    const { events } = await shard.fetchHistory();
    expect(events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).toBeTruthy();
  } finally {
    await stack.close();
    await processes.reap();
    rmSync(home, { recursive: true, force: true });
  }
}, 120_000);
