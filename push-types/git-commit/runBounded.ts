import { spawn } from 'node:child_process';

/** Runs a program of this machine by its list of arguments, without a shell, within bounds. */

export interface BoundedOptions {
  /** The whole standard input. */
  readonly input?: string;
  readonly timeoutMs: number;
  readonly mostBytes: number;
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends the program early. */
  readonly signal?: AbortSignal;
}

/** The end of a program. */
export interface BoundedResult {
  readonly code: number;
  readonly output: Buffer;
  readonly stderr: string;
  /** It took too long, printed too much, or was ended by `signal`. */
  readonly isCut: boolean;
}

const MOST_STDERR = 8_000;

/** Any exit code is an answer. The process group is killed at a bound. @throws Error if the program cannot be started */
export function runBounded(program: string, args: readonly string[], options: BoundedOptions): Promise<BoundedResult> {
  const { input = '', timeoutMs, mostBytes, env, signal } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: '/', stdio: 'pipe', detached: true, env });
    let isCut = false;
    const cut = (): void => {
      isCut = true;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    };
    const timer = setTimeout(cut, timeoutMs);
    signal?.addEventListener('abort', cut, { once: true });
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBytes) cut();
      else chunks.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr = (stderr + text).slice(-MOST_STDERR)));
    // It may end before it has read all of its input.
    child.stdin.on('error', () => undefined);
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cut);
    };
    child.on('error', (error) => {
      release();
      reject(new Error(`${program} cannot be started: ${error.message}`));
    });
    child.on('close', (code) => {
      release();
      resolve({ code: code ?? 128, output: Buffer.concat(chunks), stderr, isCut });
    });
    child.stdin.end(input);
  });
}
