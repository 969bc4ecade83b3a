import { WithStartWorkflowOperation, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { NO_BUGS, type Bug, type BugRecords, type BugClose, type BugReport } from '../domain/bug';
import { type ConveyorError, conveyorError } from '../../../domain/errors';
import { workflowIds } from '../../../domain/ids';
import { neverRan } from '../../../domain/queryRefusals';
import { DEFAULT_SETTINGS } from '../../../domain/settings';
import type { bugs } from '../workflows/bugs';
import { resolveTaskQueue } from '../../../client/apply';
import type { ClientOptions } from '../../../client/options';
import { isPolled } from '../../../client/readiness';
import { untilTaken } from '../../../client/retaken';
import { isWorkflowRunning } from '../../../client/recovery';
import { signRequest } from '../../../client/seal';
import type { Workflows } from '../../../client/workflows';
import type { BugsClient } from './api';

const WHAT = workflowIds.bugs;
const unknown = (id: string) => () => conveyorError('unknown-bug', { id });
const toRefusalError = (code: string, { message }: { readonly message: string }): ConveyorError =>
  code === 'bug-refused' ? conveyorError(code, { why: message }) : conveyorError('internal', { detail: message });

export const bugsClient = (workflows: Workflows, options: ClientOptions): BugsClient => ({
  reportBug: (report, actor) => reportBug(workflows, options, report, actor),
  closeBug: (close, actor) => closeBug(workflows, options, close, actor),
  listBugs: () => listBugs(workflows),
});

/** Reports to the workflow of bugs, and starts that if necessary. */
async function reportBug(workflows: Workflows, options: ClientOptions, report: BugReport, actor: string): Promise<Bug> {
  const taskQueue = resolveTaskQueue(options);
  const send = async (): Promise<Bug> => {
    // Without a worker, a report would wait there for ever.
    if (!(await isPolled(workflows.temporal, taskQueue)))
      throw conveyorError('no-worker', { id: WHAT, unpolled: taskQueue });
    return updateBugs(workflows, options, 'report-bug', { ...report, actor });
  };
  return workflows.withWording(WHAT, send, { notFound: unknown(WHAT), refused: toRefusalError });
}

async function closeBug(workflows: Workflows, options: ClientOptions, close: BugClose, actor: string): Promise<Bug> {
  if (!(await listBugs(workflows)).some(({ id }) => id === close.id)) throw unknown(close.id)();
  const send = () => updateBugs(workflows, options, 'close-bug', { ...close, actor });
  return workflows.withWording(WHAT, send, { notFound: unknown(close.id), refused: toRefusalError, workflowId: WHAT });
}

/** Newest first; empty before the first report. */
async function listBugs(workflows: Workflows): Promise<readonly Bug[]> {
  const records = () => recordsOfBugs(workflows.temporal.client);
  const { bugs: known } = await workflows.withWording(WHAT, records, { notFound: unknown(WHAT), workflowId: WHAT });
  return known.slice().reverse();
}

/** An ended workflow of bugs continues with its earlier records. */
async function updateBugs(
  { temporal: { client, seal } }: Workflows,
  options: ClientOptions,
  update: 'report-bug' | 'close-bug',
  input: object,
): Promise<Bug> {
  const { heartbeatTimeoutMs } = options.platform?.settings ?? DEFAULT_SETTINGS;
  const records = (await isWorkflowRunning(client, WHAT)) ? NO_BUGS : await recordsOfBugs(client);
  const asked = signRequest(seal, update, input);
  return untilTaken((updateId) =>
    client.workflow.executeUpdateWithStart<typeof bugs, Bug, [object]>(update, {
      startWorkflowOperation: new WithStartWorkflowOperation<typeof bugs>('bugs', {
        ...{ workflowId: WHAT, taskQueue: resolveTaskQueue(options), workflowIdConflictPolicy: 'USE_EXISTING' },
        args: [{ heartbeatTimeoutMs, ...(records.bugs.length > 0 ? { records } : {}) }],
        staticSummary: 'bugs that are reported',
      }),
      ...{ args: [asked], updateId },
    }),
  );
}

/** Empty before the first report. A run started by a stranger does not answer, so the run before it counts. */
async function recordsOfBugs(client: Client): Promise<BugRecords> {
  const recordsOf = (runId?: string) => client.workflow.getHandle(WHAT, runId).query<BugRecords>('bugs');
  try {
    return await recordsOf();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return NO_BUGS;
    if (!neverRan(error)) throw error;
  }
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${WHAT}'` })) {
    const known = await recordsOf(runId).catch((error: unknown) => {
      if (neverRan(error)) return undefined;
      throw error;
    });
    if (known !== undefined) return known;
  }
  return NO_BUGS;
}
