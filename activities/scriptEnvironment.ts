import { conveyorError } from '../domain/errors';
import type { Selection } from '../domain/deploy/snapshot';
import { stepUnits } from '../domain/deploy/steps';
import type { Scripts } from '../platform/scripts';
import { unitsIn, type SnapshotStore } from './snapshots';
import type { Behalf } from './behalf';

/** One run of a script: an action of its own, or what a deploy runs before and after a phase. */
export interface ScriptRun extends Behalf {
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

/** Facts that are given as variables, and those in files that variables name. */
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
