import { roomAt } from '../domain/calendar/room';
import { ConveyorError } from '../domain/errors';
import { openTimesOf, withBlackouts } from '../domain/release/openTimes';
import type { NamedDeploy } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { plural } from '../domain/text';
import type { PlanView } from '../domain/views';
import { withClient } from './door';
import type { ConnectOptions, Io } from './io';

/** When a deploy may begin, ms since the epoch, and what people should know about that. */
interface Beginning {
  readonly now: number;
  readonly warnings: PlanView['warnings'];
}

/** A window that lets only so many deploys begin may be full: its pipeline knows. Where nobody answers the plan is without, and says so. */
export async function findRoom(
  io: Io,
  connect: ConnectOptions,
  spec: PipelineSpec,
  [name, action]: NamedDeploy,
  nowMs: number,
): Promise<Beginning> {
  const { windows, blackouts } = openTimesOf(withBlackouts(spec, action)) ?? { windows: [], blackouts: [] };
  if (windows.every(({ maxDeploys }) => maxDeploys === undefined)) return { now: nowMs, warnings: [] };
  const begun = await listBegunDeploys(io, connect, spec.pipeline, name);
  if (begun === null) return { now: nowMs, warnings: [UNKNOWN] };
  const room = roomAt(
    { windows, blackouts },
    begun.map((at) => Date.parse(at)).filter((atMs) => atMs <= nowMs),
    nowMs,
  );
  if (room.open || room.full === undefined) return { now: nowMs, warnings: [] };
  const { begun: count, most } = room.full;
  const message = `${count} of ${plural(most, 'deploy')} of this window have begun: it begins when the window opens again`;
  return { now: room.opensAtMs, warnings: [{ code: 'window-full', message }] };
}

const UNKNOWN = {
  code: 'uncounted-deploys',
  message: 'its window lets only so many deploys begin, and nobody answers how many have: the plan is without them',
};

/** Of a pipeline that is not there yet none has. Null when nobody answers: an estimate is no reason for a plan to fail. */
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
