import { aheadWords, isClockWrong } from '../../domain/clocks';
import type { ExaminationView } from '../../domain/examination';
import type { DoctorCheck } from './check';

const CLOCKS_DIFFER_MS = 30_000;

/**
 * Checks the clocks of the examining machine and of each reached worker against Temporal's. @param machine the machine
 * whose clock was compared
 */
export const clockChecks = ({ clockAheadMs, end }: ExaminationView, machine: string): DoctorCheck[] => [
  ...machineChecks(clockAheadMs, machine),
  ...(end.kind === 'answered' ? workerChecks(end.clocks ?? []) : []),
];

function machineChecks(aheadMs: number | null, machine: string): DoctorCheck[] {
  if (aheadMs === null || Math.abs(aheadMs) < CLOCKS_DIFFER_MS) return [];
  return [
    {
      ...{ name: 'clock', state: 'warning', found: `Temporal's clock is ${aheadWords(aheadMs)} that of ${machine}` },
      how: 'find the wrong clock and set it by NTP: timers and windows follow the clock of Temporal, tokens and proofs that of each machine',
    },
  ];
}

const workerChecks = (clocks: NonNullable<Extract<ExaminationView['end'], { kind: 'answered' }>['clocks']>) =>
  clocks
    .filter(({ aheadMs }) => isClockWrong(aheadMs))
    .map(({ identity, aheadMs }): DoctorCheck => ({
      ...{ name: 'clock of a worker', state: 'missing' },
      found: `that of ${identity} is ${aheadWords(aheadMs)} Temporal's`,
      how: `set the clock ${hostWords(identity)} by NTP (chronyc tracking and timedatectl show it), or that of Temporal if all workers differ alike; meanwhile bakes and health follow Temporal's clock, and requests to extensions and proofs of commands may be refused`,
    }));

function hostWords(identity: string): string {
  const [, host] = /^\d+@(.+)$/.exec(identity) ?? [];
  return host === undefined ? 'of its machine' : `of ${host}`;
}
