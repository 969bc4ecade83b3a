import { WithStartWorkflowOperation } from '@temporalio/client';
import { NO_BUGS, type Bug, type BugRecords, type BugClose, type BugReport } from '../domain/bugs/bug';
import { ConveyorError, conveyorError } from '../domain/errors';
import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import type { bugs } from '../workflows/bugs';
import { taskQueueOf } from './apply';
import type { ClientOptions } from './options';
import { isPolled } from './readiness';
import { proven } from './seal';
import type { Workflows } from './workflows';

const WHAT = workflowIds.bugs;
const unknown = (id: string) => () => conveyorError('unknown-bug', { id });
const refused = (code: string, { message }: { readonly message: string }): ConveyorError =>
  code === 'bug-refused' ? conveyorError(code, { why: message }) : conveyorError('internal', { detail: message });

/** On the workflow of bugs, which is there from then on. */
export async function reportBug(
  workflows: Workflows,
  options: ClientOptions,
  report: BugReport,
  actor: string,
): Promise<Bug> {
  const { client, seal } = workflows.temporal;
  const taskQueue = taskQueueOf(options);
  const { heartbeatTimeoutMs } = options.platform?.settings ?? DEFAULT_SETTINGS;
  const send = async (): Promise<Bug> => {
    // A report that nobody answers would wait there for ever.
    if (!(await isPolled(workflows.temporal, taskQueue)))
      throw conveyorError('no-worker', { id: WHAT, unpolled: taskQueue });
    return client.workflow.executeUpdateWithStart<typeof bugs, Bug, [object]>('report-bug', {
      startWorkflowOperation: new WithStartWorkflowOperation<typeof bugs>('bugs', {
        ...{ workflowId: WHAT, taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' },
        args: [{ heartbeatTimeoutMs }],
        staticSummary: 'bugs that are reported',
      }),
      args: [proven(seal, 'report-bug', { ...report, actor })],
    });
  };
  return workflows.withWording(WHAT, send, { notFound: unknown(WHAT), refused });
}

export async function closeBug(workflows: Workflows, close: BugClose, actor: string): Promise<Bug> {
  if (!(await listBugs(workflows)).some(({ id }) => id === close.id)) throw unknown(close.id)();
  const { client, seal } = workflows.temporal;
  const asked = proven(seal, 'close-bug', { ...close, actor });
  const send = () => client.workflow.getHandle(WHAT).executeUpdate<Bug, [object]>('close-bug', { args: [asked] });
  return workflows.withWording(WHAT, send, { notFound: unknown(close.id), refused, workflowId: WHAT });
}

/** Newest first; none before the first report. */
export async function listBugs(workflows: Workflows): Promise<readonly Bug[]> {
  const query = () => workflows.temporal.client.workflow.getHandle(WHAT).query<BugRecords>('bugs');
  const notFound = unknown(WHAT);
  const none = (error: unknown): BugRecords => {
    if (error instanceof ConveyorError && error.code === 'unknown-bug') return NO_BUGS;
    throw error;
  };
  const records = await workflows.withWording(WHAT, query, { notFound, workflowId: WHAT }).catch(none);
  return records.bugs.slice().reverse();
}
