import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from './waiting';

export const ROOT = join(__dirname, '..', '..');

export type Env = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real process that a test started. */
export interface Running {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves once stdout matches; fails if the process ends before. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** As `said`, of stderr. */
  complained(pattern: RegExp): Promise<RegExpExecArray>;
}

/** The environment that processes of the tests get from ours: without the variables for Temporal or Conveyor that a person may have set. */
export const cleanEnv = (home: string): Env => ({ PATH: process.env['PATH'] ?? '', HOME: home, NO_COLOR: '1' });

/** Starts processes and leaves none behind: `reap` kills what still runs, each by its own id. */
export class Processes {
  private readonly alive = new Set<Running>();

  start(command: string, args: readonly string[], env: Env): Running {
    const child = spawn(command, [...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    const running: Running = {
      pid: child.pid ?? 0,
      stdout: () => stdout,
      stderr: () => stderr,
      ended,
      kill: (signal) => void child.kill(signal),
      said: (pattern) => heard(running, running.stdout, pattern),
      complained: (pattern) => heard(running, running.stderr, pattern),
    };
    this.alive.add(running);
    void ended.then(
      () => this.alive.delete(running),
      () => this.alive.delete(running),
    );
    return running;
  }

  /** A compiled program of ours. */
  node(script: string, args: readonly string[], env: Env): Running {
    return this.start(process.execPath, [join(ROOT, script), ...args], env);
  }

  /** Asks every process to end, then kills it; resolves when all are gone. */
  async reap(): Promise<void> {
    const left = [...this.alive];
    for (const running of left) running.kill('SIGTERM');
    const impatience = setTimeout(() => left.forEach((running) => running.kill('SIGKILL')), 5_000);
    await Promise.allSettled(left.map((running) => running.ended));
    clearTimeout(impatience);
  }
}

async function heard(running: Running, output: () => string, pattern: RegExp): Promise<RegExpExecArray> {
  let over: Ended | undefined;
  void running.ended.then((ended) => (over = ended));
  const answer = await eventually(`a process says ${pattern}`, () => {
    const match = pattern.exec(output());
    return Promise.resolve(match ?? (over ? { over } : undefined));
  });
  if ('over' in answer)
    throw new Error(`it ended with ${answer.over.code} before it said ${pattern}:\n${answer.over.stderr}`);
  return answer;
}
