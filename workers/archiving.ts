import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Temporal } from '../client/connection';
import { temporalEndings } from '../client/endings';
import { collect } from '../platform/archive/collect';
import type { OpenArchive } from '../platform/archive/open';
import type { ArchiveSettings } from '../platform/archive/settings';
import { DAY_MS } from '../domain/milliseconds';

/**
 * Brings the archive up to date now and then, beside the workflows and never in one: whatever becomes of the archive, deploys continue, and
 * what could not be written is read again. `stop` waits for what is being written.
 */
export function startArchiving(
  temporal: Temporal,
  taskQueue: string,
  { archive, place }: OpenArchive,
  { keepMs, intervalMs }: Pick<ArchiveSettings, 'keepMs' | 'intervalMs'>,
  log: Pick<Logger, 'info' | 'warn'>,
): { stop(): Promise<void> } {
  const endings = temporalEndings(temporal, taskQueue);
  const over = new AbortController();
  let expiredMs = 0;
  const look = async (): Promise<void> => {
    const nowMs = Date.now();
    const { rows, unanswered } = await collect(archive, endings, nowMs);
    if (unanswered.length > 0) log.warn({ unanswered }, 'archived without what no worker could say');
    if (rows > 0) log.info({ rows, place }, 'archived');
    if (nowMs - expiredMs < DAY_MS) return;
    await archive.expire(nowMs - keepMs);
    expiredMs = nowMs;
  };
  const run = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await wait(intervalMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      await look().catch((error: unknown) => log.warn({ err: error }, 'nothing archived now; it is tried again'));
    }
  };
  const running = run();
  return {
    stop: () => {
      over.abort();
      return running;
    },
  };
}
