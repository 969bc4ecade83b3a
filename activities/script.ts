import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CancelledFailure, Context } from '@temporalio/activity';
import { conveyorError } from '../domain/errors';
import type { Selection } from '../domain/deploy/snapshot';
import { stepUnits } from '../domain/deploy/steps';
import { LOG_LIMITS } from '../domain/limits';
import type { ScriptLog } from '../domain/scriptLog';
import { formatDuration } from '../domain/text';
import type { Scripts } from '../sdk/scripts';
import type { ActionEnd, ActionSeen } from './actionService';
import { beating, wallClock, type Clock } from './clock';
import { asFailure } from './failure';
import { groupsWith, stopGroup } from './processGroup';
import { LogKeeper } from './scriptLog';
import { unitsIn, type SnapshotStore } from './snapshots';
import { lastLine, startScript, type ScriptExit, type ScriptProcess } from './scriptProcess';

/** One run of a script: an action of its own, or what a deploy runs before and after a phase. */
export interface ScriptRun {
  /** Given to the script as `CONVEYOR_RUN`: the same when it is run again, so that it can see what it did already. */
  readonly runId: string;
  /** What `status` shows its progress beside. */
  readonly action: string;
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Variables of the worker that it asks for. */
  readonly env: readonly string[];
  readonly facts: ScriptFacts;
  /** Null: the platform's limit alone. */
  readonly timeoutMs: number | null;
  readonly heartbeatTimeoutMs: number;
  /** How much of its log is kept. */
  readonly logBytes?: number;
}

/** Become `CONVEYOR_PIPELINE`, `CONVEYOR_PREVIOUS_VERSION` and so on; what is left out is not set. */
export interface ScriptFacts {
  readonly pipeline: string;
  /** `kvstore/12` */
  readonly release: string;
  /** `kvstore/12/deploy` */
  readonly deploy?: string;
  readonly phase?: string;
  readonly version?: string;
  /** `CONVEYOR_UNITS` is the path of a file with their ids, one a line; `CONVEYOR_PREVIOUS_VERSION` follows from them. */
  readonly selection?: Selection;
  /** What counts as the version before where the units ran several, or none. */
  readonly lastGood?: string | null;
}

/** What it wrote, for people: in the result and in the detail of a cancellation, which are in the history, and in heartbeats. */
export interface ScriptWrote {
  readonly log: ScriptLog;
}

/** `message` is one line. */
export type ScriptEnd = ActionEnd & ScriptWrote;

/** What is heartbeaten. */
type ScriptSeen = Pick<ActionSeen, 'action' | 'run' | 'progress' | 'message'> & ScriptWrote;

interface Ports {
  readonly clock: Clock;
  readonly scripts: Scripts;
  readonly snapshots: SnapshotStore;
}

export type ScriptActivities = ReturnType<typeof createScriptActivities>;

export function createScriptActivities(ports: Ports) {
  const { scripts } = ports;
  return {
    /**
     * Runs a script to its end: exit code 0 is success. Nothing that it started outlives it; on cancellation, time-out or a flood
     * of output its process group is stopped. At least once: after the death of a worker it is run again, once what was left
     * of it on this machine is stopped.
     * @throws script-not-runnable (not retried), CancelledFailure with `ScriptWrote`
     */
    runScript: (run: ScriptRun): Promise<ScriptEnd> =>
      asFailure(async () => {
        if (Context.current().info.attempt > 1) await stopLeftovers(run, scripts);
        const folder = await mkdtemp(join(tmpdir(), 'conveyor-script-'));
        try {
          const env = { ...allowed(run, scripts), ...(await facts(ports, run, folder)) };
          const log = new LogKeeper(run.env.flatMap((name) => scripts.variables[name] ?? []));
          const script = await startScript({ ...scripts, command: run.command, env, log });
          return await follow(run, script, log, ports).catch((error: unknown) => {
            throw error instanceof CancelledFailure ? new CancelledFailure(error.message, [wrote(run, log)]) : error;
          });
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
  };
}

async function stopLeftovers({ runId }: ScriptRun, { stopGraceMs }: Scripts): Promise<void> {
  await Promise.all(groupsWith('CONVEYOR_RUN', runId).map((group) => stopGroup(group, stopGraceMs)));
}

function allowed({ command, env }: ScriptRun, { path, variables }: Scripts): Record<string, string> {
  const forbidden = env.filter((name) => !Object.hasOwn(variables, name));
  if (forbidden.length > 0)
    throw conveyorError('script-not-runnable', {
      command: command[0] ?? '',
      detail: `it asks for ${forbidden.join(', ')}, which scripts.env of conveyor.config.yaml does not list`,
    });
  const given = env.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]] as const]));
  return { PATH: path, ...Object.fromEntries(given) };
}

async function facts(
  { snapshots }: Pick<Ports, 'snapshots'>,
  { runId, facts: of }: ScriptRun,
  folder: string,
): Promise<Record<string, string>> {
  const ofUnits = of.selection && stepUnits(await unitsIn(snapshots, of.selection), of.lastGood ?? null);
  const units = ofUnits && join(folder, 'units');
  if (units !== undefined) await writeFile(units, (ofUnits?.units ?? []).map((unit) => `${unit}\n`).join(''));
  const known = {
    CONVEYOR_RUN: runId,
    CONVEYOR_PIPELINE: of.pipeline,
    CONVEYOR_RELEASE: of.release,
    CONVEYOR_DEPLOY: of.deploy,
    CONVEYOR_PHASE: of.phase,
    CONVEYOR_VERSION: of.version,
    CONVEYOR_PREVIOUS_VERSION: ofUnits?.previousVersion,
    CONVEYOR_UNITS: units,
  };
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** How a script came to its end: by itself, or stopped by us because of this. */
type End = { readonly exit: ScriptExit } | { readonly stopped: string };

const LOOK_MS = 500;
/** What its processes wrote is there at once when they are gone; one that left the group is not waited for. */
const SILENCE_MS = 1_000;

async function follow(
  run: ScriptRun,
  script: ScriptProcess,
  log: LogKeeper,
  { clock, scripts }: Ports,
): Promise<ScriptEnd> {
  const { action, runId, heartbeatTimeoutMs } = run;
  const context = Context.current();
  const overdue = deadline(run, { clock, scripts });
  const ends = Promise.race<End>([
    script.ended.then((exit) => ({ exit })),
    script.flooded.then(() => ({ stopped: `it wrote more than ${scripts.outputLimitBytes} bytes` })),
    overdue.reached,
    context.cancelled,
  ]);
  const beat = (): void => {
    const seen: ScriptSeen = {
      ...{ action, run: runId, progress: null },
      message: lastLine(log.latest()),
      log: log.read(LOG_LIMITS.liveLog.max),
    };
    context.heartbeat(seen);
    overdue.look();
  };
  return beating(Math.min(LOOK_MS, heartbeatTimeoutMs / 3), beat, async () => {
    const end = await ends.finally(async () => {
      await stopGroup(script.group, scripts.stopGraceMs);
      const heard = new AbortController();
      await Promise.race([script.silent, wallClock.sleep(SILENCE_MS, heard.signal)]);
      heard.abort();
    });
    return told(run, end, log);
  });
}

/** Looks at the clock now and then rather than sleeping on it: a process takes real time, whatever the clock is. */
function deadline({ timeoutMs }: ScriptRun, { clock, scripts }: Pick<Ports, 'clock' | 'scripts'>) {
  const limitMs = Math.min(timeoutMs ?? Infinity, scripts.maxDurationMs);
  const startedAt = clock.now();
  let pass: (end: End) => void = () => undefined;
  const reached = new Promise<End>((resolve) => (pass = resolve));
  const look = async (): Promise<void> => {
    if ((await clock.now()) - (await startedAt) >= limitMs)
      pass({ stopped: `it ran for ${formatDuration(limitMs)}, its limit` });
  };
  // A clock that cannot be read now is read again in a moment.
  return { reached, look: () => void look().catch(() => undefined) };
}

function told(run: ScriptRun, end: End, log: LogKeeper): ScriptEnd {
  const [name = ''] = run.command;
  const stopped = 'stopped' in end;
  const said = lastLine(log.latest());
  const how = stopped ? `was stopped: ${end.stopped}` : `ended ${howEnded(end.exit)}`;
  const message = stopped || said === null ? `${name} ${how}` : `${name} ${how}: ${said}`;
  return { succeeded: !stopped && end.exit.code === 0, message, outputs: [], ...wrote(run, log) };
}

function wrote({ logBytes = LOG_LIMITS.laterLog.max }: ScriptRun, log: LogKeeper): ScriptWrote {
  log.end();
  return { log: log.read(logBytes) };
}

const howEnded = ({ code, signal }: ScriptExit): string =>
  signal === null ? `with exit code ${code}` : `by ${signal}`;
