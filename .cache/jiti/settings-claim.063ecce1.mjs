"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.claim = claim;var _nodeCrypto = await jitiImport("node:crypto");
var _nodeFs = await jitiImport("node:fs");
var _nodeOs = await jitiImport("node:os");
var _errors = await jitiImport("../domain/errors");
var _json = await jitiImport("../domain/json");
var _processLife = await jitiImport("./processLife");

/** The exclusive right to write some files, until it is released or this process ends. */




/** The process that has the claim. */




















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
function claim(file, { what, onLost, beatMs = BEAT_MS }) {
  const text = JSON.stringify(describeOwnProcess());
  take(file, text, what);
  const release = () => {
    clearInterval(beating);
    process.off('exit', release);
    if (readClaim(file) === text) (0, _nodeFs.rmSync)(file, { force: true });
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

function take(file, text, what) {
  let found;
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
function tryPut(file, text) {
  const own = `${file}.${(0, _nodeCrypto.randomUUID)()}`;
  try {
    (0, _nodeFs.writeFileSync)(own, text);
    (0, _nodeFs.linkSync)(own, file);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    (0, _nodeFs.rmSync)(own, { force: true });
  }
}

/** Removes the claim of a dead process. A claim that another process has made meanwhile is restored. */
function takeAway(file, dead) {
  const aside = `${file}.${(0, _nodeCrypto.randomUUID)()}`;
  try {
    (0, _nodeFs.renameSync)(file, aside);
    if ((0, _nodeFs.readFileSync)(aside, 'utf8') !== dead) (0, _nodeFs.linkSync)(aside, file);
  } catch (error) {
    // Another process was faster.
    if (!hasErrorCode(error, 'ENOENT', 'EEXIST')) throw error;
  } finally {
    (0, _nodeFs.rmSync)(aside, { force: true });
  }
}

/** Shows that this process is alive; returns the new holder if the claim was lost. */
function findOtherHolder(file, text) {
  try {
    const found = readClaim(file);
    if (found !== undefined && found !== text) return parseHolder(found);
    // Claims the files again after the folder was emptied.
    if (found === undefined) tryPut(file, text);
    (0, _nodeFs.utimesSync)(file, new Date(), new Date());
  } catch {

    // If the disk refuses writes, it refuses those of other processes, too.
  }return undefined;
}

function mayHold({ pid, machine, started }, file) {
  if (machine !== (0, _processLife.machineId)()) return !isSilent(file);
  return (0, _processLife.isRunning)(pid) && (0, _processLife.readProcessStart)(pid) === started;
}

const isSilent = (file) =>
Date.now() - ((0, _nodeFs.statSync)(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > SILENT_MS;

const describeOwnProcess = () => ({
  ...{ pid: process.pid, host: (0, _nodeOs.hostname)(), machine: (0, _processLife.machineId)(), started: (0, _processLife.readProcessStart)(process.pid) },
  ...{ since: Date.now(), token: (0, _nodeCrypto.randomUUID)() }
});

/** Undefined for text that no claim wrote. */
function parseHolder(text) {
  try {
    const value = JSON.parse(text);
    const isHolder = (0, _json.isJsonObject)(value) && typeof value['pid'] === 'number' && typeof value['since'] === 'number';
    return isHolder ? value : undefined;
  } catch {
    return undefined;
  }
}

function readClaim(file) {
  try {
    return (0, _nodeFs.readFileSync)(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function createInUseError(what, holder) {
  const { pid, host, since = 0 } = holder ?? {};
  const by =
  holder === undefined ?
  'another process' :
  `process ${pid} on ${host}, since ${new Date(since).toISOString().slice(0, 19)}Z`;
  return (0, _errors.conveyorError)('files-in-use', { what, by });
}

const hasErrorCode = (error, ...codes) =>
codes.includes(error.code ?? ''); /* v9-b5dd0a60ec2ebf9a */
