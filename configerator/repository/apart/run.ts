import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ConveyorError, conveyorError, type ErrorCode } from '../../../domain/errors';
import { buildEntryArgs } from '../../entry';
import type { ProposalJob, ProposalOutcome, Results } from './job';

/** The length of the output's end that is kept for error messages. */
const LAST_OUTPUT = 2_000;

/**
 * Runs a job in a separate process, because parsing many sources takes seconds. @throws ConveyorError of the job;
 * `config-repository-unreachable` if it exceeds the time limit
 */
export async function runApart<K extends ProposalJob['kind']>(
  job: ProposalJob & { readonly kind: K },
  timeoutMs: number,
): Promise<Results[K]> {
  const outcome = await jobOutcome(job, timeoutMs);
  if ('result' in outcome) return outcome.result as Results[K];
  const { code, message, hint, retryable, exit } = outcome.thrown;
  throw new ConveyorError(code as ErrorCode, message, hint, retryable, exit);
}

function jobOutcome(job: ProposalJob, timeoutMs: number): Promise<ProposalOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', ...buildEntryArgs(join(__dirname, 'main'), true)], {
      env: environment(),
      cwd: '/',
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    let [text, tail, isLate] = ['', '', false];
    const patience = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    (child.stdio[3] as Readable).setEncoding('utf8').on('data', (part: string) => void (text += part));
    child.stderr?.setEncoding('utf8').on('data', (part: string) => void (tail = (tail + part).slice(-LAST_OUTPUT)));
    // It may have ended before it had read everything.
    child.stdin?.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(patience);
      const detail = `no answer within ${timeoutMs / 1_000}s`;
      if (text !== '') resolve(JSON.parse(text) as ProposalOutcome);
      else if (isLate) reject(conveyorError('config-repository-unreachable', { repository: job.ref.name, detail }));
      else reject(new Error(`a process for ${job.kind} of ${job.ref.name} ended without an outcome: ${tail}`));
    });
    child.stdin?.end(JSON.stringify(job));
  });
}

/** Only the variables that git needs: neither tokens nor NODE_OPTIONS. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, SSH_AUTH_SOCK } = process.env;
  return { ...(PATH === undefined ? {} : { PATH }), ...(SSH_AUTH_SOCK === undefined ? {} : { SSH_AUTH_SOCK }) };
}
