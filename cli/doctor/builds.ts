import { noWorkerWords, workerCommand, type Build, type BuildsView, type StuckOnBuild } from '../../domain/builds';
import { plural } from '../../domain/text';
import { DEPLOYMENT } from '../../domain/taskQueues';
import type { Env } from '../../platform/env';
import { hostOf, portOf, usualAddresses } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import type { Builds } from '../../client/builds';
import { ANSWERS_WITHIN_MS, type DoctorCheck } from './check';

const CHECK_NAME = 'builds of workers';

/** Whether each build that has work has workers; nothing if workers have no builds. */
export function buildChecks(view: BuildsView | null): DoctorCheck[] {
  if (view === null) return [];
  const { current, polled, taskQueue, stuck } = view;
  const checks = stuck.map(checkOfStuck);
  const others = polled.filter((build) => build !== current);
  if (!polled.includes(current)) checks.unshift(checkOfCurrent(current, others, taskQueue));
  if (checks.length > 0) return checks;
  const beside = others.length === 0 ? '' : `; workers of ${others.map(buildName).join(', ')} too`;
  return [{ name: CHECK_NAME, state: 'ok', found: `new work goes to ${buildName(current)}${beside}`, how: null }];
}

const buildName = (build: Build): string => (build === null ? 'no build' : `build ${build}`);

function checkOfCurrent(current: Build, others: readonly Build[], taskQueue: string): DoctorCheck {
  const [other] = others;
  const instead =
    other === undefined
      ? ''
      : `, or let ${buildName(other)} have it: temporal worker deployment set-current-version --deployment-name ${DEPLOYMENT} ${other === null ? '--unversioned' : `--build-id ${other}`}`;
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
        found: `an older worker pinned to it workflows that should follow the current build: ${them}`,
        how: move,
      }
    : {
        ...{ name: `build ${build}`, state: 'missing' },
        found: `no worker runs it, and what began on it waits for one: ${them}`,
        how: `${workerCommand(build)}; or, if that build is gone for good: ${move}`,
      };
}

/** The workflows that were stuck on a build and have been moved. */
export const repairBuilds = async (env: Env): Promise<readonly string[]> =>
  (await withBuilds(env, (builds) => builds.repair())) ?? [];

async function withBuilds<T>(env: Env, use: (builds: Builds) => Promise<T>): Promise<T | undefined> {
  const { temporal: address } = usualAddresses(env, {});
  if (!(await accepts(hostOf(address), portOf(address), ANSWERS_WITHIN_MS))) return undefined;
  // If this file loaded it, every other command would take half a second longer.
  const { openBuilds } = await import('../../client/builds');
  const taskQueue = env.CONVEYOR_TASK_QUEUE || 'conveyor';
  const builds = await openBuilds(taskQueue, { address, namespace: env.TEMPORAL_NAMESPACE || undefined });
  try {
    return await use(builds);
  } finally {
    await builds.close();
  }
}
