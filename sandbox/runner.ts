import { conveyorError } from '../domain/errors';
import { withoutIsolation, type Guarantee } from '../domain/isolation';
import type { Scripts } from '../settings/scripts';
import { endGroups } from './cgroup';
import type { IsolationMethod } from './method';
import { placesFor } from './places';
import { probe, type Isolation } from './probe';
import { groupsWithEnv, stopGroup } from './processGroup';
import { startScript, type Listener, type ScriptProcess } from './scriptProcess';
import { clearWorkplaces, closeWorkplace, openWorkplace, type Workplace } from './workplace';

export interface RunOf {
  /** Given to the script as `CONVEYOR_RUN`, which identifies processes it leaves behind. */
  readonly runId: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Texts that become files; each variable has the path of one. */
  readonly texts: Readonly<Record<string, string>>;
  readonly log: Listener;
}

export interface RunningScript extends Omit<ScriptProcess, 'group' | 'endAll'> {
  /**
   * Asks its running processes to end, and kills them after the grace. Afterwards none is left, if that is guaranteed.
   * @returns whether they exceeded their joint memory limit
   */
  stop(): Promise<{ readonly outOfMemory: boolean }>;
  /** Removes its files. */
  close(): void;
}

/** Runs the scripts of a worker in isolation. */
export interface Runner {
  /** The guarantees on this machine; tested once, on first use. */
  isolation(): Promise<Isolation>;
  /** @throws script-not-runnable */
  start(run: RunOf): Promise<RunningScript>;
  /** Stops processes that a killed worker left behind from a run on this machine. */
  stopStrays(runId: string): Promise<void>;
}

export function createRunner(scripts: Scripts, tried: () => Promise<Isolation> = () => probe(scripts)): Runner {
  let known: Promise<Isolation> | undefined;
  const isolation = () => (known ??= tried());
  return {
    isolation,
    start: async (run) => {
      const [command = ''] = run.command;
      const { method, missing } = await isolation();
      refuseUnprotected(command, missing, scripts);
      const workplace = openWorkplace(run.runId, run.texts, method);
      try {
        return await startInside(workplace, run, method, scripts);
      } catch (error) {
        closeWorkplace(workplace);
        throw error;
      }
    },
    stopStrays: async (runId) => {
      const { method } = await isolation();
      await stopMarked(runId, scripts.stopGraceMs);
      if (method.groups !== null) await endGroups(method.groups, runId);
      clearWorkplaces(runId);
    },
  };
}

async function startInside(
  workplace: Workplace,
  run: RunOf,
  method: IsolationMethod,
  scripts: Scripts,
): Promise<RunningScript> {
  const { command, env, log, runId } = run;
  const { directory, limits, network, outputLimitBytes, stopGraceMs } = scripts;
  const places = placesFor(scripts, { ...workplace, account: method.account });
  const { group, endAll, ...started } = await startScript(method, {
    ...{ runId, command, directory, limits, network, places, outputLimitBytes, log },
    env: { ...env, ...workplace.env, CONVEYOR_RUN: runId },
  });
  return {
    ...started,
    stop: async () => {
      await stopGroup(group, stopGraceMs);
      const outOfMemory = await endAll();
      // In namespaces the kernel has already done this.
      if (method.namespaces === null) await stopMarked(runId, stopGraceMs);
      return { outOfMemory };
    },
    close: () => closeWorkplace(workplace),
  };
}

function refuseUnprotected(command: string, missing: readonly Guarantee[], { required }: Scripts): void {
  const lacks = withoutIsolation(missing.filter((name) => required.includes(name)));
  if (lacks === null) return;
  const detail = `this worker cannot isolate it as required by scripts.isolation of conveyor.config.yaml: ${lacks}`;
  throw conveyorError('script-not-runnable', { command, detail });
}

async function stopMarked(runId: string, graceMs: number): Promise<void> {
  await Promise.all(groupsWithEnv('CONVEYOR_RUN', runId).map((group) => stopGroup(group, graceMs)));
}
