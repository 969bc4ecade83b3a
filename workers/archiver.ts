import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Temporal } from '../client/connection';
import { temporalEndings } from '../client/endings';
import { collect } from '../archive/collect';
import type { OpenArchive } from '../archive/open';
import type { AskCounts } from '../archive/runReader';
import type { ArchiveSettings } from '../settings/archive';
import { DAY_MS } from '../domain/milliseconds';

/**
 * Brings the archive up to date at intervals, next to the workflows and never in one: deploys continue even if the
 * archive fails, and failed writes are repeated. `stop` waits for a write in progress, and reads nothing more.
 */
export function startArchiving(
  temporal: Temporal,
  taskQueue: string,
  { archive, place }: OpenArchive,
  { keepMs, intervalMs }: Pick<ArchiveSettings, 'keepMs' | 'intervalMs'>,
  log: Pick<Logger, 'info' | 'warn'>,
): { stop(): Promise<void> } {
  const over = new AbortController();
  const { signal } = over;
  const endings = temporalEndings(temporal, taskQueue, signal);
  const asked: AskCounts = new Map();
  let expiredMs = 0;
  const look = async (): Promise<void> => {
    const { rows, unanswered, unread, readUntilMs } = await collect(archive, endings, Date.now(), { signal, asked });
    if (unanswered.length > 0) log.warn({ unanswered }, 'archived with only the end known');
    if (unread.length > 0) log.warn({ unread }, 'could not be read; statistics count them as such');
    if (rows > 0) log.info({ rows, place }, 'archived');
    if (readUntilMs - expiredMs < DAY_MS) return;
    await archive.expire(readUntilMs - keepMs);
    expiredMs = readUntilMs;
  };
  const run = async (): Promise<void> => {
    for (;;) {
      await wait(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await look().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'archiving failed; it will be retried');
      });
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
