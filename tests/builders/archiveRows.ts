import { blankRow, type ArchiveRow } from '../../domain/archive/row';
import { pastRelease, through } from './historyRows';

export const HOUR_MS = 3_600_000;

/** A release `kvstore/n` that ended after n hours, and its one deploy, which took ten minutes. */
export function archived(
  release: number,
  { category = 'regular', ...patch }: Partial<ArchiveRow> = {},
  deploy: Partial<ArchiveRow> = {},
): ArchiveRow[] {
  const of = { pipeline: 'kvstore', release, endedMs: release * HOUR_MS, ...patch };
  const key = `release/${of.pipeline}/${release}@run`;
  return [
    {
      ...blankRow({ key, kind: 'release', state: 'succeeded', ...of }),
      ...{ trigger: 'manual', category, cadence: 'continuous', parts: 2, startedMs: of.endedMs - HOUR_MS / 2 },
      detail: JSON.stringify({ ...pastRelease(release, [through(`v${release}`)]), pipeline: of.pipeline }),
      ...patch,
    },
    {
      ...blankRow({ key: `${key}#action/build`, kind: 'action', state: 'succeeded', ...of }),
      name: 'build',
      type: 'build',
    },
    {
      ...blankRow({ key: `deploy/${of.pipeline}/${release}/deploy/1@run`, kind: 'deploy', ...of, state: 'succeeded' }),
      ...{ name: 'deploy', type: 'twine', classification: 'success', startedMs: of.endedMs - HOUR_MS / 6 },
      ...{ updateMs: 300_000, bakeMs: 240_000, preMs: 60_000, postMs: 0 },
      ...deploy,
    },
  ];
}
