import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { conveyorError } from '../domain/errors';
import { isJsonObject } from '../domain/json';
import { isRunning, machineId, readProcessStart } from './processLife';

/** The exclusive right to write some files, until it is released or this process ends. */
export interface Claim {
  release(): void;
}

/** The process that has the claim. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly machine: string;
  readonly started: string | null;
  /** ms since the epoch. */
  readonly since: number;
  /** No two claims are alike. */
  readonly token: string;
}

interface ClaimOptions {
  /** The name of the files in errors. */
  readonly what: string;
  /** Called when another process has taken over because this one hung. It must not write any more. */
  readonly onLost: (error: Error) => void;
  /** How often the claim is checked. Default 5 s. */
  readonly beatMs?: number;
}

const BEAT_MS = 5_000;
/** A holder on another machine counts as dead after this long without a sign of life. */
const SILENT_MS = 20_000;
/** Other processes may take over at the same time; one of them then has the files. */
const MOST_TRIES = 10;

/**
 * Claims files for this process, and takes over the claim of a killed one.
 * @param file the file that names the holder
 * @throws ConveyorError `files-in-use`, with the holder; the error of the disk if the file cannot be written
 */
export function claim(file: string, { what, onLost, beatMs = BEAT_MS }: ClaimOptions): Claim {
  const text = JSON.stringify(describeOwnProcess());
  take(file, text, what);
  const release = (): void => {
    clearInterval(beating);
    process.off('exit', release);
    if (readClaim(file) === text) rmSync(file, { force: true });
  };
  const beating = setInterval(() => {
    const holder = findOtherHolder(file, text);
    if (holder === undefined) return;
    release();
    onLost(createInUseError(what, holder));
  }, beatMs).unref();
  process.once('exit', release);
  return { release };
}

function take(file: string, text: string, what: string): void {
  let found: string | undefined;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (tryPut(file, text)) return;
    found = readClaim(file);
    if (found === undefined) continue;
    const holder = parseHolder(found);
    if (holder === undefined ? !isSilent(file) : mayHold(holder, file)) break;
    takeAway(file, found);
  }
  throw createInUseError(what, found === undefined ? undefined : parseHolder(found));
}

/** Writes the claim atomically. False if there already is one. */
function tryPut(file: string, text: string): boolean {
  const own = `${file}.${randomUUID()}`;
  try {
    writeFileSync(own, text);
    linkSync(own, file);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes the claim of a dead process. A claim that another process has made meanwhile is restored. */
function takeAway(file: string, dead: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') !== dead) linkSync(aside, file);
  } catch (error) {
    // Another process was faster.
    if (!hasErrorCode(error, 'ENOENT', 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Shows that this process is alive; returns the new holder if the claim was lost. */
function findOtherHolder(file: string, text: string): Holder | undefined {
  try {
    const found = readClaim(file);
    if (found !== undefined && found !== text) return parseHolder(found);
    // Claims the files again after the folder was emptied.
    if (found === undefined) tryPut(file, text);
    utimesSync(file, new Date(), new Date());
  } catch {
    // If the disk refuses writes, it refuses those of other processes, too.
  }
  return undefined;
}

function mayHold({ pid, machine, started }: Holder, file: string): boolean {
  if (machine !== machineId()) return !isSilent(file);
  return isRunning(pid) && readProcessStart(pid) === started;
}

const isSilent = (file: string): boolean =>
  Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > SILENT_MS;

const describeOwnProcess = (): Holder => ({
  ...{ pid: process.pid, host: hostname(), machine: machineId(), started: readProcessStart(process.pid) },
  ...{ since: Date.now(), token: randomUUID() },
});

/** Undefined for text that no claim wrote. */
function parseHolder(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    const isHolder = isJsonObject(value) && typeof value['pid'] === 'number' && typeof value['since'] === 'number';
    return isHolder ? (value as unknown as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function readClaim(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function createInUseError(what: string, holder: Holder | undefined): Error {
  const { pid, host, since = 0 } = holder ?? {};
  const by =
    holder === undefined
      ? 'another process'
      : `process ${pid} on ${host}, since ${new Date(since).toISOString().slice(0, 19)}Z`;
  return conveyorError('files-in-use', { what, by });
}

const hasErrorCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');
