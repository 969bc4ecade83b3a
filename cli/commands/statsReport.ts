import { askAt } from '../../client/http/client';
import { ConveyorError } from '../../domain/errors';
import type { StatsReport } from '../../domain/stats/report';
import { STATS_MS, type Grouping } from '../../domain/stats/tallies';
import { toHttpOptions, resolveDoor } from '../door';
import { openConfiguredArchive } from './archive';
import type { Io } from '../io';
import { printNote } from '../output';
import type { CommandCall } from './command';
import { sinceOption } from './times';

/** How much of the past counts as experience by default. */
export const EXPERIENCE_SINCE = '90d';

/** Statistics for commands that also work without them: `lacking` is the reason if there are none. @throws ConveyorError `usage` for an invalid time */
export async function statsIfAny(
  { io, connect }: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  since: string,
): Promise<{ readonly stats: StatsReport | null; readonly lacking: ConveyorError | null }> {
  sinceOption('--since', since, io.now());
  try {
    const stats = await loadStats({ io, connect }, { since, by: 'category' });
    return { stats, lacking: null };
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    return { stats: null, lacking: error };
  }
}

export function noteLacking(io: Io, lacking: ConveyorError | null): void {
  if (lacking !== null) printNote(io, `note: without data from the archive: ${lacking.message}`);
}

/** From the server if commands go to one, else from the archive in this machine's configuration. */
export async function loadStats(
  { io, connect }: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  { since, by }: { readonly since?: string; readonly by: Grouping },
): Promise<StatsReport> {
  const untilMs = io.now();
  const sinceMs = sinceOption('--since', since, untilMs) ?? untilMs - STATS_MS;
  const door = resolveDoor(io.env, connect);
  if (door.kind === 'server')
    return askAt(toHttpOptions(io, door)).stats({ since: new Date(sinceMs).toISOString(), by });
  const { archive } = await openConfiguredArchive(io.env);
  const { readStats } = await import('../../archive/stats');
  return readStats(archive, { sinceMs, untilMs, by });
}
