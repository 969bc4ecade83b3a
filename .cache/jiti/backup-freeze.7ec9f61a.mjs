"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.LONGEST_PAUSE_S = void 0;exports.whileStopped = whileStopped;var _nodeChild_process = await jitiImport("node:child_process");
var _nodeEvents = await jitiImport("node:events");
var _nodeFs = await jitiImport("node:fs");
var _promises = await jitiImport("node:timers/promises");
var _run = await jitiImport("./run");

/** A copy that takes longer is aborted, because Temporal answers no request meanwhile. */
const LONGEST_PAUSE_S = exports.LONGEST_PAUSE_S = 60;
/** A thread stops once it returns from its present system call. */
const STOP_PATIENCE_MS = 5_000;
const LOOK_MS = 1;

/**
 * A guard process lets them continue: when we say so, when we are gone, or when the time is up. It has its own process
 * group, to survive Ctrl-C in a terminal, and ignores signals that a service manager sends to a whole service, which
 * may be ours.
 */
const GUARD = [
"trap '' TERM HUP INT PIPE",
`(sleep ${LONGEST_PAUSE_S}; kill -CONT "$@") >/dev/null 2>&1 &`,
'kill -STOP "$@" && echo stopped || echo refused',
'read -r _',
'kill -CONT "$@"',
'kill -KILL 0'].
join('\n');







/**
 * Stops processes with SIGSTOP, and lets them continue once `act` has ended. Their files do not change meanwhile, as
 * after kill −9. @throws Error if they cannot be stopped, or were not stopped all the time
 */
async function whileStopped(pids, act) {
  if (pids.length === 0) return { result: await act(), pausedMs: 0 };
  const guard = (0, _nodeChild_process.spawn)('sh', ['-c', GUARD, 'guard', ...pids.map(String)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore']
  });
  guard.stdin.on('error', () => undefined);
  const fromMs = performance.now();
  try {
    await stopEach(guard, pids);
    const result = await act();
    if (!(await areStopped(pids))) throw new Error(`it did not stay paused until the end of the copy`);
    return { result, pausedMs: Math.ceil(performance.now() - fromMs) };
  } finally {
    for (const pid of pids) letContinue(pid);
    guard.stdin.end();
    if (isRunning(guard)) await (0, _nodeEvents.once)(guard, 'close');
  }
}

/** The guard does the same, but may have been killed. */
function letContinue(pid) {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {

    // It has ended, or we were never allowed to stop it.
  }}

const isRunning = ({ pid, exitCode, signalCode }) =>
pid !== undefined && exitCode === null && signalCode === null;

async function stopEach(guard, pids) {
  const [answer] = await Promise.race([
  (0, _nodeEvents.once)(guard.stdout ?? guard, 'data'),
  (0, _nodeEvents.once)(guard, 'error'),
  (0, _nodeEvents.once)(guard, 'close')]
  );
  if (answer instanceof Error) throw answer;
  if (!String(answer).startsWith('stopped'))
  throw new Error(`process ${pids.join(', ')} cannot be stopped by this user: run conveyor backup as its user`);
  for (const untilMs = Date.now() + STOP_PATIENCE_MS; !(await areStopped(pids)); await (0, _promises.setTimeout)(LOOK_MS))
  if (Date.now() > untilMs) throw new Error(`process ${pids.join(', ')} cannot be paused: its disk may hang`);
}

async function areStopped(pids) {
  const states = await Promise.all(pids.map((pid) => threadStates(pid)));
  return states.flat().every((state) => /^[Tt]/.test(state));
}

/** The state of each thread on Linux, else of the process. */
async function threadStates(pid) {
  if (process.platform !== 'linux')
  return [(await (0, _run.callProgram)('ps', ['-o', 'state=', '-p', String(pid)])).stdout.trim()];
  return listThreads(pid).map((stat) => stat.slice(stat.lastIndexOf(')') + 2));
}

/** An ended thread does not count as stopped. */
function listThreads(pid) {
  try {
    return (0, _nodeFs.readdirSync)(`/proc/${pid}/task`).map((id) => (0, _nodeFs.readFileSync)(`/proc/${pid}/task/${id}/stat`, 'utf8'));
  } catch {
    return ['(gone) X'];
  }
} /* v9-26c05edb5e534cbe */
