import type { Env } from '../../sdk/env';
import { checkBuild, checkDisk, checkNode, checkPackages, checkTemporalBinary, checkTestServer } from './machine';
import { checkConfig, checkPorts, checkTemporal } from './surroundings';

/** One thing that Conveyor needs. `missing` stops something from working, `warning` may. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'missing' | 'warning';
  /** What is there. */
  readonly found: string;
  /** How to get it or to mend it; null where nothing is to be done. */
  readonly how: string | null;
}

/** Everything that `conveyor doctor` looks at, in the order in which to mend it. Looks only: nothing is installed or started. */
export async function runChecks(env: Env = process.env): Promise<Check[]> {
  const looks = await Promise.all([
    checkTemporalBinary(env),
    checkTestServer(env),
    checkDisk(env),
    checkTemporal(env),
    checkPorts(env),
  ]);
  return [checkNode(), checkPackages(), checkBuild(), checkConfig(env), ...looks.flat()];
}
