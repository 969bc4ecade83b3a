import { readFileSync, writeSync } from 'node:fs';
import { ConveyorError } from '../../../domain/errors';
import { dependenciesAt } from '../dependencies';
import { computeDifference } from '../difference';
import { ConfigRepository } from '../repository';
import { createDraft, requestChange } from '../requests';
import type { ProposalJob, ProposalOutcome } from './job';

/** The descriptor for the outcome. */
const OUTCOME_FD = 3;

async function run(job: ProposalJob): Promise<unknown> {
  const repository = await ConfigRepository.open(job.ref, job.copies, job.gitTimeoutMs);
  if (job.kind === 'why') return dependenciesAt(repository, await repository.head(), job.path);
  if (job.kind === 'diff') return computeDifference(repository, await createDraft(repository, job.wanted));
  const { author, key, nowMs, pipelines, rights, groups } = job;
  return requestChange(repository, job.request, { author, key, nowMs, pipelines, rights, groups });
}

function write(outcome: ProposalOutcome): void {
  let rest = Buffer.from(JSON.stringify(outcome));
  while (rest.length > 0) rest = rest.subarray(writeSync(OUTCOME_FD, rest));
}

run(JSON.parse(readFileSync(0, 'utf8')) as ProposalJob).then(
  (result) => write({ result }),
  (error: unknown) => {
    if (!(error instanceof ConveyorError)) throw error;
    const { code, message, hint, retryable, exit } = error;
    write({ thrown: { code, message, hint, retryable, exit } });
  },
);
