import { dirname } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { REQUIRED, type Guarantee } from '../../domain/isolation';
import type { ProgramSettings } from '../../settings/programs';
import type { Scripts } from '../../settings/scripts';
import { NO_ISOLATION, thisMachine, type IsolationMethod, type Machine } from '../../sandbox/method';
import { barePlaces } from '../../sandbox/places';
import { probe, type Isolation } from '../../sandbox/probe';
import { programReads } from './installation';

/** The isolation of programs on this machine. Plain data, so that a process can pass it to another. */
export type ProgramWalls =
  /** Programs of the user who runs this process, such as the author's own: they run like any program of that user. */
  | { readonly kind: 'own' }
  /** Programs of other authors. */
  | {
      readonly kind: 'others';
      readonly method: IsolationMethod;
      /** The missing guarantees: no program runs unless this is empty. */
      readonly missing: readonly Guarantee[];
      /** Why a better method does not work here, if known. */
      readonly why: string | null;
    };

export const OWN_PROGRAMS: ProgramWalls = { kind: 'own' };

/** The isolation is not known yet. */
export const NO_PROGRAMS: ProgramWalls = { kind: 'others', method: NO_ISOLATION, missing: REQUIRED, why: null };

/**
 * Tests this machine's isolation once, on first use. The settings at that time name the guarantees that may be missing.
 */
export function createWallsProbe(
  settings: { readonly scripts: Scripts; readonly configPrograms: ProgramSettings },
  tried: (scripts: Scripts) => Promise<Isolation> = tryWalls,
): () => Promise<ProgramWalls> {
  let known: Promise<Isolation> | undefined;
  return async () => {
    const { method, missing, refused } = await (known ??= tried(settings.scripts));
    const { allowMissing } = settings.configPrograms;
    const lacking = missing.filter((name) => REQUIRED.includes(name) && !allowMissing.includes(name));
    return { kind: 'others', method, missing: lacking, why: refused[0] ?? null };
  };
}

/** As for scripts, whose account they share, except that programs see less of the machine and need no control group. */
export function tryWalls(scripts: Scripts, machine: Machine = thisMachine(scripts)) {
  const program = {
    ...scripts,
    directory: '/',
    network: 'none' as const,
    writable: [],
    path: dirname(process.execPath),
  };
  return probe(program, { ...machine, cgroup: null }, (_scripts, { stage }) => barePlaces(programReads(), stage));
}

/** @throws ConveyorError `config-programs-unprotected` */
export function requireWalls(walls: ProgramWalls): void {
  if (walls.kind === 'own' || walls.missing.length === 0) return;
  throw conveyorError('config-programs-unprotected', { missing: walls.missing, why: walls.why });
}
