import { STATS } from '../../client/http/routes';
import { askServer } from '../../client/http/send';
import type { StatsReport } from '../../domain/stats/report';
import { STATS_MS, type Grouping } from '../../domain/stats/tallies';
import { httpOf, resolveDoor } from '../door';
import { configuredArchive } from './archive';
import type { CommandCall } from './command';
import { sinceOption } from './times';

/** From the server, where commands go to one; else from the archive that the configuration of this machine names. */
export async function loadStats(
  { io, connect }: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  { since, by }: { readonly since?: string; readonly by: Grouping },
): Promise<StatsReport> {
  const untilMs = io.now();
  const sinceMs = sinceOption('--since', since, untilMs) ?? untilMs - STATS_MS;
  const door = resolveDoor(io.env, connect);
  if (door.kind === 'server')
    return askServer<StatsReport>(httpOf(io, door), STATS, {
      query: { since: new Date(sinceMs).toISOString(), by },
    });
  const { archive } = await configuredArchive(io.env);
  const { readStats } = await import('../../platform/archive/stats');
  return readStats(archive, { sinceMs, untilMs, by });
}
