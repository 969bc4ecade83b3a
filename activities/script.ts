import { CancelledFailure, Context } from '@temporalio/activity';
import { decideScripts } from '../domain/access/usage';
import { conveyorError } from '../domain/errors';
import { LOG_LIMITS } from '../domain/limits';
import type { ScriptLog } from '../domain/scriptLog';
import { formatDuration } from '../domain/text';
import { withoutIsolation } from '../domain/isolation';
import type { RunningScript, Runner } from '../sandbox/runner';
import type { ScriptExit } from '../sandbox/scriptProcess';
import type { Scripts } from '../settings/scripts';
import type { ActionEnd, ActionSeen } from './actionService';
import { withHeartbeats, wallClock, type Clock } from './clock';
import { requireAllowed, type ReadPlatform } from './authority';
import { asFailure } from './failure';
import { lastLine, LogKeeper } from './scriptLog';
import type { SnapshotStore } from './snapshots';
import { scriptEnvironment, scriptFacts } from './scriptEnvironment';
import type { ScriptRun } from './scriptEnvironment';

/**
 * The output of the script, for people. It is in the result, in the detail of a cancellation (both in the history), and in heartbeats.
 */
export interface ScriptWrote {
  readonly log: ScriptLog;
}

/** `message` is one line. */
export type ScriptEnd = ActionEnd & ScriptWrote;

/** The heartbeat. */
type ScriptSeen = Pick<ActionSeen, 'action' | 'run' | 'progress' | 'message'> & ScriptWrote;

export interface ScriptPorts {
  readonly clock: Clock;
  readonly scripts: Scripts;
  readonly runner: Runner;
  readonly platform?: ReadPlatform;
  readonly snapshots: SnapshotStore;
}

export type ScriptActivities = ReturnType<typeof createScriptActivities>;

export function createScriptActivities(ports: ScriptPorts) {
  const { scripts, runner } = ports;
  return {
    /**
     * Runs a script to its end; exit code 0 is success. No process that it started outlives it. A cancellation, a timeout or too much
     * output stops it. It runs at least once: if a worker dies, it runs again after its remains on this machine are stopped.
     * @throws scripts-off, script-not-runnable (not retried), CancelledFailure with `ScriptWrote`
     */
    runScript: (run: ScriptRun): Promise<ScriptEnd> =>
      asFailure(async () => {
        const { runId, command } = run;
        if (!scripts.enabled) throw conveyorError('scripts-off', { command: command[0] ?? '' });
        requireAllowed(ports.platform, run, run.facts.pipeline, decideScripts);
        if (Context.current().info.attempt > 1) await runner.stopStrays(runId);
        const { facts, texts } = await scriptFacts(ports, run);
        const env = { ...scriptEnvironment(run, scripts), ...facts };
        const log = await createScriptLog(run, ports);
        const script = await runner.start({ runId, command, env, texts, log });
        try {
          return await followScript(run, script, log, ports);
        } catch (error) {
          throw error instanceof CancelledFailure ? new CancelledFailure(error.message, [wrote(run, log)]) : error;
        } finally {
          script.close();
        }
      }),
  };
}

/** The log begins with the missing isolation of the script, if any. */
async function createScriptLog(run: ScriptRun, { scripts, runner }: ScriptPorts): Promise<LogKeeper> {
  const secrets = run.env.flatMap((name) => scripts.variables[name] ?? []);
  const beat = () => Context.current().heartbeat(seen(run, new LogKeeper()));
  const { missing } = await withHeartbeats(beatEvery(run), beat, runner.isolation);
  const lacks = withoutIsolation(missing);
  return new LogKeeper(secrets, lacks === null ? '' : `conveyor: ${lacks}\n`);
}

/** How a script ended: by itself, or because it was stopped for this reason. */
type ScriptStop = { readonly exit: ScriptExit } | { readonly stopped: string };

const SCRIPT_POLL_MS = 500;
/**
 * The output of its processes is complete as soon as they are gone; a process that left the group is not waited for.
 */
const OUTPUT_GRACE_MS = 1_000;

async function followScript(
  run: ScriptRun,
  script: RunningScript,
  log: LogKeeper,
  { clock, scripts }: ScriptPorts,
): Promise<ScriptEnd> {
  const context = Context.current();
  const overdue = deadline(run, { clock, scripts });
  const ends = Promise.race<ScriptStop>([
    script.ended.then((exit) => ({ exit })),
    script.flooded.then(() => ({ stopped: `it wrote more than ${scripts.outputLimitBytes} bytes` })),
    overdue.reached,
    context.cancelled,
  ]);
  const beat = (): void => {
    context.heartbeat(seen(run, log));
    overdue.look();
  };
  return withHeartbeats(beatEvery(run), beat, async () => {
    let outOfMemory = false;
    const end = await ends.finally(async () => {
      ({ outOfMemory } = await script.stop());
      const silenceSeen = new AbortController();
      await Promise.race([script.silent, wallClock.sleep(OUTPUT_GRACE_MS, silenceSeen.signal)]);
      silenceSeen.abort();
    });
    return scriptEnd(run, end, log, outOfMemory);
  });
}

const beatEvery = ({ heartbeatTimeoutMs }: ScriptRun): number => Math.min(SCRIPT_POLL_MS, heartbeatTimeoutMs / 3);

const seen = ({ action, runId }: ScriptRun, log: LogKeeper): ScriptSeen => ({
  ...{ action, run: runId, progress: null },
  message: lastLine(log.latest()),
  log: log.read(LOG_LIMITS.liveLog.max),
});

/** Polls the clock instead of sleeping on it, because a process takes real time under any clock. */
function deadline({ timeoutMs }: ScriptRun, { clock, scripts }: Pick<ScriptPorts, 'clock' | 'scripts'>) {
  const limitMs = Math.min(timeoutMs ?? Infinity, scripts.maxDurationMs);
  const startedAt = clock.now();
  let pass: (end: ScriptStop) => void = () => undefined;
  const reached = new Promise<ScriptStop>((resolve) => (pass = resolve));
  const look = async (): Promise<void> => {
    if ((await clock.now()) - (await startedAt) >= limitMs)
      pass({ stopped: `it ran for ${formatDuration(limitMs)}, its limit` });
  };
  // If the clock cannot be read now, it is read again in a moment.
  return { reached, look: () => void look().catch(() => undefined) };
}

function scriptEnd(run: ScriptRun, end: ScriptStop, log: LogKeeper, outOfMemory: boolean): ScriptEnd {
  const [name = ''] = run.command;
  const stopped = 'stopped' in end;
  const lastWords = lastLine(log.latest());
  const short = outOfMemory ? ', having taken more memory than limits.totalMemory in all' : '';
  const how = stopped ? `was stopped: ${end.stopped}` : `ended ${howEnded(end.exit)}${short}`;
  const message = stopped || lastWords === null ? `${name} ${how}` : `${name} ${how}: ${lastWords}`;
  return { succeeded: !stopped && end.exit.code === 0, message, outputs: [], ...wrote(run, log) };
}

function wrote({ logBytes = LOG_LIMITS.laterLog.max }: ScriptRun, log: LogKeeper): ScriptWrote {
  log.end();
  return { log: log.read(logBytes) };
}

const howEnded = ({ code, signal }: ScriptExit): string =>
  signal === null ? `with exit code ${code}` : `by ${signal}`;
