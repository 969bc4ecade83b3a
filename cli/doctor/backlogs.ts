import { workerCommand } from '../../domain/builds';
import type { QueueBacklog } from '../../domain/metrics';
import { conjugate, formatDuration, plural } from '../../domain/text';
import { WAITS_TOO_LONG_MS, type DoctorCheck } from './check';

/** Queues that grow: a warning, since Temporal may count tasks of workflows that have ended. If no worker takes up work, another check says so. */
export const backlogChecks = (backlogs: readonly QueueBacklog[], isWorkTaken: boolean): DoctorCheck[] =>
  backlogs
    .filter(({ ageMs }) => ageMs > WAITS_TOO_LONG_MS)
    .map((backlog) => ({
      ...{ name: `backlog of ${backlog.queue}`, state: 'warning' },
      found: describeBacklog(backlog),
      how: isWorkTaken ? describeRemedy(backlog) : 'repair the workers first: see the check above',
    }));

const describeBacklog = ({ kind, build, tasks, ageMs }: QueueBacklog): string =>
  `${plural(tasks, `${kind} task`)}${build === '' ? '' : ` of build ${build}`} ${conjugate(tasks, 'wait')} for a worker, the oldest for ${formatDuration(ageMs)}`;

function describeRemedy({ queue, kind, build }: QueueBacklog): string {
  const more = `${workerCommand(build || undefined)} starts another worker`;
  const setting = `slots.${queue === 'main' ? 'effects' : queue}`;
  const slots =
    kind === 'workflow' ? '' : `, or raise ${setting} in the conveyor.config.yaml of the workers and start them again`;
  return `${more}${slots}; if the oldest then waits longer in each conveyor doctor, see the log of the workers; nothing is lost meanwhile`;
}
