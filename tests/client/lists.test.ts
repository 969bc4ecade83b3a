import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { deployTable, pipelineTable, releaseTable } from '../../render/lists';
import { listDeploys, listPipelines, listReleases } from '../../client/lists';
import type { Workflows } from '../../client/workflows';
import { conveyorError } from '../../domain/errors';
import { deploy, NOW, pipeline, release } from '../builders/cliSamples';

/** The queries to visibility. */
const queries: string[] = [];
beforeEach(() => void (queries.length = 0));

/** The workflows in visibility, the newest first; asking any of them fails the test. */
function visible(
  ...rows: readonly { id: string; summary: object; problems?: string[]; status?: string; tag?: string }[]
): Workflows {
  return polledBy([{ identity: 'worker' }], ...rows);
}

/** As `visible`, with what the server knows of who polls. */
function polledBy(
  pollers: readonly object[],
  ...rows: readonly { id: string; summary: object; problems?: string[]; status?: string; tag?: string }[]
): Workflows {
  const list = async function* ({ query }: { query: string }) {
    queries.push(query);
    const kind = /WorkflowType = '(\w+)'/.exec(query)?.[1];
    for (const { id, summary, problems = [], status = 'RUNNING', tag } of rows.filter((row) =>
      row.id.startsWith(`${kind}/`),
    ))
      yield {
        ...{ workflowId: id, runId: `run of ${id}` },
        memo: { summary },
        taskQueue: 'conveyor',
        status: { name: status },
        ...{ startTime: new Date(NOW), closeTime: new Date(NOW) },
        typedSearchAttributes: new TypedSearchAttributes([
          { key: defineSearchAttributeKey('TemporalReportedProblems', 'KEYWORD_LIST'), value: problems },
          ...(tag === undefined ? [] : [{ key: defineSearchAttributeKey('ConveyorState', 'KEYWORD'), value: tag }]),
        ]),
      };
  };
  const getHandle = () => {
    throw new Error('a workflow was asked');
  };
  return {
    temporal: {
      namespace: 'default',
      client: {
        workflow: { list, getHandle },
        withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
        workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
      },
    },
    withWording: (_: string, call: () => Promise<unknown>) => call(),
  } as unknown as Workflows;
}

const PROBLEMS = ['category=WorkflowTaskFailed', 'cause=WorkflowTaskFailedCauseNonDeterminismError'];
const SAID = 'its workflow is stuck (NonDeterminismError)';
const view = { width: 160, color: false, now: NOW, timeZone: 'UTC' };

describe('a list', () => {
  test('asks no workflow, and shows one that does not get on as it was, with what the server says of it', async () => {
    const silent = { id: 'pipeline/shop', summary: pipeline({ id: 'shop' }), problems: PROBLEMS };
    const rows = await listPipelines(visible(silent, { id: 'pipeline/kvstore', summary: pipeline() }), { limit: 9 });
    expect(rows.map(({ id, problem }) => [id, problem])).toEqual([
      ['shop', SAID],
      ['kvstore', undefined],
    ]);
    expect(pipelineTable(rows, view)).toMatch(/^shop +✔ active, last known /m);
    expect(pipelineTable(rows, view)).toContain(`\n⚠ shop: ${SAID}`);
  });

  test('shows for a paused deploy by whose command, since when and why', () => {
    const reason = 'health checks do not work: twine did not answer';
    const paused = { by: 'dependency', actor: null, at: new Date(NOW - 57_000).toISOString(), reason } as const;
    const rows = [deploy({ state: 'baking', outcome: null, endedAt: null, paused })];
    expect(deployTable(rows, view)).toMatch(/‖ paused \(baking\) +kv:13/);
    expect(deployTable(rows, view)).toContain(`\n‖ kvstore/13/deploy by dependency 57s ago: ${reason}`);
  });

  test('shows for a release which of its deploys is paused, by which person, since when and why', async () => {
    const paused = { by: 'operator', actor: 'user:bob', at: new Date(NOW - 57_000).toISOString(), reason: 'a graph' };
    const running = release({ id: 'kvstore/13', number: 13, state: 'running', endedAt: null });
    const baking = deploy({
      id: 'kvstore/13/deploy',
      outcome: null,
      endedAt: null,
      paused: { ...paused, by: 'operator' },
    });
    const rows = await listReleases(
      visible(
        { id: 'release/kvstore/13', summary: running },
        { id: 'release/kvstore/12', summary: release({ id: 'kvstore/12' }), status: 'COMPLETED' },
        { id: 'deploy/kvstore/13/deploy/1', summary: baking },
        { id: 'deploy/kvstore/13/canary/1', summary: deploy({ id: 'kvstore/13/canary', outcome: null, paused: null }) },
      ),
      { limit: 9 },
    );
    expect(rows.map(({ pausedDeploy }) => pausedDeploy)).toEqual([{ id: 'kvstore/13/deploy', ...paused }, undefined]);
    expect(releaseTable(rows, view)).toMatch(
      /◌ running, deploy paused .*\n‖ kvstore\/13\/deploy by user:bob 57s ago: a graph$/s,
    );
  });

  test('says of a release that a rollback has undone it, or does so, and by which', async () => {
    const endedAt = new Date(NOW).toISOString();
    const of = (number: number, more: object) => ({
      id: `release/kvstore/${number}`,
      summary: release({ id: `kvstore/${number}`, number, state: 'succeeded', endedAt, ...more }),
      status: 'COMPLETED',
    });
    const undoes = (undone: number) => ({
      trigger: { kind: 'rollback', actor: 'user:alice', key: null, of: undone } as const,
    });
    const running = { ...of(15, { ...undoes(12), state: 'running', endedAt: null }), status: 'RUNNING' };
    const rows = await listReleases(visible(running, of(14, undoes(13)), of(13, {}), of(12, {})), { limit: 9 });
    expect(rows.map(({ number, undone }) => [number, undone])).toEqual([
      [15, undefined],
      [14, undefined],
      [13, { by: 'kvstore/14', at: endedAt }],
      [12, { by: 'kvstore/15', at: null, state: 'running' }],
    ]);
  });

  test('reads the state of a deploy also where the list of the Web UI shows that it is paused', async () => {
    const baking = {
      id: 'deploy/kvstore/13/deploy/1',
      summary: deploy({ outcome: null, endedAt: null }),
      tag: 'paused (baking)',
    };
    expect(await listDeploys(visible(baking), { limit: 9, state: 'baking' })).toMatchObject([{ state: 'baking' }]);
  });

  test('asks only for those in one state, however many others exist', async () => {
    const held = { id: 'pipeline/shop', summary: pipeline({ id: 'shop', state: 'held' }) };
    const rows = await listPipelines(visible(held), { limit: 9, state: 'held' });
    expect(rows.map(({ id }) => id)).toEqual(['shop']);
    expect(queries).toEqual([expect.stringContaining(`ConveyorState IN ('held')`)]);
  });

  test('shows no ended attempt of a deploy if a later attempt runs', async () => {
    const first = deploy({ endedAt: new Date(NOW).toISOString() });
    const attempts = [
      { id: 'deploy/kvstore/13/deploy/2', summary: deploy({ outcome: null, endedAt: null }), tag: 'baking' },
      { id: 'deploy/kvstore/13/deploy/1', summary: first, tag: 'ended', status: 'COMPLETED' },
    ];
    const workflows = visible(...attempts);
    // Visibility finds only what is in that state, if it is asked for one.
    const { list } = workflows.temporal.client.workflow;
    workflows.temporal.client.workflow.list = async function* (options: { query: string }) {
      for await (const info of list(options))
        if (!options.query.includes('ConveyorState IN') || info.workflowId.endsWith('/1')) yield info;
    } as unknown as typeof list;
    expect(await listDeploys(workflows, { limit: 9, state: 'ended' })).toEqual([]);
  });

  test('shows a release that is paused through Temporal as it stands', async () => {
    const paused = { id: 'release/kvstore/12', summary: release({ id: 'kvstore/12' }), status: 'PAUSED' };
    expect((await listReleases(visible(paused), { limit: 9 }))[0]?.endedAt).toBeNull();
  });

  test('says of what has not ended that no worker polls for it, and since when', async () => {
    const seconds = Math.floor(Date.now() / 1000) - 200;
    const gone = { identity: 'worker', lastAccessTime: { seconds: seconds, nanos: 0 } };
    const said = `no worker polls its task queue conveyor (last poll: ${new Date(seconds * 1000).toISOString()})`;
    const running = { id: 'release/kvstore/13', summary: release({ endedAt: null }) };
    const ended = { id: 'release/kvstore/12', summary: release({ id: 'kvstore/12' }), status: 'COMPLETED' };
    const rows = await listReleases(polledBy([gone], running, ended), { limit: 9 });
    expect(rows.map(({ problem }) => problem)).toEqual([said, undefined]);
    expect(releaseTable(rows, view)).toContain(`\n⚠ kvstore/13: ${said}`);
    const [shop] = await listPipelines(polledBy([], { id: 'pipeline/shop', summary: pipeline({ id: 'shop' }) }), {
      limit: 9,
    });
    expect(shop?.problem).toBe('no worker polls its task queue conveyor');
  });

  test('a silent server is named as such, since lists need no worker', async () => {
    const silent = {
      ...visible(),
      withWording: () => Promise.reject(conveyorError('no-worker', { id: 'list releases' })),
    };
    const listing = listReleases(silent as unknown as Workflows, { limit: 9 });
    await expect(listing).rejects.toMatchObject({ code: 'temporal-unreachable' });
  });

  test('says so of releases and deploys, and nothing of those that have ended', async () => {
    const running = { id: 'release/kvstore/13', summary: release({ endedAt: null }), problems: PROBLEMS };
    const ended = {
      id: 'release/kvstore/12',
      summary: release({ id: 'kvstore/12' }),
      problems: PROBLEMS,
      status: 'FAILED',
    };
    const releases = await listReleases(visible(running, ended), { limit: 9 });
    expect(releases.map(({ problem }) => problem)).toEqual([SAID, undefined]);
    expect(releaseTable(releases, view)).toContain(`\n⚠ kvstore/13: ${SAID}`);
    const baking = { id: 'deploy/kvstore/13/deploy/1', summary: deploy(), problems: PROBLEMS };
    expect(deployTable(await listDeploys(visible(baking), { limit: 9 }), view)).toContain(
      `\n⚠ kvstore/13/deploy: ${SAID}`,
    );
  });
});
