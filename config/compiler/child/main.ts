import { readFileSync } from 'node:fs';
import type { At, Job, Line } from '../job';
import { runCheck } from './check';
import { runProgram } from './program';
import { runRaw } from './raw';
import { writeNow } from './write';

/** Where results go; what programs write goes elsewhere. */
const RESULT_FD = 3;

const write = (line: Line): void => writeNow(RESULT_FD, `${JSON.stringify(line)}\n`);
const reportPlace = (at: At): void => write({ at });

const job = JSON.parse(readFileSync(0, 'utf8')) as Job;
if (job.kind === 'program') reportPlace({ path: job.file, invariant: null });
const result =
  job.kind === 'program'
    ? runProgram(job)
    : job.kind === 'check'
      ? runCheck(job, reportPlace)
      : runRaw(job, reportPlace);
write({ result });
