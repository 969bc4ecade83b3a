import { setTimeout as wait } from 'node:timers/promises';
import type { Env } from '../../settings/env';
import type { ConnectOptions, Io } from '../io';
import { serverFetch } from '../serverFetch';
import type { DoctorCheck } from './check';
import { checkStoreCertificates } from './certificates';
import { checkDoor } from './door';
import { checkBuild, checkDisk, checkNode, checkPackages, checkTemporalBinary, checkTestServer } from './machine';
import { checkPrograms } from './programs';
import { checkScripts } from './scripts';
import { checkConfig, checkPorts, checkWebhooks } from './surroundings';

/**
 * All checks of `conveyor doctor`, in the order in which to fix problems. It only looks: nothing is installed, and
 * processes started to test script isolation end with it.
 */
export async function runChecks(
  environment: Env = process.env,
  connect: ConnectOptions = {},
  io: Pick<Io, 'askServer' | 'sleep'> = { askServer: serverFetch, sleep: async (ms) => void (await wait(ms)) },
): Promise<DoctorCheck[]> {
  const env = { ...environment, ...flagsAsEnv(connect) };
  const looks = await Promise.all([
    checkTemporalBinary(env),
    checkTestServer(env),
    checkDisk(env),
    checkDoor(env, connect, io),
    checkPorts(env),
    checkScripts(env),
    checkPrograms(env),
  ]);
  const found = [
    checkNode(),
    checkPackages(),
    checkBuild(),
    ...checkConfig(env),
    ...checkWebhooks(env),
    ...checkStoreCertificates(env),
    ...looks.flat(),
  ];
  return withoutOwnTemporal(found);
}

/** A machine whose Temporal runs elsewhere needs no server of its own. */
export function withoutOwnTemporal(checks: readonly DoctorCheck[]): DoctorCheck[] {
  const answers = checks.some(({ name, state }) => state === 'ok' && ELSEWHERE_ANSWERS.includes(name));
  return checks.map((check) =>
    answers && check.name === 'Temporal server' && check.state === 'missing' ? { ...check, state: 'warning' } : check,
  );
}

const ELSEWHERE_ANSWERS: readonly string[] = ['Temporal', 'temporal of the server'];

/** Flags take precedence over the environment, as for every other command. */
export const flagsAsEnv = ({ address, namespace, taskQueue }: ConnectOptions): Env => ({
  ...(address !== undefined && { TEMPORAL_ADDRESS: address }),
  ...(namespace !== undefined && { TEMPORAL_NAMESPACE: namespace }),
  ...(taskQueue !== undefined && { CONVEYOR_TASK_QUEUE: taskQueue }),
});
