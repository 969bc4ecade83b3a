import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import type { Temporal } from '../../client/connection';
import { listReleases } from '../../client/lists';
import { behindPaused } from '../../client/pauses';
import { withProblems } from '../../client/problems';
import { leaveCommand } from '../../client/leaveCommand';
import { withWaits } from '../../client/waits';
import type { Workflows } from '../../client/workflows';
import { conveyorError } from '../../domain/errors';
import { action, NOW, release } from '../builders/cliSamples';

/** Work that waits for a worker of a build that is gone names the build and the command, although other workers poll. */

const PLAIN = { identity: 'plain' };
const pinnedTo = (build: string) =>
  new TypedSearchAttributes([
    {
      key: defineSearchAttributeKey('TemporalWorkerDeploymentVersion', 'KEYWORD'),
      value: `conveyor:${build}`,
    },
    { key: defineSearchAttributeKey('TemporalWorkflowVersioningBehavior', 'KEYWORD'), value: 'Pinned' },
  ]);

/** Visibility with release 12, which runs, and the pollers known to the server. */
function temporal(build: string | undefined, pollers: readonly object[]): Temporal {
  const running = release({ id: 'kvstore/12', number: 12 });
  const list = async function* ({ query }: { query: string }) {
    if (query.includes(`WorkflowType = 'release'`) && /kvstore/.test(query))
      yield {
        ...{ workflowId: 'release/kvstore/12', runId: '1', memo: { summary: running }, taskQueue: 'conveyor' },
        ...{ status: { name: 'RUNNING' }, startTime: new Date(NOW) },
        typedSearchAttributes: build === undefined ? new TypedSearchAttributes([]) : pinnedTo(build),
      };
  };
  const versioningInfo = build && { behavior: 1, deploymentVersion: { deploymentName: 'conveyor', buildId: build } };
  const client = {
    workflow: {
      list,
      getHandle: () => ({
        query: () => Promise.reject(new Error('not asked')),
        describe: () => Promise.resolve({ raw: { workflowExecutionInfo: { versioningInfo } } }),
        signal: () => Promise.resolve(),
      }),
    },
    withDeadline: (_: number, call: () => unknown) => call(),
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  };
  return { client, namespace: 'default' } as unknown as Temporal;
}

const MISSING = 'no worker of build one polls its task queue conveyor: conveyor worker --build one';
const OF_ONE = { deploymentOptions: { deploymentName: 'conveyor', buildId: 'one', workerVersioningMode: 2 } };
const row = release({ id: 'kvstore/12', number: 12 });

test.each<[string, string | undefined, readonly object[], string | undefined]>([
  ['pinned to a build that no worker runs', 'one', [PLAIN], MISSING],
  ['pinned to a build that a worker runs', 'one', [PLAIN, OF_ONE], undefined],
  ['of no build', undefined, [PLAIN], undefined],
])('a list and the status of a pipeline say of a release %s what is missing', async (_, build, pollers, problem) => {
  const parts = temporal(build, pollers);
  const withWording = (_id: string, call: () => unknown) => call();
  const listed = await listReleases({ temporal: parts, withWording } as unknown as Workflows, {
    pipeline: 'kvstore',
    limit: 9,
  });
  expect(listed.map((one) => one.problem)).toEqual([problem]);
  expect((await withProblems(parts, [row])).map((one) => one.problem)).toEqual([problem]);
});

test('a release behind one that waits for a build says so, with the command', async () => {
  const waits = action({ name: 'deploy', state: 'blocked', deploy: null, blockedBy: 'release 12 deploys' });
  const behind = release({ id: 'kvstore/13', number: 13, actions: [waits] });
  const why = `release 12 deploys, but ${MISSING}`;
  expect((await withWaits(temporal('one', [PLAIN]), behind)).actions[0]?.blockedBy).toBe(why);
  expect(behindPaused('release 12 deploys', [{ id: 'kvstore/12', number: 12, problem: MISSING }])).toBe(why);
});

test('a command that is kept for a build that is gone names the build in its hint', async () => {
  const error = conveyorError('no-worker', { id: 'kvstore/12' });
  const left = leaveCommand(
    error,
    temporal('one', [PLAIN]),
    { kind: 'release', pipeline: 'kvstore', number: 12 },
    'pause',
    {},
  );
  await expect(left).rejects.toMatchObject({
    message: 'kvstore/12 exists, but no worker of build one answers for it',
    hint: 'start one with conveyor worker --build one; the command is kept until a worker takes it, so do not send it again',
  });
});

test('where the server does not say who polls, a release is shown without', async () => {
  const parts = temporal('one', []);
  parts.client.workflow.list = () => {
    throw new Error('visibility is away');
  };
  expect(await withProblems(parts, [row])).toEqual([row]);
});
