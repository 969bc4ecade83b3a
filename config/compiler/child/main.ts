import { readFileSync } from 'node:fs';
import type { At, CompilerJob, JobResult, Line } from '../job';
import { runCheck } from './check';
import { runParse } from './parse';
import { runProgram } from './program';
import { runRaw } from './raw';
import { writeNow } from './write';

/** Where results go; what programs write goes elsewhere. */
const RESULT_FD = 3;

const write = (line: Line): void => writeNow(RESULT_FD, `${JSON.stringify(line)}\n`);
const reportPlace = (at: At): void => write({ at });

const job = JSON.parse(readFileSync(0, 'utf8')) as CompilerJob;
if (job.kind === 'program') reportPlace({ path: job.file, invariant: null });
write({ result: run(job) });

function run(one: CompilerJob): JobResult {
  switch (one.kind) {
    case 'parse':
      return runParse(one, reportPlace);
    case 'program':
      return runProgram(one);
    case 'check':
      return runCheck(one, reportPlace);
    case 'raw':
      return runRaw(one, reportPlace);
  }
}
