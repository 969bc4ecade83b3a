import { spawn, type ChildProcess, type IOType, type StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { devNull, constants as os } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { conveyorError } from '../domain/errors';
import { rootCause } from '../domain/rootCause';
import { openGroup, type ScriptGroup } from './cgroup';
import { listInheritableFiles } from './descriptors';
import { buildSandboxCommand, type Inside } from './enclosure';
import { mayExecute } from './files';
import type { IsolationMethod } from './method';

/** A running script: the first process of its own group. */
export interface ScriptProcess {
  readonly group: number;
  /** Settles when the first process has ended; others of its group may still run. */
  readonly ended: Promise<ScriptExit>;
  /** Settles when it exceeds the output limit; further output is dropped. */
  readonly flooded: Promise<void>;
  /** Settles when no process can write any more. */
  readonly silent: Promise<void>;
  /**
   * Kills its remaining processes through its control group, if it has one. @returns whether they exceeded their joint
   * memory limit
   */
  endAll(): Promise<boolean>;
}

export interface ScriptExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Reads the output of a script. */
export interface Listener {
  /** Returns a reader for one of its streams. */
  listen(): (text: string) => void;
}

export interface ScriptStart extends Omit<Inside, 'group'> {
  readonly runId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputLimitBytes: number;
  readonly log: Listener;
}

/** Starts a command, never through a shell that would read it. @throws script-not-runnable */
export async function startScript(method: IsolationMethod, start: ScriptStart): Promise<ScriptProcess> {
  const [name = ''] = start.command;
  const unusable = (detail: string) => conveyorError('script-not-runnable', { command: name, detail });
  const own = groupFor(method, start, unusable);
  const endAll = async (): Promise<boolean> => (await own?.end()) ?? false;
  try {
    return { ...(await spawnIn(own?.folder, method, start, unusable)), endAll };
  } catch (error) {
    await endAll();
    throw error;
  }
}

type Unusable = (detail: string) => Error;

function groupFor(
  { groups }: IsolationMethod,
  { runId, limits }: ScriptStart,
  unusable: Unusable,
): ScriptGroup | undefined {
  try {
    return groups === null ? undefined : openGroup(groups, runId, limits);
  } catch (error) {
    throw unusable(`it could not be isolated: ${rootCause(error)}`);
  }
}

async function spawnIn(
  group: string | undefined,
  method: IsolationMethod,
  start: ScriptStart,
  unusable: Unusable,
): Promise<Omit<ScriptProcess, 'endAll'>> {
  const { command, directory, env } = start;
  const [name = ''] = command;
  if (!existsSync(directory)) throw unusable(`the folder for scripts, ${directory}, does not exist`);
  refuseUnfit(name, directory, env['PATH'] ?? '', unusable);
  const inside = { ...start, group, directory: realpathSync(directory) };
  const child = launch(method, inside, { env, input: 'ignore', detached: true });
  const ended = new Promise<ScriptExit>((done) =>
    child.once('exit', (code, signal) => done(method.namespaces === null ? { code, signal } : asSignal(code, signal))),
  );
  const silent = new Promise<void>((done) => child.once('close', () => done()));
  const flooded = followOutput(child, start);
  await awaitProgramStart(method, child).catch((error: Error) => Promise.reject(unusable(error.message)));
  return { group: child.pid ?? 0, ended, silent, flooded };
}

interface Launch {
  readonly env: Readonly<Record<string, string>>;
  readonly input: 'ignore' | 'pipe';
  /** Whether it starts its own process group. */
  readonly detached: boolean;
}

/** Starts the program of a method. */
export function launch(method: IsolationMethod, inside: Inside, { env, input, detached }: Launch): ChildProcess {
  const [file = '', ...args] = buildSandboxCommand(method, inside);
  const account = method.tools === null ? (method.account ?? {}) : {};
  const options = { cwd: inside.directory, env: { ...env }, shell: false, detached, ...account };
  return withNothingElse(method, input, (stdio) => spawn(file, args, { ...options, stdio }));
}

/** Settles once only the program itself can still fail. @throws Error with the complaints so far; the program has then not run */
async function awaitProgramStart(method: IsolationMethod, child: ChildProcess): Promise<void> {
  await new Promise<void>((started, failed) => {
    child.once('spawn', started);
    child.once('error', failed);
  });
  if (child.pid === undefined) throw new Error('it has no process id');
  if (method.tools !== null) await untilLaunched(child);
}

/** Input, output and the ready pipe; all other inherited descriptors of the worker are closed. */
function withNothingElse(
  method: IsolationMethod,
  input: 'ignore' | 'pipe',
  start: (stdio: StdioOptions) => ChildProcess,
): ChildProcess {
  const ours: (IOType | number)[] = [input, 'pipe', 'pipe', ...(method.tools === null ? [] : ['pipe' as const])];
  const others = listInheritableFiles(ours.length);
  const nothing = openSync(devNull, 'r');
  try {
    const last = Math.max(ours.length - 1, ...others);
    return start(Array.from({ length: last + 1 }, (_, fd) => ours[fd] ?? (others.includes(fd) ? nothing : 'ignore')));
  } finally {
    closeSync(nothing);
  }
}

/** Finds problems beforehand that would later look like a failure of the script. */
function refuseUnfit(name: string, directory: string, path: string, unusable: Unusable): void {
  const isPath = name.includes('/');
  const folders = path.split(delimiter).map((folder) => (isAbsolute(folder) ? folder : resolve(directory, folder)));
  const files = isPath ? [resolve(directory, name)] : folders.map((folder) => join(folder, name));
  const found = files.filter((file) => existsSync(file) && statSync(file).isFile());
  if (found.length === 0) throw unusable(`it was not found, neither on PATH nor from ${directory}`);
  if (!found.some(mayExecute)) throw unusable('it may not be executed');
}

/** Fails with the complaints if the script could not be isolated; then it has not run. */
async function untilLaunched(child: ChildProcess): Promise<void> {
  let complaint = '';
  const collect = (text: string): void => void (complaint = (complaint + text).slice(0, 1_000));
  child.stderr?.on('data', collect);
  const isReady = await new Promise<boolean>((settle) => {
    const channel = child.stdio[3] as Readable;
    channel.once('data', () => settle(true));
    channel.once('error', () => settle(false));
    // Its messages are complete only then.
    child.once('close', () => settle(false));
  });
  child.stderr?.off('data', collect);
  if (isReady) return;
  const [line = 'no reason given'] = complaint.trim().split('\n');
  throw new Error(`it could not be isolated: ${line || 'no reason given'}`);
}

function followOutput(
  { stdout, stderr }: ChildProcess,
  { log, outputLimitBytes }: Pick<ScriptStart, 'log' | 'outputLimitBytes'>,
): Promise<void> {
  let bytes = 0;
  return new Promise<void>((flood) => {
    for (const stream of [stdout, stderr]) {
      const collect = log.listen();
      stream?.setEncoding('utf8').on('data', (text: string) => {
        if (bytes > outputLimitBytes) return;
        bytes += Buffer.byteLength(text);
        collect(text);
        if (bytes > outputLimitBytes) flood();
      });
    }
  });
}

/** A shell reports a child killed by a signal as 128 plus the signal number. */
function asSignal(code: number | null, signal: string | null): ScriptExit {
  const name = SIGNALS.find(([, number]) => code === 128 + number)?.[0];
  return name === undefined ? { code, signal } : { code: null, signal: name };
}

const SIGNALS = (
  ['SIGILL', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL', 'SIGSEGV', 'SIGPIPE', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ'] as const
).map((name) => [name, os.signals[name]] as const);
