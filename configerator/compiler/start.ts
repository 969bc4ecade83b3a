import type { ChildProcess } from 'node:child_process';
import { NO_ISOLATION } from '../../sandbox/method';
import { barePlaces } from '../../sandbox/places';
import { killGroup } from '../../sandbox/processGroup';
import { launch } from '../../sandbox/scriptProcess';
import { closeWorkplace, openWorkplace } from '../../sandbox/workplace';
import { programReads } from './installation';
import type { ProgramWalls } from './walls';

export interface WalledProgram {
  readonly child: ChildProcess;
  /** Kills the rest of the process, and removes its files. */
  end(): void;
}

const MB = 1024 * 1024;
/** Leaves out tokens and NODE_OPTIONS. */
const ENVIRONMENT = { TZ: 'UTC', LC_ALL: 'C' };

/** Starts a command behind the walls that this machine has. */
export function startWalled(command: readonly string[], dataMb: number, walls: ProgramWalls): WalledProgram {
  const method = walls.kind === 'own' ? NO_ISOLATION : walls.method;
  const isApart = method.namespaces !== null;
  const workplace = isApart ? openWorkplace('config-program', {}, method) : null;
  const places = workplace && barePlaces(programReads(), workplace.stage);
  const limits = {
    memoryBytes: dataMb * MB,
    totalMemoryBytes: dataMb * MB,
    processes: 512,
    cpus: null,
    cpuMs: 120_000,
  };
  const inside = {
    ...{ command, directory: '/', network: 'none' as const, limits: { ...limits, fileBytes: MB } },
    places: places ?? { stage: '', privates: [], kept: [], writable: [] },
  };
  // The author's own program ends with the terminal from which it was started.
  const child = launch(method, inside, { env: ENVIRONMENT, input: 'pipe', detached: walls.kind === 'others' });
  const end = (): void => {
    if (child.exitCode === null && child.signalCode === null) {
      if (walls.kind === 'others' && child.pid !== undefined) killGroup(child.pid);
      else child.kill('SIGKILL');
    }
    if (workplace !== null) closeWorkplace(workplace);
  };
  return { child, end };
}
