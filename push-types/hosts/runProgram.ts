import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { MOST_OUTPUT_BYTES, type RunResult } from './port';

export interface ProgramOptions {
  /** The whole standard input, or the file with it. */
  readonly input?: string | { readonly file: string };
  readonly timeoutMs: number;
  readonly mostBytes?: number;
  readonly cwd?: string;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The program did not end in time, or could not be started. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/**
 * Runs a program of this machine by its list of arguments, without a shell. Its process group is killed after `timeoutMs`.
 * @throws ProgramError if it cannot be started, takes too long or prints too much
 */
export function runToEnd(argv: readonly string[], options: ProgramOptions): Promise<RunResult> {
  const { input, timeoutMs, mostBytes = MOST_OUTPUT_BYTES, cwd, env } = options;
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { detached: true, stdio: 'pipe', cwd, env });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    };
    const fail = (why: string): void => {
      clearTimeout(timer);
      kill();
      reject(new ProgramError(`${program} ${why}`));
    };
    const timer = setTimeout(() => fail(`did not end within ${timeoutMs} ms`), timeoutMs);
    const texts = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        texts[stream] += text;
        if (texts[stream].length > mostBytes) fail(`printed more than ${mostBytes} bytes`);
      });
    child.on('error', (error) => fail(`cannot be started: ${error.message}`));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 255, ...texts });
    });
    // A program may end without reading its input.
    child.stdin.on('error', () => undefined);
    if (typeof input === 'object')
      createReadStream(input.file)
        .on('error', (error) => fail(error.message))
        .pipe(child.stdin);
    else child.stdin.end(input ?? '');
  });
}
