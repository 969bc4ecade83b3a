import { noWorkerWords, workerCommand } from '../../domain/builds';
import {
  LISTS_BEHIND_MS,
  type ExaminationEnd,
  type ExaminationView,
  type ExtensionLook,
  type Poller,
} from '../../domain/examination';
import { formatDuration, lastPollWords, joinWords, plural } from '../../domain/text';
import type { DoctorCheck } from './check';
import { clockChecks } from './clocks';

/** Checks how far work gets: whether Temporal stores it, workers pick it up, and extensions answer them. */

export const WORKERS_CHECK = 'workers';

export const workerChecks = (view: ExaminationView, machine = 'this machine'): DoctorCheck[] => [
  ...endChecks(view),
  ...checkListing(view.listing),
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
          found: `${who}; one answered, but asked no extension: ${end.reason}`,
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
        'check the log of the workers and the queues of the server (conveyor_task_queue_backlog): they may be overloaded; add workers',
      );
    case 'unpolled':
      // If workers have builds, the check of builds names the missing one.
      return view.build !== undefined
        ? []
        : broken(
            `${noWorkerWords()} polls the task queue ${taskQueue}${lastPollWords(view.lastPollAt)}, so everything waits for one`,
            `${workerCommand()}; conveyor dev starts one with everything else`,
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
  found: `no: it answers, but accepted no new workflow: ${reason}`,
  how: 'its database may be full, read-only or gone: look at the log of the Temporal server (of conveyor dev: .conveyor/logs/temporal.log) and at df of the folder of its database',
});

const UNBEGUN = (reason: string): DoctorCheck => ({
  name: 'Temporal writes',
  state: 'missing',
  found: `unknown: it answers, but started no new workflow: ${reason}`,
  how: 'if it throttles this namespace (RESOURCE_EXHAUSTED), find the heavy clients and check its limits (frontend.namespaceRPS), then run doctor again; otherwise see its log',
});

/** Only these workers get an examination, even if others poll. */
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
  return joinWords(more > 0 ? [...shown, `${more} more`] : shown, 'and');
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
      : `; not ${joinWords(
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
  // The same text for all extensions at one address, so that they share a row.
  found: `no usable answer for the workers at ${address}: ${trouble ?? ''}`,
  how: 'start its service, or correct its address in the conveyor.config.yaml of the workers; deploys that need it wait, and nothing is lost',
});

/** Only lists may be out of date; everything else comes from the workflows themselves. */
function checkListing(listing: ExaminationView['listing']): DoctorCheck[] {
  const name = 'lists';
  const how =
    'temporal operator cluster describe names the visibility store: look at it, and at the log of the Temporal server. Meanwhile conveyor list, the lists of the Web UI and the counts of /metrics are out of date, and new pipelines get no webhooks; status, commands and deploys need no list';
  switch (listing?.kind) {
    case 'late': {
      const found = `Temporal's lists lag: a workflow was still missing from them ${formatDuration(listing.withinMs)} after its start`;
      return [{ name, state: listing.withinMs < LISTS_BEHIND_MS ? 'warning' : 'missing', found, how }];
    }
    case 'silent':
      return [{ name, state: 'missing', found: `Temporal's lists do not answer: ${listing.reason}`, how }];
    default:
      return [];
  }
}
