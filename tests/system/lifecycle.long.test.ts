import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workflowIds } from '../../domain/ids';
import type { PipelineState } from '../../domain/pipeline/state';
import type { DeploySummary, PipelineSummary, ReleaseSummary } from '../../domain/views';
import { tagPairs } from '../../workflows/tags';
import { Family } from './family';
import { startFront } from './front';
import { Processes } from './process';
import { startTemporalWithShortHistories } from './server';
import { given, type Given, PATIENT, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-lifecycle-'));
let stack: Stack;
beforeAll(async () => {
  const temporal = await startTemporalWithShortHistories(processes, home);
  stack = await Stack.open({ temporal, settings: { reconcileInterval: '1s', waitInterval: '500ms' } });
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

const QUICK: Given = { deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] } };
/** Not an owner. */
const BOB = { CONVEYOR_ACTOR: 'user:bob' };
const workflow = (id: string) => stack.temporal.workflow.getHandle(id);
const stateOf = (shop: Service) => workflow(workflowIds.pipeline(shop.name)).query<PipelineState>('pipeline');
const terminate = (id: string) =>
  stack.temporalCli(['workflow', 'terminate', '--workflow-id', id, '--reason', 'out of the way']);
/** The id of the run that the request reached; a run that ends in between is not reached. */
const cancelLatest = (id: string) =>
  eventually(`${id} is asked to cancel`, async () => {
    const { runId } = await workflow(id).describe();
    await stack.temporal.workflow.getHandle(id, runId).cancel();
    return runId;
  });
const isGone = (id: string) =>
  eventually(`${id} is gone`, async () => {
    const described = await workflow(id)
      .describe()
      .catch(() => undefined);
    return described === undefined;
  });

describe('a pipeline', () => {
  test('outlives a batch cancel of all that is its own, and every history that follows', async () => {
    const shop = await given(stack, PATIENT);
    await shop.ships(2);
    await shop.isIn(1, 'baking');
    const all = `ConveyorPipeline = '${shop.name}' AND ExecutionStatus = 'Running'`;
    await eventually('visibility knows all of it', async () => (await stack.temporal.workflow.count(all)).count === 3);
    await stack.temporalCli(['workflow', 'cancel', '--query', all, '--yes', '--reason', 'clean up']);
    expect(await shop.ended(1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
    const id = workflowIds.pipeline(shop.name);
    // Temporal passes on one request to each history, however many arrived.
    const cancelled = new Set<string>();
    for (let n = 3; n < 8; n += 1) {
      await shop.ships(n);
      await shop.isIn(n - 1, 'baking');
      cancelled.add(await cancelLatest(id));
      expect(await stack.conveyor(['cancel', `${shop.name}/${n - 1}`, '--reason', 'next'])).toMatchObject({ code: 0 });
      await shop.ended(n - 1);
    }
    expect(cancelled.size).toBeGreaterThan(1);
    expect((await workflow(id).describe()).status.name).toBe('RUNNING');
    const ignored = (await stateOf(shop)).commands.filter(({ verb }) => verb === 'cancel');
    expect(ignored.length).toBeGreaterThanOrEqual(cancelled.size);
    expect(ignored[0]).toMatchObject({ actor: 'service:temporal', accepted: false });
  });

  test('a retired pipeline shows which release has replaced it since, although it was not notified', async () => {
    const shop = await given(stack, QUICK);
    await shop.ships(2);
    await shop.ended(1);
    await stack.json(['retire', shop.name, '--reason', 'part of another']);
    const id = workflowIds.pipeline(shop.name);
    await eventually('it has ended', async () => (await workflow(id).describe()).status.name === 'COMPLETED');
    const other = await given(stack, { ...QUICK, jobsOf: shop });
    await other.ships(3);
    await other.ended(1);
    const replaced = { by: `${other.name}/1`, version: other.version(3) };
    await eventually('visibility knows what runs', async () => {
      const status = await stack.client.status(shop.name);
      return status.kind === 'pipeline' && status.lastGood['deploy']?.replaced !== undefined;
    });
    expect(await stack.client.status(shop.name)).toMatchObject({
      lastGood: { deploy: { release: 1, version: shop.version(2), replaced } },
    });
    expect(await stack.client.history(shop.name)).toMatchObject([{ number: 1, replacedBy: replaced.by }]);
    expect(await stack.client.status(`${shop.name}/1`)).toMatchObject({ replacedBy: replaced.by });
    expect((await stack.conveyor(['history', shop.name])).stdout).toContain(`✔ succeeded, replaced by ${other.name}/1`);
  });

  test('that was terminated continues with its numbers, its records and what runs, once it is applied again', async () => {
    const shop = await given(stack, QUICK);
    await shop.ships(2);
    await shop.ended(1);
    await stack.json(['hold', shop.name, '--reason', 'audit']);
    await terminate(workflowIds.pipeline(shop.name));
    expect(await stack.conveyor(['apply', shop.file], BOB)).toMatchObject({ code: 4 });
    const [applied] = await stack.json<{ result: string; continued: object }[]>(['apply', shop.file]);
    expect(applied).toMatchObject({ result: 'unchanged', continued: { after: 1, books: true } });
    expect(await stack.client.status(shop.name)).toMatchObject({ state: 'held', lastRelease: 1 });
    await stack.json(['unhold', shop.name, '--reason', 'done']);
    expect(await shop.ships(3)).toBe(`${shop.name}/2`);
    await shop.ended(2);
    expect(await stack.client.history(shop.name)).toMatchObject([{ number: 2 }, { number: 1, state: 'succeeded' }]);
  });

  test('a workflow that ended while no worker answers is not taken for lost', async () => {
    const shop = await given(stack, QUICK);
    await shop.ships(2);
    await shop.ended(1);
    await stack.killWorker();
    await terminate(workflowIds.pipeline(shop.name));
    // A workflow that continued as new at that moment shows it in its input: an apply begins with that, and waits for a worker.
    const { events } = await workflow(workflowIds.pipeline(shop.name)).fetchHistory();
    const isWorkedOn = events?.some((event) => event.workflowTaskCompletedEventAttributes);
    const unanswered = { code: 1, stderr: expect.stringContaining('no-worker') as string };
    const asked = [stack.conveyor(['apply', shop.file]), stack.conveyor(['pipeline', 'export', shop.name])];
    for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ ...unanswered, stdout: '' });
    await stack.startWorker();
    const document = await stack.json<object>(['pipeline', 'export', shop.name]);
    expect(document).toMatchObject({ nextNumber: 2, history: [{ number: 1 }] });
    const [applied] = await stack.json<object[]>(['apply', shop.file]);
    expect(applied).toMatchObject(isWorkedOn ? { continued: { after: 1, books: true } } : { result: 'unchanged' });
  });

  test('that is retired takes nothing more once nothing of it runs, and continues with its numbers when it is applied again', async () => {
    const shop = await given(stack, PATIENT);
    await shop.ships(2);
    await shop.isIn(1, 'baking');
    const retire = ['retire', shop.name, '--reason', 'part of another'];
    const early = await stack.conveyor(retire);
    expect(early.code).toBe(1);
    expect(early.stderr).toContain('release 1 has not ended: wait for it, or cancel it');
    await stack.conveyor(['cancel', `${shop.name}/1`, '--reason', 'next']);
    await shop.ended(1);
    expect(await stack.conveyor(retire)).toMatchObject({ code: 0 });
    await eventually('its workflow has ended', async () => {
      const { status } = await workflow(workflowIds.pipeline(shop.name)).describe();
      return status.name === 'COMPLETED';
    });
    const shown = await stack.conveyor(['status', shop.name]);
    expect(shown.stdout).toMatch(
      /Status: +retired[^]*Retired: +by user:alice .*: part of another; conveyor apply brings it back/,
    );
    expect((await stack.conveyor(['release', shop.name, '-a', `executable=${shop.version(3)}`])).code).not.toBe(0);
    const [applied] = await stack.json<object[]>(['apply', shop.file]);
    expect(applied).toMatchObject({ continued: { after: 1, books: true } });
    expect(await shop.ships(3)).toBe(`${shop.name}/2`);
  });

  test('that Temporal has forgotten continues after the last release that it still knows', async () => {
    const shop = await given(stack, PATIENT);
    await shop.ships(2);
    await shop.isIn(1, 'baking');
    const id = workflowIds.pipeline(shop.name);
    await terminate(id);
    await stack.temporalCli(['workflow', 'delete', '--workflow-id', id, '--yes']);
    await isGone(id);
    expect(await stack.conveyor(['apply', shop.file], BOB)).toMatchObject({ code: 4 });
    const [applied] = await stack.json<object[]>(['apply', shop.file]);
    expect(applied).toMatchObject({ result: 'created', continued: { after: 1, books: false } });
    expect(await stack.client.status(shop.name)).toMatchObject({ active: [1], lastRelease: 1 });
    expect(await stack.conveyor(['cancel', `${shop.name}/1`, '--reason', 'next'])).toMatchObject({ code: 0 });
    await shop.ended(1);
    expect(await shop.ships(3)).toBe(`${shop.name}/2`);
  });

  test('that was lost with Temporal is put back by what was exported, unless it has come further', async () => {
    const shop = await given(stack, QUICK);
    await shop.ships(2);
    await shop.ended(1);
    const file = join(home, `${shop.name}.json`);
    expect(await stack.conveyor(['pipeline', 'export', shop.name, '-o', file])).toMatchObject({ code: 0 });
    const document = JSON.parse(readFileSync(file, 'utf8')) as { nextNumber: number; knownBad: object[] };
    expect(document).toMatchObject({ kind: 'conveyor.pipeline', version: 1, nextNumber: 2, history: [{ number: 1 }] });
    for (const lost of [workflowIds.pipeline(shop.name), workflowIds.release(shop.name, 1)]) {
      await terminate(lost).catch(() => undefined);
      await stack.temporalCli(['workflow', 'delete', '--workflow-id', lost, '--yes']);
      await isGone(lost);
    }
    const bad = [{ artifact: `executable@${shop.version(9)}`, at: '2026-01-02T03:04:05.000Z', reason: 'it was' }];
    writeFileSync(file, JSON.stringify({ ...document, nextNumber: 40, knownBad: bad }));
    expect(await stack.json(['pipeline', 'import', file])).toMatchObject({ result: 'created', nextRelease: 40 });
    expect(await shop.ships(3)).toBe(`${shop.name}/40`);
    const refused = await stack.conveyor(['release', shop.name, '-a', `executable=${shop.version(9)}`]);
    expect(refused.stderr).toContain('known-bad');
    const behind = await stack.conveyor(['pipeline', 'import', file]);
    expect(behind.code).not.toBe(0);
    expect(behind.stderr).toContain('its next release is 41, and that of the file 40');
    writeFileSync(file, JSON.stringify({ ...document, nextNumber: 'many' }));
    const broken = await stack.conveyor(['pipeline', 'import', file]);
    expect(broken).toMatchObject({ code: 2 });
    expect(broken.stderr).toContain('nextNumber');
    expect(await stack.conveyor(['pipeline', 'import', file], BOB)).toMatchObject({ code: 2 });
    writeFileSync(file, JSON.stringify({ ...document, nextNumber: 99 }));
    expect(await stack.conveyor(['pipeline', 'import', file], BOB)).toMatchObject({ code: 4 });
  });

  test('that 0.2.0 exported continues with its numbers, its good and bad versions, and its freeze', async () => {
    const shop = await given(stack, { ...QUICK, name: 'carried' });
    const file = join(__dirname, '..', 'fixtures', 'documents', 'pipeline-0.2.0.json');
    expect(await stack.json(['pipeline', 'import', file])).toMatchObject({ nextRelease: 5 });
    const frozen = { reason: 'imported: the holidays' };
    expect(await stack.client.status(shop.name)).toMatchObject({ lastRelease: 4, frozen });
    expect(await stack.conveyor(['history', shop.name])).toMatchObject({ code: 0 });
    await stack.json(['unfreeze', shop.name, '--reason', 'they are over']);
    const bad = await stack.conveyor(['release', shop.name, '-a', `executable=${shop.version(3)}`]);
    expect(bad.stderr).toContain('known-bad');
    expect(await shop.ships(5)).toBe(`${shop.name}/5`);
    await shop.ended(5);
    await stack.json(['revert', `${shop.name}/5`, '--reason', 'it is slow']);
    await shop.ended(6);
    expect(await shop.deploy(6)).toMatchObject({ outcome: 'succeeded', version: shop.version(4) });
  });
});

describe('a release that is terminated', () => {
  test('a terminated release has ended for every reader, with the reason, and at once for its pipeline', async () => {
    const shop = await given(stack, PATIENT);
    await shop.ships(2);
    await shop.isIn(1, 'baking');
    const id = `${shop.name}/1`;
    const watching = stack.start(['watch', id]);
    await watching.said(/baking|bake/);
    await terminate(workflowIds.release(shop.name, 1));
    expect(await watching.ended).toMatchObject({ code: 3 });
    const status = await shop.release(1);
    expect(status).toMatchObject({ state: 'failed', endedAt: expect.any(String) });
    expect(status.timeline.at(-1)?.text).toBe('the release was terminated through Temporal: out of the way');
    const cancel = await stack.conveyor(['cancel', id, '--reason', 'gone']);
    expect(cancel.code).not.toBe(0);
    expect(cancel.stderr).toContain('the release was terminated through Temporal: out of the way');
    await eventually('list says so', async () => {
      const [row] = await stack.json<ReleaseSummary[]>(['list', 'releases', '-p', shop.name]);
      return row?.state === 'failed' && row.endedAt !== null;
    });
    await shop.ended(1);
    expect(await shop.deploy(1)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
  });
});

test('a deploy that is terminated fails its release, which says so', async () => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await terminate(shop.deployWorkflow(1));
  const { state, actions } = await shop.ended(1);
  expect(state).toBe('failed');
  expect(actions).toMatchObject([
    { name: 'deploy', message: 'terminated through Temporal: tasks that it has updated stay as they are' },
  ]);
});

describe('a workflow that does not answer', () => {
  const silent = async (name: string): Promise<void> => {
    const shop = await given(stack, { ...QUICK, name });
    const state = await stateOf(shop);
    await terminate(workflowIds.pipeline(name));
    await stack.temporal.workflow.start('pipeline', {
      workflowId: workflowIds.pipeline(name),
      taskQueue: `nobody-polls-${name}`,
      args: [state],
      memo: { summary: { id: name, kind: 'pipeline', state: 'active', owners: [], labels: {}, active: [] } },
    });
  };

  test('keeps neither a list nor readiness waiting', async () => {
    const shop = await given(stack, QUICK);
    await shop.ships(2);
    await shop.ended(1);
    const name = `${shop.name}-silent`;
    await silent(name);
    const rows = await eventually('visibility knows it', async () => {
      const before = Date.now();
      const listed = await stack.json<PipelineSummary[]>(['list', 'pipelines']);
      expect(Date.now() - before).toBeLessThan(8_000);
      return listed.some(({ id }) => id === name) && listed;
    });
    expect(rows.find(({ id }) => id === shop.name)).toMatchObject({ state: 'active', active: [], lastRelease: 1 });
    const [deploy] = await stack.json<DeploySummary[]>(['list', 'deploys', '-p', shop.name]);
    expect(deploy).toMatchObject({ id: `${shop.name}/1/deploy`, state: 'ended', outcome: 'succeeded', attempt: 1 });
    const [release] = await stack.json<ReleaseSummary[]>(['list', 'releases', '-p', shop.name]);
    expect(release).toMatchObject({
      state: 'succeeded',
      trigger: { kind: 'manual' },
      artifacts: [{ version: shop.version(2) }],
    });
    const server = await startFront(stack);
    const ready = await fetch(`${server.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ok' }]);
  });

  test('keeps the other children of a release from nothing, also where the history of their shard grows long', async () => {
    const family = new Family(stack, 20);
    await family.settle({ maxConcurrent: 4 });
    const [mute = ''] = family.children;
    const state = await workflow(workflowIds.pipeline(mute)).query<PipelineState>('pipeline');
    await terminate(workflowIds.pipeline(mute));
    await stack.temporal.workflow.start('pipeline', {
      ...{ workflowId: workflowIds.pipeline(mute), taskQueue: `nobody-polls-${mute}`, args: [state] },
      typedSearchAttributes: tagPairs({ ConveyorLabels: [`parent=${family.parent}`] }),
    });
    await eventually('visibility knows it', async () => {
      const mutes = `WorkflowId = '${workflowIds.pipeline(mute)}' AND ExecutionStatus = 'Running'`;
      return (await stack.temporal.workflow.count(mutes)).count === 1;
    });
    await family.release('2');
    const view = await family.reaches('have ended but for one', ({ succeeded }) => succeeded === 19);
    expect(view).toMatchObject({ running: 1, failed: 0 });
    const shard = workflowIds.childrenShard(family.parent, 1, 0);
    expect((await stack.temporal.workflow.count(`WorkflowId = '${shard}'`)).count).toBeGreaterThan(1);
    for (const id of [shard, family.fanOut]) await workflow(id).terminate('the test is over');
  });
});
