import type { ConveyorClient } from '../client/api';
import { parseId } from '../domain/ids';
import { isUrgent } from '../domain/release/urgent';
import type { PipelineStatus } from '../domain/views';
import { hasClosedTimes, pipelineWait, windowWait, type WaitAhead } from '../domain/waitAhead';
import type { View } from '../render/paint';
import { untilWords } from '../render/times';

/**
 * Finds the wait of a release that was just started. Also null if its pipeline does not answer, because the release is
 * accepted anyway.
 */
export async function findStartWait(
  client: ConveyorClient,
  { id, number }: { readonly id: string; readonly number: number },
  nowMs: number,
): Promise<WaitAhead | null> {
  try {
    const pipeline = await client.status(parseId(id)?.pipeline ?? id);
    if (pipeline.kind !== 'pipeline') return null;
    return pipelineWait(pipeline, number) ?? (await findWindowWait(client, pipeline, number, nowMs));
  } catch {
    return null;
  }
}

/** Loads the rules of calendars, which takes time, only for a pipeline with windows or blackouts. */
async function findWindowWait(
  client: ConveyorClient,
  { id, releases }: PipelineStatus,
  number: number,
  nowMs: number,
): Promise<WaitAhead | null> {
  const release = releases.find((one) => one.number === number);
  if (release === undefined || release.endedAt !== null || isUrgent(release.trigger)) return null;
  const spec = await client.spec(id);
  if (!hasClosedTimes(spec)) return null;
  const { getOpeningState } = await import('../domain/calendar/opening');
  return windowWait(spec, release.id, nowMs, getOpeningState);
}

/** One line with the wait, its end and reason, and the command that ends it. */
export function startWaitLine({ by, action, why, until, next }: WaitAhead, view: View): string {
  const end = until === null ? '' : ` ${untilWords(until, view)}`;
  switch (by) {
    case 'freeze':
      return `it waits${end}: ${why}; ${next} lets it start`;
    case 'calendar':
      return `it waits${end}: ${why}`;
    case 'hold':
      return `it deploys nothing yet: ${why}; ${next} lets it deploy`;
    case 'window':
      return `${action} waits${end}: ${why}; when the actions before it are done, ${next} starts it anyway`;
  }
}
