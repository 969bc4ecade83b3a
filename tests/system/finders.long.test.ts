import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScheduleOverlapPolicy, type WorkflowHandle } from '@temporalio/client';
import { freePorts } from '../../cli/stack/ports';
import { serverView, type PendingActivityView } from '../../client/live';
import { ensureSweeps } from '../../client/schedules';
import type { SweepReport, SweepSeen } from '../../domain/finder/sweepLifetime';
import { sweepId } from '../../domain/ids';
import type { FinderView, HistoryRow, PipelineStatus } from '../../domain/views';
import { startFront } from './front';
import { Night, READY } from './night';
import { Processes } from './process';
import { startTemporal } from './server';
import { OWNER, SPEED, Stack } from './stack';
import { eventually } from './waiting';

// This file has its own Temporal server: a Schedule belongs to a whole server, and sweeps every pipeline on it.
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-finders-'));
let stack: Stack;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home, port, data: 'memory' });
  stack = await Stack.open({
    temporal: `127.0.0.1:${port}`,
    settings: { sweepInterval: '1s', sweepJitter: '0s' },
  });
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** A pipeline that builds the versions found by its finder. */
async function given(finder: string, wanted: object): Promise<string> {
  const name = `find-${randomBytes(4).toString('hex')}`;
  const file = stack.file(`${name}.yaml`, {
    pipeline: name,
    owners: [OWNER],
    artifacts: { source: { finder, with: wanted } },
    actions: {
      build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: { target: `//${name}` } },
    },
  });
  await stack.json(['apply', file]);
  return name;
}

const commit = (repository: string, revision: string): Promise<unknown> =>
  stack.control('POST', '/control/commits', { repository, branch: 'main', revision });
const history = (pipeline: string): Promise<HistoryRow[]> => stack.client.history(pipeline);
/** Identities of the artifacts of each release of a pipeline, oldest first. */
const brought = async (pipeline: string): Promise<string[]> =>
  (await history(pipeline)).map(({ trigger }) => trigger.key ?? '').reverse();
const releases = (pipeline: string, count: number): Promise<string[]> =>
  eventually(`${pipeline} has ${count} releases`, async () => {
    const keys = await brought(pipeline);
    return keys.length >= count && keys;
  });

/** The newest workflow that the Schedule of a finder started. */
async function sweeping(finder: string): Promise<WorkflowHandle> {
  const { info } = await stack.temporal.schedule.getHandle(sweepId(finder)).describe();
  const { workflowId, firstExecutionRunId } = info.recentActions.at(-1)?.action.workflow ?? {};
  // Two that start within the same second have the same id.
  return stack.temporal.workflow.getHandle(workflowId ?? sweepId(finder), firstExecutionRunId);
}

const sweepOf = async (finder: string): Promise<PendingActivityView | undefined> =>
  (await serverView(await sweeping(finder))).pending[0];

/** Sweeps of a finder that began after this call and were answered, as they reported. */
async function nextSweeps(finder: string, count: number): Promise<SweepReport[]> {
  const [since, reports] = [Date.now(), new Map<number, SweepReport>()];
  await eventually(`${finder} was swept ${count} times`, async () => {
    const { report } = ((await sweepOf(finder))?.heartbeat ?? {}) as Partial<SweepSeen>;
    if (report && report.beganMs > since) reports.set(report.beganMs, report);
    return reports.size >= count;
  });
  return [...reports.values()];
}

const finderView = async (finder: string): Promise<FinderView | undefined> =>
  (await stack.client.listFinders()).find(({ id }) => id === finder);

describe('artifacts of a finder', () => {
  test('becomes a release, and one only, however often it is looked for', async () => {
    const repository = `repo-${randomBytes(4).toString('hex')}`;
    const name = await given('commits', { repository, branch: 'main' });
    await nextSweeps('commits', 1);
    expect(await brought(name)).toEqual([]);
    await commit(repository, 'r1');
    expect(await releases(name, 1)).toEqual(['commits:source@r1']);
    expect((await history(name))[0]?.trigger).toEqual({
      kind: 'finder',
      actor: 'service:commits',
      key: 'commits:source@r1',
    });
    await nextSweeps('commits', 3);
    await commit(repository, 'r2');
    expect(await releases(name, 2)).toEqual(['commits:source@r1', 'commits:source@r2']);
    await eventually('a sweep finds nothing new', async () => (await nextSweeps('commits', 1))[0]?.found === 0);
    expect(await brought(name)).toEqual(['commits:source@r1', 'commits:source@r2']);
  });

  test('in another pipeline becomes a release as soon as that has one that succeeded', async () => {
    const repository = `repo-${randomBytes(4).toString('hex')}`;
    const first = await given('commits', { repository, branch: 'main' });
    const second = await given('pipeline-output', { pipeline: first, artifact: 'executable' });
    await commit(repository, 'r1');
    const [key] = await releases(second, 1);
    expect(key).toBe(`pipeline-output:source@${first}:r1`);
    await nextSweeps('pipeline-output', 2);
    expect(await brought(second)).toHaveLength(1);
  });

  test('and could not be submitted is shown in the Web UI, and delays no other', async () => {
    const repository = `repo-${randomBytes(4).toString('hex')}`;
    const waiting = await given('pipeline-output', { pipeline: 'nobody', artifact: 'executable' });
    const name = await given('commits', { repository, branch: 'main' });
    await commit(repository, 'r1');
    await releases(name, 1);
    const [report] = await nextSweeps('pipeline-output', 1);
    expect(report?.said).toContain(`${waiting}, source: there is no pipeline nobody`);
  });
});

describe('the list of workflows', () => {
  test('has one row for a finder, however often it is asked', async () => {
    await nextSweeps('commits', 5);
    const listed = await stack.temporalCli(['workflow', 'list', '-o', 'json']);
    const ids = (JSON.parse(listed) as { execution: { workflowId: string } }[]).map((row) => row.execution.workflowId);
    const swept = ids.filter((id) => id.startsWith(sweepId('')));
    const finders = (await stack.client.listFinders()).map(({ id }) => id);
    for (const id of finders) expect(swept.filter((row) => row.startsWith(`${sweepId(id)}-`))).toHaveLength(1);
    expect(swept).toHaveLength(finders.length);
    const view = await finderView('commits');
    expect(view).toMatchObject({ state: 'answers', since: null, reason: null });
    const { events } = await (await sweeping('commits')).fetchHistory();
    expect(events?.length).toBeLessThan(10);
  });
});

describe('a finder that is dead', () => {
  test('is seen where people look, with since when, what it said and when it is asked next, until it answers', async () => {
    const name = await given('tagged-executables', { package: `p-${randomBytes(4).toString('hex')}`, tag: 'prod' });
    const finder = async (): Promise<FinderView | undefined> =>
      ((await stack.client.status(name)) as PipelineStatus).finders?.find(({ id }) => id === 'tagged-executables');
    await eventually('it answers', async () => (await finder())?.state === 'answers');
    const front = await startFront(stack);
    const night = new Night(stack, () => front);
    const failing = () => night.metric('conveyor_finder_failing{finder="tagged-executables"}');
    await eventually('the metric says that it answers', async () => (await failing()) === 0);
    const fault = { kind: 'http', service: 'tagged-executables', mode: 'error' };
    const { id } = await stack.control<{ id: string }>('POST', '/control/faults', fault);
    const dead = await eventually('it is seen to fail', async () => {
      const seen = await finder();
      return seen?.state === 'failing' && seen.nextAt !== null && seen;
    });
    expect(dead.reason).toMatch(/tagged-executables did not answer getArtifacts: 503/);
    expect(Date.parse(dead.since ?? '')).toBeGreaterThan(Date.parse(dead.answeredAt ?? ''));
    expect(await stack.json(['list', 'finders', '--state', 'failing', '-p', name])).toMatchObject([
      { id: 'tagged-executables', reason: dead.reason },
    ]);
    // Workers that look at each extension find the same.
    const beside = ['artifact-finder tagged-executables'];
    for (const { broken } of await night.bothName(['finder tagged-executables'], beside)) {
      expect(broken['finder tagged-executables']).toMatchObject({
        found: `since ${dead.since ?? ''}: ${dead.reason ?? ''}`,
        how: expect.stringMatching(/^start its service, .*nothing is lost meanwhile$/) as string,
      });
    }
    expect(await night.readyz()).toEqual(READY);
    const { code, shown } = await night.status(name);
    expect([code, shown]).toEqual([0, expect.stringMatching(/^Finders$[^]*tagged-executables did not answer/m)]);
    await eventually('the metric says that it fails', async () => (await failing()) === 1);
    await stack.control('DELETE', `/control/faults/${id}`);
    await eventually('it answers again', async () => (await finder())?.state === 'answers');
    await night.isWell();
  });
});

describe('a worker that is killed', () => {
  test('in the middle of a sweep loses nothing and doubles nothing', async () => {
    const repository = `repo-${randomBytes(4).toString('hex')}`;
    const names = await Promise.all([1, 2, 3].map(() => given('commits', { repository, branch: 'main' })));
    for (const revision of ['r1', 'r2']) {
      const slow = { kind: 'http', service: 'commits', mode: 'delay', count: 1, delayMs: 3_000 * SPEED };
      await stack.control('POST', '/control/faults', slow);
      await commit(repository, revision);
      await eventually('a sweep is under way', async () => (await sweepOf('commits'))?.stage === 'runs');
      await stack.crashWorker();
      for (const name of names) await releases(name, revision === 'r1' ? 1 : 2);
    }
    await nextSweeps('commits', 2);
    for (const name of names) expect(await brought(name)).toEqual(['commits:source@r1', 'commits:source@r2']);
  });
});

describe('the Schedules', () => {
  const plan = { intervalMs: 3_600_000, jitterMs: 0, taskQueue: 'nobody', heartbeatTimeoutMs: 1_000 };

  test('are made once by however many workers start at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => ensureSweeps(stack.temporal, ['one', 'two'], plan)));
    const { spec, action } = await stack.temporal.schedule.getHandle('sweep/one').describe();
    expect(spec.intervals?.[0]?.every).toBe(3_600_000);
    expect(action).toMatchObject({ workflowType: 'artifactSweep', taskQueue: 'nobody' });
  });

  test('whose workflow no worker takes up are known by when it began to wait', async () => {
    await ensureSweeps(stack.temporal, ['nobodys'], plan);
    const before = Date.now();
    await stack.temporal.schedule.getHandle(sweepId('nobodys')).trigger();
    const since = await eventually('its workflow waits', async () =>
      serverView(await sweeping('nobodys')).then(
        ({ untakenSinceMs }) => untakenSinceMs,
        () => null,
      ),
    );
    expect(since).toBeGreaterThanOrEqual(before - 1_000);
    expect(since).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  test('finders that a person pauses are not asked any more, and continue where they were', async () => {
    const handle = stack.temporal.schedule.getHandle(sweepId('config-changes'));
    const [before] = await nextSweeps('config-changes', 1);
    const running = await sweeping('config-changes');
    await handle.pause('maintenance');
    expect(await finderView('config-changes')).toMatchObject({ state: 'paused', reason: 'maintenance', nextAt: null });
    const { beganMs } = (await running.result()) as SweepReport;
    expect(beganMs).toBeGreaterThanOrEqual(before?.beganMs ?? 0);
    const answeredAt = new Date(beganMs).toISOString();
    expect(await finderView('config-changes')).toMatchObject({ state: 'paused', answeredAt });
    await handle.unpause();
    await nextSweeps('config-changes', 1);
    expect((await sweeping('config-changes')).workflowId).not.toBe(running.workflowId);
  });

  test('that are changed end what sweeps by the old order, though its next sweep were hours away', async () => {
    const served = { ...plan, taskQueue: stack.taskQueue, heartbeatTimeoutMs: 10_000 };
    const change = async (more: object): Promise<WorkflowHandle> => {
      const running = await sweeping('model-versions');
      await ensureSweeps(stack.temporal, ['model-versions'], { ...served, ...more });
      return running;
    };
    const first = await change({});
    await first.result();
    await change({ intervalMs: 1_000, heartbeatTimeoutMs: 2_000 });
    await nextSweeps('model-versions', 1);
    const slow = await change({ intervalMs: 3_000_000 });
    expect(await slow.result()).toMatchObject({ refused: 0 });
    const schedule = stack.temporal.schedule.getHandle(sweepId('model-versions'));
    const asked = (): Promise<WorkflowHandle> =>
      eventually('it was asked, and waits', async () => {
        const running = await sweeping('model-versions');
        return (await serverView(running)).pending[0]?.stage === 'waits' && running;
      });
    // The Schedule learns a moment later that its workflow ended, and would skip until then.
    await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
    const hourly = await asked();
    await schedule.trigger(ScheduleOverlapPolicy.CANCEL_OTHER);
    await hourly.result().catch(() => undefined);
    expect((await hourly.describe()).status.name).toBe('CANCELLED');
    await asked();
    const triggered = await change({ intervalMs: 1_000 });
    expect(await triggered.result()).toMatchObject({ refused: 0 });
    await nextSweeps('model-versions', 1);
  });

  test('finders of a task queue without workers are not waited for', async () => {
    await ensureSweeps(stack.temporal, ['model-versions'], { ...plan, intervalMs: 1_000 });
    const stuck = await eventually('a workflow waits for a worker', async () => {
      const running = await sweeping('model-versions');
      return (await running.describe()).taskQueue === 'nobody' && running;
    });
    await ensureSweeps(stack.temporal, ['model-versions'], { ...plan, intervalMs: 1_000, taskQueue: stack.taskQueue });
    await nextSweeps('model-versions', 1);
    expect((await stuck.describe()).status.name).toBe('TERMINATED');
  });

  test('follow the configuration, and stay paused when a person paused them', async () => {
    const handle = stack.temporal.schedule.getHandle('sweep/one');
    await handle.pause('maintenance');
    await ensureSweeps(stack.temporal, ['one'], { ...plan, intervalMs: 60_000, taskQueue: 'other' });
    const { spec, action, state } = await handle.describe();
    expect(spec.intervals?.[0]?.every).toBe(60_000);
    expect(action).toMatchObject({ taskQueue: 'other' });
    expect(state).toMatchObject({ paused: true, note: 'maintenance' });
  });
});
