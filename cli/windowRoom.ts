import { roomAt } from '../domain/calendar/room';
import { ConveyorError } from '../domain/errors';
import { fullWords, toOpenTimes, withBlackouts } from '../domain/release/openTimes';
import type { NamedDeploy } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { PlanView } from '../domain/views';
import { withClient } from './door';
import type { ConnectOptions, Io } from './io';

/** When a deploy may begin, in ms since the epoch, with notes for people. */
interface EarliestDeployStart {
  readonly now: number;
  readonly warnings: PlanView['warnings'];
}

/**
 * Finds when a window has room: it may limit how many deploys begin in it, and its pipeline knows the count. If no
 * worker answers, the plan leaves the limit out, with a note.
 */
export async function findRoom(
  io: Io,
  connect: ConnectOptions,
  spec: PipelineSpec,
  [name, action]: NamedDeploy,
  nowMs: number,
): Promise<EarliestDeployStart> {
  const { windows, blackouts } = toOpenTimes(withBlackouts(spec, action)) ?? { windows: [], blackouts: [] };
  if (windows.every(({ maxDeploys }) => maxDeploys === undefined)) return { now: nowMs, warnings: [] };
  const begun = await listBegunDeploys(io, connect, spec.pipeline, name);
  if (begun === null) return { now: nowMs, warnings: [UNKNOWN] };
  const room = roomAt(
    { windows, blackouts },
    begun.map((at) => Date.parse(at)).filter((atMs) => atMs <= nowMs),
    nowMs,
  );
  if (room.open || room.full === undefined) return { now: nowMs, warnings: [] };
  const message = `${fullWords(room.full)}: it begins when the window opens again`;
  return { now: room.opensAtMs, warnings: [{ code: 'window-full', message }] };
}

const UNKNOWN = {
  code: 'uncounted-deploys',
  message:
    'its window limits the number of deploys, but Conveyor did not say how many have begun: the plan ignores the limit',
};

/** A new pipeline has begun none. Null if no worker answers, since a plan must not fail for an estimate. */
async function listBegunDeploys(
  io: Io,
  connect: ConnectOptions,
  pipeline: string,
  action: string,
): Promise<readonly string[] | null> {
  try {
    const status = await withClient(io, connect, (client) => client.status(pipeline));
    return status.kind === 'pipeline' ? (status.begun?.[action] ?? []) : [];
  } catch (error) {
    return error instanceof ConveyorError && error.code === 'unknown-pipeline' ? [] : null;
  }
}
