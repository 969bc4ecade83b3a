import type { Env } from '../../sdk/env';
import type { Check } from './check';
import { checkBuild, checkDisk, checkNode, checkPackages, checkTemporalBinary, checkTestServer } from './machine';
import { checkConfig, checkFinders, checkPorts, checkTemporal, checkWebhooks } from './surroundings';

/** Everything that `conveyor doctor` looks at, in the order in which to mend it. Looks only: nothing is installed or started. */
export async function runChecks(env: Env = process.env): Promise<Check[]> {
  const looks = await Promise.all([
    checkTemporalBinary(env),
    checkTestServer(env),
    checkDisk(env),
    checkTemporal(env),
    checkFinders(env),
    checkPorts(env),
  ]);
  return [checkNode(), checkPackages(), checkBuild(), checkConfig(env), ...checkWebhooks(env), ...looks.flat()];
}
