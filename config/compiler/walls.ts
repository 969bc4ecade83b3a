import { dirname } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { REQUIRED, type Guarantee } from '../../domain/isolation';
import type { ProgramSettings } from '../../platform/programs';
import type { Scripts } from '../../platform/scripts';
import { NO_ISOLATION, thisMachine, type IsolationMethod, type Machine } from '../../runner/method';
import { barePlaces } from '../../runner/places';
import { probe, type Isolation } from '../../runner/probe';
import { programReads } from './installation';

/** How programs are kept in on this machine. Plain data, so that a process may hand it on to another. */
export type ProgramWalls =
  /** Programs of the user who runs this process, such as the author's own: they run like any program of that user. */
  | { readonly kind: 'own' }
  /** Programs of others. */
  | {
      readonly kind: 'others';
      readonly method: IsolationMethod;
      /** The walls that are missing: no program runs unless this is empty. */
      readonly missing: readonly Guarantee[];
      /** Why a better method does not work here, if that is known. */
      readonly why: string | null;
    };

export const OWN_PROGRAMS: ProgramWalls = { kind: 'own' };

/** What keeps them in is not known yet. */
export const NO_PROGRAMS: ProgramWalls = { kind: 'others', method: NO_ISOLATION, missing: REQUIRED, why: null };

/** Tries once, when it is first asked, which walls this machine has. The settings at that time say which ones may be missing. */
export function wallsOf(
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
