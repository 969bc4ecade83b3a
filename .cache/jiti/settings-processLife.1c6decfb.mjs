"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.isRunning = isRunning;exports.machineId = machineId;exports.readProcessStart = void 0;var _nodeFs = await jitiImport("node:fs");
var _nodeOs = await jitiImport("node:os");

/** Whether a process of this machine, recorded by another one, still runs. */

/** The id of this boot of the machine or container, because process ids are only valid within it. */
function machineId() {
  const boot = read(() => (0, _nodeFs.readFileSync)('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return boot === undefined ? (0, _nodeOs.hostname)() : `${boot} ${read(() => (0, _nodeFs.readlinkSync)('/proc/self/ns/pid')) ?? ''}`;
}

/** The start time of a process, in its machine's units. Ids are reused, but never with the same start. Null if the system does not report it. */
const readProcessStart = (pid) => readProcStat(pid)?.[19] ?? null;

/** Includes processes of other users. A zombie does not count as running. */exports.readProcessStart = readProcessStart;
function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  return !['Z', 'X'].includes(readProcStat(pid)?.[0] ?? '');
}

/** The fields of Linux's process status, from the state on; undefined on other systems. */
function readProcStat(pid) {
  const text = read(() => (0, _nodeFs.readFileSync)(`/proc/${pid}/stat`, 'utf8'));
  // The program name comes first, in parentheses, and may contain anything.
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(from) {
  try {
    return from();
  } catch {
    return undefined;
  }
} /* v9-85e276865dc2bd2d */
