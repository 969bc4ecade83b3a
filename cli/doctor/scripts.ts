import { ConveyorError } from '../../domain/errors';
import { GUARANTEES, type Guarantee } from '../../domain/isolation';
import { probe, type Isolation } from '../../sandbox/probe';
import type { Env } from '../../settings/env';
import { loadRegistry } from '../../settings/registry';
import type { Scripts } from '../../settings/scripts';
import type { DoctorCheck } from './check';

/** The isolation of scripts on this machine, if scripts are allowed at all. */
export async function checkScripts(env: Env): Promise<DoctorCheck[]> {
  const scripts = tryLoadScripts(env);
  if (scripts === undefined) return [];
  if (!scripts.enabled) return [{ name: 'scripts', state: 'ok', found: 'off', how: null }];
  return scriptChecks(await probe(scripts), scripts);
}

export function scriptChecks(
  { missing, refused, ungrouped }: Isolation,
  { required }: Pick<Scripts, 'required'>,
): DoctorCheck[] {
  if (missing.length === 0) return [{ name: 'scripts', state: 'ok', found: 'on, and isolated', how: null }];
  const whyNot = (name: Guarantee): string => {
    const why = name === 'total' ? ungrouped : refused[0];
    return why === undefined ? '' : ` (${why})`;
  };
  return missing.map((name) => ({
    name: `scripts: ${name}`,
    state: required.includes(name) ? 'missing' : 'warning',
    found: `nothing keeps a script from ${GUARANTEES[name].keepsFrom}${whyNot(name)}`,
    how: GUARANTEES[name].fix,
  }));
}

/** A separate check reports mistakes in a configuration. */
function tryLoadScripts(env: Env): Scripts | undefined {
  try {
    return loadRegistry(undefined, env).scripts;
  } catch (error) {
    if (error instanceof ConveyorError) return undefined;
    throw error;
  }
}
