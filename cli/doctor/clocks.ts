import { aheadWords, isClockWrong } from '../../domain/clocks';
import type { ExaminationView } from '../../domain/examination';
import type { DoctorCheck } from './check';

const CLOCKS_DIFFER_MS = 30_000;

/** Clocks that differ from Temporal's: of the machine that examines, and of each worker that was reached. @param machine has the clock that was compared */
export const clockChecks = ({ clockAheadMs, end }: ExaminationView, machine: string): DoctorCheck[] => [
  ...machineChecks(clockAheadMs, machine),
  ...(end.kind === 'answered' ? workerChecks(end.clocks ?? []) : []),
];

function machineChecks(aheadMs: number | null, machine: string): DoctorCheck[] {
  if (aheadMs === null || Math.abs(aheadMs) < CLOCKS_DIFFER_MS) return [];
  return [
    {
      ...{ name: 'clock', state: 'warning', found: `Temporal's clock is ${aheadWords(aheadMs)} that of ${machine}` },
      how: 'find the one that is wrong and set it by NTP: timers and windows go by that of Temporal, tokens and proofs by that of each machine',
    },
  ];
}

const workerChecks = (clocks: NonNullable<Extract<ExaminationView['end'], { kind: 'answered' }>['clocks']>) =>
  clocks
    .filter(({ aheadMs }) => isClockWrong(aheadMs))
    .map(({ identity, aheadMs }): DoctorCheck => ({
      ...{ name: 'clock of a worker', state: 'missing' },
      found: `that of ${identity} is ${aheadWords(aheadMs)} Temporal's`,
      how: `set the clock ${hostWords(identity)} by NTP (chronyc tracking and timedatectl show it), or that of Temporal if all workers differ alike; meanwhile bakes and health go by Temporal's, and requests to extensions and proofs of commands may be refused`,
    }));

function hostWords(identity: string): string {
  const [, host] = /^\d+@(.+)$/.exec(identity) ?? [];
  return host === undefined ? 'of its machine' : `of ${host}`;
}
