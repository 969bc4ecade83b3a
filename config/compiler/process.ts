import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CONFIG_LIMITS } from '../../domain/limits';
import { formatBytes } from '../../domain/size';
import { installRoot } from '../../platform/registry';
import { entryOf } from '../entry';
import type { At, CompilerJob, JobResult } from './job';
import { readLine } from './lines';

export interface ProcessLimits {
  /** For each program, and for each value that is checked. */
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly outputBytes: number;
}

export const PROCESS_LIMITS: ProcessLimits = { timeoutMs: 10_000, memoryMb: 128, outputBytes: 64 * 1024 };

/** A process that ended without a result, by itself or by us. */
export class NoResult extends Error {
  constructor(
    readonly how: string,
    readonly at: At | null,
    /** The end of what it wrote. */
    readonly tail: string,
  ) {
    super(how);
  }
}

/** A machine that is busy starts processes slowly, which is no fault of theirs. */
const START_MS = 60_000;
/** What a program can exhaust although nobody waits for it any more, since whoever started it was killed. */
const CPU_SECONDS = 120;
const RESULT_BYTES = 4 * CONFIG_LIMITS.change.max;

/** Runs a job in a process of its own, which is given nothing of ours. @throws NoResult */
export async function runJob<J extends CompilerJob>(
  job: J,
  limits: ProcessLimits,
): Promise<Extract<JobResult, { kind: J['kind'] }>> {
  const child = start(job, limits);
  try {
    return (await followedChild(child, job, limits)) as Extract<JobResult, { kind: J['kind'] }>;
  } finally {
    child.kill('SIGKILL');
  }
}

function start({ kind }: CompilerJob, { memoryMb }: ProcessLimits): ChildProcess {
  const limited = ['-c', `ulimit -c 0; ulimit -t ${CPU_SECONDS}; exec "$@"`, 'limited'];
  // A function of ours that a program gets hold of makes no code of texts for it. Schemas in JSON are compiled so; they hold no code.
  const noEval = kind === 'raw' ? [] : ['--disallow-code-generation-from-strings'];
  const heap = [`--max-old-space-size=${memoryMb}`, '--stack-size=800'];
  const flags = ['--no-warnings', ...heap, ...noEval, ...permissions()];
  return spawn('/bin/sh', [...limited, process.execPath, ...flags, ...entryOf(join(__dirname, 'child/main'), false)], {
    // Nothing of ours: neither tokens nor NODE_OPTIONS.
    env: { TZ: 'UTC', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
}

/** It may read our own code and write nothing, start nothing and load no addons. */
function permissions(): readonly string[] {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  const root = installRoot();
  const packages = join(root, 'node_modules');
  const places = [root, ...(existsSync(packages) ? [realpathSync(packages)] : [])];
  return [flag, ...places.map((place) => `--allow-fs-read=${place}/*`)];
}

function followedChild(child: ChildProcess, job: CompilerJob, limits: ProcessLimits): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    let at: At | null = null;
    let tail = '';
    let written = 0;
    const end = (how: string): void => {
      clearTimeout(timer);
      reject(new NoResult(how, at, tail.trim().slice(-500)));
    };
    let timer = setTimeout(() => end('it did not start'), START_MS);
    const receive = (text: string): void => {
      clearTimeout(timer);
      const line = readLine(text, job.kind);
      if (line === undefined) return end('what it answered cannot be read');
      if ('result' in line) return resolve(line.result);
      at = line.at;
      timer = setTimeout(() => end(`it ran for more than ${limits.timeoutMs / 1_000}s`), limits.timeoutMs);
    };
    lines(child.stdio[3] as Readable, receive, () => end(`its values have more than ${formatBytes(RESULT_BYTES)}`));
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        written += Buffer.byteLength(text);
        tail = (tail + text).slice(-4_000);
        if (written > limits.outputBytes && at !== null) end(`it wrote more than ${formatBytes(limits.outputBytes)}`);
      });
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
    return `it took more than ${memoryMb} MB of memory`;
  return signal === null ? `it ended with exit code ${code} before it was done` : `it was ended by ${signal}`;
}
