import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workflowIds } from '../../domain/ids';
import type { HistoryRow, ReleaseStatus } from '../../domain/views';
import { Family } from './family';
import { Processes } from './process';
import { startTemporalWithShortHistories } from './server';
import { OWNER, Stack } from './stack';

/** The most releases that ran at the same time. */
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
  });

  test('that have not begun when an owner cancels never begin', async () => {
    // Enough children that the last has not begun when the cancel arrives, even on a slow machine.
    const family = new Family(stack, 40);
    await family.settle({ maxConcurrent: 2 });
    await family.release('2');
    await family.reaches('begin to end', ({ succeeded }) => succeeded > 0);
    const cancel = await stack.conveyor(['cancel', `${family.parent}/1`, '--reason', 'wrong executable']);
    expect(cancel).toMatchObject({ code: 0 });
    const { state, succeeded, notStarted } = await family.ended();
    expect([state, succeeded + notStarted]).toEqual(['cancelled', 40]);
    expect(notStarted).toBeGreaterThan(0);
    const status = await stack.json<ReleaseStatus>(['status', `${family.parent}/1`]);
    expect(status.state).toBe('succeeded');
    expect(status.children).toMatchObject({ state: 'cancelled', reason: `cancelled by ${OWNER}: wrong executable` });
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
});
