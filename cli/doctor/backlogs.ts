import { workerCommand } from '../../domain/builds';
import type { ExaminationView } from '../../domain/examination';
import type { QueueBacklog } from '../../domain/metrics';
import { conjugate, formatDuration, plural } from '../../domain/text';
import { WAITS_TOO_LONG_MS, type DoctorCheck } from './check';

/** Queues whose oldest task has waited too long. If no worker takes up any work, another check says so. */
export const backlogChecks = (
  seen: Pick<ExaminationView, 'backlogs' | 'builds' | 'pollers'>,
  isWorkTaken: boolean,
): DoctorCheck[] =>
  seen.backlogs
    .filter(({ ageMs }) => ageMs > WAITS_TOO_LONG_MS)
    .map((backlog) => ({
      ...{
        name: `backlog of ${backlog.queue}`,
        state: isWorkTaken && hasPoller(seen, backlog) ? 'missing' : 'warning',
      },
      found: describeBacklog(backlog),
      how: isWorkTaken ? describeRemedy(backlog) : 'repair the workers first: see the check above',
    }));

/**
 * Whether workers poll that queue, so that its tasks delay new work. Without workers, Temporal continues to count the tasks of workflows that ended
 * or moved to another build. If there are builds, the age of work without a build is known only as the oldest of all builds.
 */
const hasPoller = (
  { builds, pollers }: Pick<ExaminationView, 'builds' | 'pollers'>,
  { build }: QueueBacklog,
): boolean => (build !== '' || builds === null) && pollers.some((poller) => (poller.build ?? '') === build);

const describeBacklog = ({ kind, build, tasks, ageMs }: QueueBacklog): string =>
  `${plural(tasks, `${kind} task`)}${build === '' ? '' : ` of build ${build}`} ${conjugate(tasks, 'wait')} for a worker, the oldest for ${formatDuration(ageMs)}`;

function describeRemedy({ queue, kind, build }: QueueBacklog): string {
  const more = `${workerCommand(build || undefined)} starts another worker`;
  const setting = `slots.${queue === 'main' ? 'effects' : queue}`;
  const slots =
    kind === 'workflow' ? '' : `, or raise ${setting} in the conveyor.config.yaml of the workers and start them again`;
  return `${more}${slots}; if the oldest then waits longer in each conveyor doctor, see the log of the workers; nothing is lost meanwhile`;
}
