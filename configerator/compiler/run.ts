import { createHash } from 'node:crypto';
import { concurrencyGate } from '../../sdk/concurrency';
import type { CompilerJob, JobResult } from './job';
import { runJob, type ProcessLimits } from './process';
import type { ProgramWalls } from './walls';

/** Results by the digest of their job: the same code gives the same values, which each run verifies. */
export interface RunMemory {
  get(key: string): string | undefined;
  set(key: string, result: string): void;
}

export type Run = <J extends CompilerJob>(job: J) => Promise<Extract<JobResult, { kind: J['kind'] }>>;

/** Increase this with every change that gives the same job another result. */
const FORMAT = 2;

/** Limits the number of processes at once; remembered results need none. */
export function createCachedRun(
  limits: ProcessLimits,
  walls: ProgramWalls,
  memory: RunMemory | undefined,
  atOnce: number,
): Run {
  const turn = concurrencyGate(atOnce);
  return async <J extends CompilerJob>(job: J) => {
    type Result = Extract<JobResult, { kind: J['kind'] }>;
    const key = createHash('sha256')
      .update(`${FORMAT} ${JSON.stringify(job)}`)
      .digest('hex');
    const known = memory?.get(key);
    if (known !== undefined) return JSON.parse(known) as Result;
    const result = await turn(() => runJob(job, limits, walls));
    memory?.set(key, JSON.stringify(result));
    return result;
  };
}
