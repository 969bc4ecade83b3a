import { tryWalls } from '../../configerator/compiler/walls';
import { ConveyorError } from '../../domain/errors';
import { GUARANTEES, REQUIRED, withoutIsolation } from '../../domain/isolation';
import type { Env } from '../../settings/env';
import type { ProgramSettings } from '../../settings/programs';
import { loadRegistry, type Registry } from '../../settings/registry';
import type { Isolation } from '../../sandbox/probe';
import type { DoctorCheck } from './check';

/** The isolation of configuration programs on this machine, if there is a repository of configuration. */
export async function checkPrograms(env: Env): Promise<DoctorCheck[]> {
  const registry = tryLoadRegistry(env);
  if (registry === undefined || registry.configRepositories.length === 0) return [];
  return programChecks(await tryWalls(registry.scripts), registry.configPrograms);
}

function programChecks(
  { missing, refused }: Pick<Isolation, 'missing' | 'refused'>,
  { allowMissing }: ProgramSettings,
): DoctorCheck[] {
  const name = 'programs of configuration';
  const lacking = missing.filter((one) => REQUIRED.includes(one));
  const [first] = lacking;
  if (first === undefined) return [{ name, state: 'ok', found: 'isolated', how: null }];
  const forbidden = lacking.filter((one) => !allowMissing.includes(one));
  const then = forbidden.length === 0 ? 'the settings allow it' : 'servers and workers run none here';
  const why = refused[0] === undefined ? '' : ` (${refused[0]})`;
  return [
    {
      ...{ name, state: 'warning' },
      found: `${withoutIsolation(lacking)?.replace('it', 'them')}${why}; ${then}`,
      how: `${GUARANTEES[first].fix}${forbidden.length === 0 ? '' : `; or config.programs.allowMissing: [${forbidden.join(', ')}] in conveyor.config.yaml`}`,
    },
  ];
}

/** A wrong configuration has its own check. */
function tryLoadRegistry(env: Env): Registry | undefined {
  try {
    return loadRegistry(undefined, env);
  } catch (error) {
    if (error instanceof ConveyorError) return undefined;
    throw error;
  }
}
