import { noWorkerWords, workerCommand } from '../../domain/builds';
import type { ExaminationEnd, ExaminationView, ExtensionLook, Poller } from '../../domain/examination';
import type { QueueBacklog } from '../../domain/metrics';
import { formatDuration, lastPollWords, listed, plural } from '../../domain/text';
import { WAITS_TOO_LONG_MS, type DoctorCheck } from './check';
import { clockChecks } from './clocks';

/** How far work comes: whether Temporal writes it down, workers take it up, and extensions answer them. */

export const WORKERS_CHECK = 'workers';

export const workerChecks = (view: ExaminationView, machine = 'this machine'): DoctorCheck[] => [
  ...endChecks(view),
  ...view.backlogs.filter(({ ageMs }) => ageMs > WAITS_TOO_LONG_MS).map(backlogCheck),
  ...listingChecks(view.listing),
  ...clockChecks(view, machine),
];

function endChecks(view: ExaminationView): DoctorCheck[] {
  const { end, taskQueue } = view;
  const pollers = pollersOfNewWork(view);
  const broken = (found: string, how: string): DoctorCheck[] => [{ name: WORKERS_CHECK, state: 'missing', found, how }];
  const who = `${pollersWords(pollers)} ${pollers.length === 1 ? 'polls' : 'poll'} the task queue ${taskQueue}`;
  switch (end.kind) {
    case 'answered': {
      const found = `${who}; one answered within ${formatDuration(end.tookMs)}`;
      return [{ name: WORKERS_CHECK, state: 'ok', found, how: null }, ...extensionChecks(end)];
    }
    case 'refused':
      return [
        {
          name: WORKERS_CHECK,
          state: 'warning',
          found: `${who}; one answered, and asked no extension: ${end.reason}`,
          how: EXAMINE_AS_WORKER,
        },
      ];
    case 'silent': {
      const taken = end.takenBy === null ? '' : `; ${end.takenBy} was given work and did nothing`;
      return broken(
        `${who}, and none answered within ${formatDuration(end.withinMs)}${taken}`,
        wakeWords(pollers, end.takenBy),
      );
    }
    case 'stuck':
      return broken(
        `${who}; one began, and did not ask the extensions within ${formatDuration(end.withinMs)}`,
        'look at the log of the workers and at the queues of the server (conveyor_task_queue_backlog): they may be too busy; add workers',
      );
    case 'unpolled':
      // Where workers have builds, the check of builds names the one that is missing.
      return view.build !== undefined
        ? []
        : broken(
            `${noWorkerWords()} polls the task queue ${taskQueue}${lastPollWords(view.lastPollAt)}, and everything waits for one`,
            `${workerCommand()}; conveyor dev starts one with all else`,
          );
    case 'unwritten':
      return [UNWRITTEN(end.reason)];
    case 'unbegun':
      return [UNBEGUN(end.reason)];
  }
}

const EXAMINE_AS_WORKER =
  'run doctor from the same version as the workers, and with their conveyor.config.yaml and its key (seal)';

const UNWRITTEN = (reason: string): DoctorCheck => ({
  name: 'Temporal writes',
  state: 'missing',
  found: `no: it answers, but took no new workflow: ${reason}`,
  how: 'its database may be full, read-only or gone: look at the log of the Temporal server (of conveyor dev: .conveyor/logs/temporal.log) and at df of the folder of its database',
});

const UNBEGUN = (reason: string): DoctorCheck => ({
  name: 'Temporal writes',
  state: 'missing',
  found: `not known: it answers, and began no new workflow: ${reason}`,
  how: 'if it throttles this namespace (RESOURCE_EXHAUSTED), look at what asks it so often and at its limits (frontend.namespaceRPS), and run doctor again; else its own log says why',
});

/** Only these get an examination, whichever others poll. */
function pollersOfNewWork({ pollers, builds }: ExaminationView): readonly Poller[] {
  const asked = pollers.filter(({ build }) => builds === null || build === builds.current);
  return asked.length === 0 ? pollers : asked;
}

const SHOWN_POLLERS = 4;

function pollersWords(pollers: readonly Poller[]): string {
  const shown = pollers
    .slice(0, SHOWN_POLLERS)
    .map(({ identity, lastPollAt }) => `${identity} (last poll: ${lastPollAt})`);
  const more = pollers.length - shown.length;
  if (pollers.length === 0) return 'workers that Temporal does not name';
  return listed(more > 0 ? [...shown, `${more} more`] : shown, 'and');
}

/** A frozen worker is listed for minutes, since its polls are still open. */
function wakeWords(pollers: readonly Poller[], takenBy: string | null): string {
  const identity = takenBy ?? pollers[0]?.identity ?? '';
  const [, pid, host] = /^(\d+)@(.+)$/.exec(identity) ?? [];
  const kill =
    pid === undefined
      ? `end ${identity}`
      : `on ${host}: ps -o stat,etime,args -p ${pid} shows whether it is gone, stopped (T) or busy; kill -9 ${pid} ends it`;
  return `${kill}; then conveyor worker starts another (conveyor dev and supervisors do so themselves); nothing is lost`;
}

function extensionChecks({ extensions, unused }: Extract<ExaminationEnd, { kind: 'answered' }>): DoctorCheck[] {
  const silent = extensions.filter(({ trouble }) => trouble !== null);
  const isUnused = ({ kind, name }: ExtensionLook): boolean => kind === 'push-type' && unused.includes(name);
  const idle = silent.filter(isUnused);
  const beside =
    idle.length === 0
      ? ''
      : `; not ${listed(
          idle.map(({ name }) => name),
          'and',
        )}, which no deploy has used`;
  const answer = plural(extensions.length - silent.length, 'extension');
  return [
    {
      name: 'extensions',
      state: 'ok',
      found: `${answer} of ${extensions.length} answer the workers${beside}`,
      how: null,
    },
    ...silent.filter((look) => !isUnused(look)).map(extensionCheck),
  ];
}

const extensionCheck = ({ kind, name, address, trouble }: ExtensionLook): DoctorCheck => ({
  name: `${kind} ${name}`,
  state: 'missing',
  found: `does not answer the workers at ${address}: ${trouble ?? ''}`,
  how: 'start its service, or correct its address in the conveyor.config.yaml of the workers; what needs it waits, and nothing is lost',
});

const backlogCheck = ({ queue, kind, build, tasks, ageMs }: QueueBacklog): DoctorCheck => ({
  ...{ name: `backlog of ${queue}`, state: 'warning' },
  found: `${plural(tasks, `${kind} task`)}${build === '' ? '' : ` of build ${build}`} wait for a worker, the oldest for ${formatDuration(ageMs)}`,
  how: 'add workers, or slots in their conveyor.config.yaml; if it grows, see the checks of workers and builds',
});

/** Lists may show a state of the past; all else goes by what workflows say themselves. */
function listingChecks(listing: ExaminationView['listing']): DoctorCheck[] {
  const name = 'lists';
  const how =
    'meanwhile conveyor list, the lists of the Web UI and the counts of /metrics show what was, and a pipeline that is new gets no webhooks; status, commands and deploys need no list. Look at the visibility store of Temporal';
  switch (listing?.kind) {
    case 'late': {
      const found = `Temporal's lists lag: a workflow was in none of them ${formatDuration(listing.withinMs)} after its start`;
      return [{ name, state: 'warning', found, how }];
    }
    case 'silent':
      return [{ name, state: 'missing', found: `Temporal's lists do not answer: ${listing.reason}`, how }];
    default:
      return [];
  }
}
