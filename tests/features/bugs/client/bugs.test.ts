import { QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client';
import { bugsClient } from '../../../../features/bugs/client/bugs';
import type { Workflows } from '../../../../client/workflows';
import type { Bug, BugRecords } from '../../../../features/bugs/domain/bug';

/** Known bugs outlive the workflow that keeps them, and runs that strangers start under its id. */

const bug = { id: 'bug/1', target: '//lib:rpc', from: '12', to: null, reason: 'bad' } as unknown as Bug;
const RECORDS: BugRecords = { next: 2, bugs: [bug], due: [] };
const STRANGER = new QueryNotRegisteredError(
  'Workflow did not register a handler for bugs. Registered queries: [__stack_trace __temporal_workflow_metadata]',
  3,
);

/** Runs by what they answer, the newest first, and with which records an update found or started the workflow. */
function given(runs: readonly (BugRecords | Error)[], isRunning: boolean) {
  const started: unknown[] = [];
  const answer = (run: BugRecords | Error | undefined) =>
    run === undefined
      ? Promise.reject(new WorkflowNotFoundError('not found', 'bugs', undefined))
      : run instanceof Error
        ? Promise.reject(run)
        : Promise.resolve(run);
  const client = {
    workflow: {
      getHandle: (_: string, runId?: string) => ({
        query: () => answer(runs[runId === undefined ? 0 : Number(runId)]),
        describe: () =>
          runs.length === 0
            ? answer(undefined)
            : Promise.resolve({ status: { name: isRunning ? 'RUNNING' : 'TERMINATED' } }),
      }),
      list: async function* () {
        for (const runId of runs.keys()) yield { runId: String(runId) };
      },
      executeUpdateWithStart: (update: string, { startWorkflowOperation }: { startWorkflowOperation: object }) => {
        const { args } = (startWorkflowOperation as { options: { args: [{ records?: BugRecords }] } }).options;
        started.push([update, args[0].records]);
        return Promise.resolve(bug);
      },
    },
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers: [{ identity: 'worker' }] }) },
  };
  const temporal = { client, namespace: 'default' };
  const workflows = { temporal, withWording: (_: string, call: () => unknown) => call() } as unknown as Workflows;
  return { workflows, started };
}

const close = { id: 'bug/1', to: null, reason: 'fixed' };
const report = { target: '//lib:rpc', from: '12', to: null, reason: 'bad' };

test.each<[string, readonly (BugRecords | Error)[], readonly string[]]>([
  ['before the first report', [], []],
  ['of the workflow that runs or has ended', [RECORDS], ['bug/1']],
  ['of the run before one that a stranger started', [STRANGER, RECORDS], ['bug/1']],
  ['of the run before several of strangers', [STRANGER, STRANGER, RECORDS], ['bug/1']],
  ['of strangers alone', [STRANGER], []],
])('bugs are listed %s', async (_, runs, ids) => {
  expect((await bugsClient(given(runs, false).workflows, {}).listBugs()).map(({ id }) => id)).toEqual(ids);
});

test('a bug is closed, and another reported, on a workflow that continues with the records of the one that was terminated', async () => {
  const { workflows, started } = given([STRANGER, RECORDS], false);
  const client = bugsClient(workflows, {});
  await client.closeBug(close, 'user:alice');
  await client.reportBug(report, 'user:alice');
  expect(started).toEqual([
    ['close-bug', RECORDS],
    ['report-bug', RECORDS],
  ]);
});

test('a workflow that runs keeps its own records, and the first one begins without any', async () => {
  const { workflows, started } = given([RECORDS], true);
  await bugsClient(workflows, {}).closeBug(close, 'user:alice');
  const fresh = given([], false);
  await bugsClient(fresh.workflows, {}).reportBug(report, 'user:alice');
  expect([...started, ...fresh.started]).toEqual([
    ['close-bug', undefined],
    ['report-bug', undefined],
  ]);
});

test('a bug that no run knows is not closed', async () => {
  const { workflows } = given([STRANGER], false);
  await expect(bugsClient(workflows, {}).closeBug(close, 'user:alice')).rejects.toMatchObject({ code: 'unknown-bug' });
});
