import type { ChildProcess } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CONFIG_LIMITS } from '../../domain/limits';
import { formatBytes } from '../../domain/size';
import { buildEntryArgs } from '../entry';
import { readableCode } from './installation';
import type { At, CompilerJob, JobResult } from './job';
import { readLine } from './lines';
import { startWalled } from './start';
import { requireWalls, type ProgramWalls } from './walls';

export interface ProcessLimits {
  /** The time limit of each program, and of each checked value. */
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

export const PROCESS_LIMITS: ProcessLimits = { timeoutMs: 10_000, memoryMb: 128 };

/** A process that ended without a result, by itself or because we killed it. */
export class NoResult extends Error {
  constructor(
    readonly how: string,
    readonly at: At | null,
    /** The end of its output. */
    readonly tail: string,
  ) {
    super(how);
  }
}

/** The time to start, because a busy machine starts processes slowly. */
const START_MS = 60_000;
/** The CPU limit of an orphaned program, whose parent process was killed. */
const CPU_SECONDS = 120;
const RESULT_BYTES = 4 * CONFIG_LIMITS.change.max;

/**
 * Runs a job in a separate process, which inherits nothing from ours. @throws NoResult; ConveyorError
 * `config-programs-unprotected`
 */
export async function runJob<J extends CompilerJob>(
  job: J,
  limits: ProcessLimits,
  walls: ProgramWalls,
): Promise<Extract<JobResult, { kind: J['kind'] }>> {
  // The other jobs only read untrusted code and do not run it.
  if (job.kind === 'program' || job.kind === 'check') requireWalls(walls);
  const program = startWalled(programCommand(job, limits), dataMb(limits), walls);
  try {
    return (await followChild(program.child, job, limits)) as Extract<JobResult, { kind: J['kind'] }>;
  } finally {
    program.end();
  }
}

function programCommand({ kind }: CompilerJob, limits: ProcessLimits): readonly string[] {
  // Forbids code from strings, in case a program gets hold of one of our functions. JSON Schemas need it to be
  // compiled; they contain no code.
  const noEval = kind === 'raw' ? [] : ['--disallow-code-generation-from-strings'];
  const heap = [`--max-old-space-size=${limits.memoryMb}`, '--stack-size=800'];
  const flags = ['--no-warnings', '--expose-internals', ...heap, ...noEval, ...permissions()];
  const limited = `ulimit -c 0; ulimit -t ${CPU_SECONDS}; ulimit -d ${dataMb(limits) * 1024} 2>/dev/null; exec "$@"`;
  const program = [process.execPath, ...flags, ...buildEntryArgs(join(__dirname, 'child/main'), false)];
  return ['/bin/sh', '-c', limited, 'limited', ...program];
}

/** Room for Node itself, and for memory outside the heap. */
const dataMb = ({ memoryMb }: ProcessLimits): number => 2 * memoryMb + 512;

/** It may read our own code, but not write files, start processes or load addons. */
function permissions(): readonly string[] {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  return [flag, ...readableCode().map((place) => `--allow-fs-read=${place}${isSymbolicLink(place) ? '' : '/'}*`)];
}

/** The target of a link has to be readable too. Node refuses two rules if one is the beginning of the other. */
const isSymbolicLink = (place: string): boolean => lstatSync(place).isSymbolicLink();

function followChild(child: ChildProcess, job: CompilerJob, limits: ProcessLimits): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    let at: At | null = null;
    let tail = '';
    const end = (how: string): void => {
      clearTimeout(timer);
      reject(new NoResult(how, at, tail.trim().slice(-500)));
    };
    let timer = setTimeout(() => end('it did not start'), START_MS);
    const receive = (text: string): void => {
      clearTimeout(timer);
      const line = readLine(text, job.kind);
      if (line === undefined) return end('its answer cannot be read');
      if ('result' in line) return resolve(line.result);
      at = line.at;
      timer = setTimeout(() => end(`it ran for more than ${limits.timeoutMs / 1_000}s`), limits.timeoutMs);
    };
    lines(child.stdout as Readable, receive, () => end(`its values have more than ${formatBytes(RESULT_BYTES)}`));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => void (tail = (tail + text).slice(-4_000)));
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => end(`it could not be started: ${error.message}`));
    child.on('close', (code, signal) => end(howItEnded(code, signal, tail, limits)));
    child.stdin?.end(JSON.stringify(job));
  });
}

function lines(stream: Readable, receive: (line: string) => void, tooLong: () => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    rest += text;
    if (rest.length > RESULT_BYTES) return tooLong();
    for (let cut = rest.indexOf('\n'); cut >= 0; cut = rest.indexOf('\n')) {
      receive(rest.slice(0, cut));
      rest = rest.slice(cut + 1);
    }
  });
}

function howItEnded(code: number | null, signal: string | null, tail: string, { memoryMb }: ProcessLimits): string {
  if (/heap out of memory|invalid (array|string) length|Zone/i.test(tail) && code !== 0)
    return `it used more than ${memoryMb} MB of memory`;
  return signal === null ? `it ended with exit code ${code} before it was done` : `it was ended by ${signal}`;
}
