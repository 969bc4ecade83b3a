import {
  currentBuildCommand,
  noWorkerWords,
  workerCommand,
  type Build,
  type BuildsView,
  type StuckOnBuild,
} from '../../domain/builds';
import { formatDuration, lastPollWords, plural } from '../../domain/text';
import type { ExaminationView } from '../../domain/examination';
import type { Env } from '../../settings/env';
import { parseHost, parsePort, usualAddresses } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import type { Builds } from '../../client/builds';
import { ANSWERS_WITHIN_MS, WAITS_TOO_LONG_MS, type DoctorCheck } from './check';

const CHECK_NAME = 'builds of workers';

/** The builds and workers in an examination. */
type BuildsSeen = Pick<ExaminationView, 'builds' | 'end' | 'pollers' | 'backlogs'>;

/** Whether each build with work also has workers; nothing if workers have no builds. */
export function buildChecks(seen: BuildsSeen): DoctorCheck[] {
  const { builds: view, end } = seen;
  if (view === null) return [];
  const { current, polled, taskQueue, stuck } = view;
  const checks = [...stuck.map(checkOfStuck), ...silentBuilds(seen, view)];
  const others = polled.filter((build) => build !== current);
  if (!polled.includes(current)) checks.unshift(checkOfCurrent(current, others, taskQueue));
  else if (end.kind === 'silent' && others[0] !== undefined) checks.unshift(checkOfSilent(current, others[0]));
  if (checks.length > 0) return checks;
  const beside = others.length === 0 ? '' : besideWords(current, others);
  return [{ name: CHECK_NAME, state: 'ok', found: `new work goes to ${buildName(current)}${beside}`, how: null }];
}

/** It is easy to forget that workers of the first build get no work until it is made the current one. */
function besideWords(current: Build, others: readonly Build[]): string {
  const polling = `; workers of ${others.map(buildName).join(', ')} poll too`;
  return current !== null ? polling : `${polling}, and get none of it until ${currentBuildCommand(others[0] ?? null)}`;
}

/** Temporal lists the polls of a dead worker for some minutes. */
const checkOfSilent = (current: Build, other: Build): DoctorCheck => ({
  ...{ name: CHECK_NAME, state: 'missing' },
  found: `new work goes to ${buildName(current)}, whose workers do not answer; workers of ${buildName(other)} poll but get none of it`,
  how: `${workerCommand(current)}; or let ${buildName(other)} have it: ${currentBuildCommand(other)}`,
});

/** An examination reaches only the current build, but a working worker never lets a workflow task wait this long. */
const silentBuilds = ({ backlogs, pollers }: BuildsSeen, { current, polled }: BuildsView): DoctorCheck[] =>
  backlogs
    .filter(({ kind, build, ageMs }) => kind === 'workflow' && ageMs > WAITS_TOO_LONG_MS && build !== (current ?? ''))
    .filter(({ build }) => polled.includes(build))
    .map(({ build, ageMs }) => {
      const workers = pollers.filter((one) => one.build === build);
      const who = workers.map(({ identity, lastPollAt }) => `${identity}${lastPollWords(lastPollAt)}`).join(', ');
      return {
        ...{ name: `build ${build}`, state: 'missing' },
        found: `its workers pick up no work, which has waited for ${formatDuration(ageMs)}: ${who}`,
        how: `see whether they are gone, stopped (ps -o stat says T) or busy; ${workerCommand(build)} starts another; two minutes after its last poll a worker counts as gone, and doctor then says how to continue without it`,
      };
    });

const buildName = (build: Build): string => (build === null ? 'no build' : `build ${build}`);

function checkOfCurrent(current: Build, others: readonly Build[], taskQueue: string): DoctorCheck {
  const [other] = others;
  const instead = other === undefined ? '' : `, or let ${buildName(other)} have it: ${currentBuildCommand(other)}`;
  return {
    ...{ name: CHECK_NAME, state: 'missing' },
    found: `${noWorkerWords(current)} polls the task queue ${taskQueue}, and all new work waits for one`,
    how: `${workerCommand(current)}${instead}`,
  };
}

function checkOfStuck({ build, isPolled, count, some }: StuckOnBuild): DoctorCheck {
  const them = `${plural(count, 'workflow')}: ${some.join(', ')}${count > some.length ? ', …' : ''}`;
  const move = 'conveyor doctor --repair moves them to the workers that get new work';
  return isPolled
    ? {
        name: `build ${build}`,
        state: 'warning',
        found: `an older worker pinned workflows to it that should follow the current build: ${them}`,
        how: move,
      }
    : {
        ...{ name: `build ${build}`, state: 'missing' },
        found: `no worker runs it, and workflows that began on it wait for one: ${them}`,
        how: `${workerCommand(build)}; or, if that build is gone for good: ${move}`,
      };
}

/** The workflows that were stuck on a build and have been moved. */
export const repairBuilds = async (env: Env): Promise<readonly string[]> =>
  (await withBuilds(env, (builds) => builds.repair())) ?? [];

async function withBuilds<T>(env: Env, use: (builds: Builds) => Promise<T>): Promise<T | undefined> {
  const { temporal: address } = usualAddresses(env, {});
  if (!(await accepts(parseHost(address), parsePort(address), ANSWERS_WITHIN_MS))) return undefined;
  // Loaded here, because loading it with this file would slow every other command by half a second.
  const { openBuilds } = await import('../../client/builds');
  const taskQueue = env.CONVEYOR_TASK_QUEUE || 'conveyor';
  const builds = await openBuilds(taskQueue, { address, namespace: env.TEMPORAL_NAMESPACE || undefined });
  try {
    return await use(builds);
  } finally {
    await builds.close();
  }
}
