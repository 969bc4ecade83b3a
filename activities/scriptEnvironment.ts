import { conveyorError } from '../domain/errors';
import type { Selection } from '../domain/deploy/snapshot';
import { stepUnits } from '../domain/deploy/steps';
import type { Scripts } from '../settings/scripts';
import { unitsIn, type SnapshotStore } from './snapshots';
import type { Authority } from './authority';

/** One run of a script: an action of its own, or a step of a deploy before or after a phase. */
export interface ScriptRun extends Authority {
  /**
   * The script gets it as `CONVEYOR_RUN`. It stays the same if the script runs again, so that the script can detect its
   * earlier work.
   */
  readonly runId: string;
  /** The name next to which `status` shows its progress. */
  readonly action: string;
  /** The program and its arguments, which no shell interprets. */
  readonly command: readonly string[];
  /** The variables of the worker that it asks for. */
  readonly env: readonly string[];
  readonly facts: ScriptFacts;
  /** Null: only the platform's limit applies. */
  readonly timeoutMs: number | null;
  readonly heartbeatTimeoutMs: number;
  /** The size of the log to keep. */
  readonly logBytes?: number;
}

/** These become `CONVEYOR_PIPELINE`, `CONVEYOR_PREVIOUS_VERSION` and so on; a fact that is left out is not set. */
export interface ScriptFacts {
  readonly pipeline: string;
  /** `kvstore/12` */
  readonly release: string;
  /** `kvstore/12/deploy` */
  readonly deploy?: string;
  readonly phase?: string;
  readonly version?: string;
  /** `CONVEYOR_UNITS` is the path of a file with their ids, one per line; `CONVEYOR_PREVIOUS_VERSION` is derived from them. */
  readonly selection?: Selection;
  /** The previous version if the units ran several, or none. */
  readonly lastGood?: string | null;
}

export function scriptEnvironment({ command, env }: ScriptRun, { path, variables }: Scripts): Record<string, string> {
  const forbidden = env.filter((name) => !Object.hasOwn(variables, name));
  if (forbidden.length > 0)
    throw conveyorError('script-not-runnable', {
      command: command[0] ?? '',
      detail: `it asks for ${forbidden.join(', ')}, which scripts.env of conveyor.config.yaml does not list`,
    });
  const given = env.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]] as const]));
  return { PATH: path, ...Object.fromEntries(given) };
}

/** Writes facts to variables, and long ones to files that variables name. */
export async function scriptFacts(
  { snapshots }: { readonly snapshots: SnapshotStore },
  { runId, facts: of }: ScriptRun,
): Promise<{ readonly facts: Record<string, string>; readonly texts: Record<string, string> }> {
  const ofUnits = of.selection && stepUnits(await unitsIn(snapshots, of.selection), of.lastGood ?? null);
  const variables = {
    CONVEYOR_RUN: runId,
    CONVEYOR_PIPELINE: of.pipeline,
    CONVEYOR_RELEASE: of.release,
    CONVEYOR_DEPLOY: of.deploy,
    CONVEYOR_PHASE: of.phase,
    CONVEYOR_VERSION: of.version,
    CONVEYOR_PREVIOUS_VERSION: ofUnits?.previousVersion,
  };
  return {
    facts: Object.fromEntries(
      Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    texts: ofUnits ? { CONVEYOR_UNITS: ofUnits.units.map((unit) => `${unit}\n`).join('') } : {},
  };
}
