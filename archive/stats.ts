import { statsReport, type StatsReport } from '../domain/stats/report';
import type { Archive, StatsQuery } from './port';

/** The statistics of releases and deploys that ended in a period. @throws ConveyorError of the archive */
export async function readStats(archive: Pick<Archive, 'mark' | 'tallies'>, span: StatsQuery): Promise<StatsReport> {
  const mark = await archive.mark();
  return statsReport(await archive.tallies(span), { ...span, readUntilMs: mark?.readUntilMs ?? null });
}
