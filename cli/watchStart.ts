import type { ConveyorClient } from '../client/api';
import { ConveyorError } from '../domain/errors';
import { parseId } from '../domain/ids';
import { untilWords } from '../render/times';
import type { Io } from './io';
import { printNote, type Output } from './output';

/** The wait for a release that has no number yet: a finder or a webhook is about to start it. */
export interface StartWait {
  isWaiting(): boolean;
  /** Whether to look again after this error of a look. */
  continuesAfter(error: unknown): Promise<boolean>;
}

/** The limit for a number that may be mistyped; most finders look every few seconds. */
const START_WAIT_MS = 120_000;

/**
 * Waits only for the next release of a pipeline, not for any other number. The caller ends it at `deadline`; without one it ends itself.
 * @param deadline ms since the epoch, or Infinity
 */
export function createStartWait(
  { io, client, output }: { readonly io: Io; readonly client: ConveyorClient; readonly output: Output },
  id: string,
  deadline: number,
): StartWait {
  let endsAt: number | null = null;
  return {
    isWaiting: () => endsAt !== null,
    continuesAfter: async (error) => {
      if (!(error instanceof ConveyorError) || error.code !== 'unknown-release') return false;
      if (!(await isNextRelease(client, id).catch(() => endsAt !== null))) return false;
      if (endsAt === null) {
        endsAt = Number.isFinite(deadline) ? deadline : io.now() + START_WAIT_MS;
        const end = untilWords(new Date(endsAt).toISOString(), output.view());
        const pipeline = parseId(id)?.pipeline;
        const other = Number.isFinite(deadline) ? '' : ' (--timeout sets another end)';
        printNote(io, `${id} is the next release of ${pipeline} and has not started; waiting for it ${end}${other}`);
      }
      return endsAt === deadline || io.now() < endsAt;
    },
  };
}

/** The newest release also counts: it may have started after the look. */
async function isNextRelease(client: ConveyorClient, id: string): Promise<boolean> {
  const parsed = parseId(id);
  if (parsed?.kind !== 'release') return false;
  const status = await client.status(parsed.pipeline);
  if (status.kind !== 'pipeline' || status.retired !== undefined) return false;
  const last = status.lastRelease ?? 0;
  return parsed.number === last + 1 || parsed.number === last;
}
