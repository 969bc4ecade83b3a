import { readFileSync } from 'node:fs';
import type { At, CompilerJob, JobResult, Line } from '../job';
import { writeStacksApart } from './stacks';
import { writeNow } from './write';

const STDOUT_FD = 1;

const write = (line: Line): void => writeNow(STDOUT_FD, `${JSON.stringify(line)}\n`);
const reportPlace = (at: At): void => write({ at });

void main();

async function main(): Promise<void> {
  const job = JSON.parse(readFileSync(0, 'utf8')) as CompilerJob;
  const run = await loadRunner(job);
  write({ result: run() });
  // Exit before anything else gets a turn: a program may leave promises behind.
  process.exit();
}

/** Each job loads only what it needs. */
async function loadRunner(job: CompilerJob): Promise<() => JobResult> {
  switch (job.kind) {
    case 'parse': {
      const { runParse } = await import('./parse');
      return () => runParse(job, reportPlace);
    }
    case 'raw': {
      const { runRaw } = await import('./raw');
      return () => runRaw(job, reportPlace);
    }
    case 'program': {
      const { runProgram } = await import('./program');
      writeStacksApart();
      return () => runProgram(job, reportPlace);
    }
    case 'check': {
      const { runCheck } = await import('./check');
      writeStacksApart();
      return () => runCheck(job, reportPlace);
    }
  }
}
