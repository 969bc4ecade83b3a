import { releaseId } from '../ids';
import type { PipelineStatus, ReleaseSummary, RunsNow, Undone } from '../views';

type Row = Pick<ReleaseSummary, 'id' | 'pipeline' | 'number' | 'state' | 'endedAt' | 'trigger'>;

/** The rollback that undid a release, else the one that does so now; a rollback that failed undid nothing for certain. */
export function undoneBy(of: Pick<Row, 'pipeline' | 'number'>, releases: readonly Row[]): Undone | undefined {
  const rollbacks = releases.filter(
    ({ pipeline, trigger }) => pipeline === of.pipeline && trigger.kind === 'rollback' && trigger.of === of.number,
  );
  const done = rollbacks.find(({ state }) => state === 'succeeded');
  const rollback = done ?? rollbacks.find(({ endedAt }) => endedAt === null);
  return rollback && { by: rollback.id, at: done?.endedAt ?? null };
}

/** Releases of any pipelines, each with the rollback of it that is among them. */
export const withUndone = <T extends Row>(releases: readonly T[]): T[] =>
  releases.map((release) => {
    const undone = undoneBy(release, releases);
    return undone === undefined ? release : { ...release, undone };
  });

/** What each deploy action of a pipeline runs now, and the release that brought it. */
export const runningNow = ({ id, lastGood }: Pick<PipelineStatus, 'id' | 'lastGood'>): RunsNow[] =>
  Object.entries(lastGood).map(([action, { release, version, replaced }]) =>
    replaced && replaced.on === undefined
      ? { action, version: replaced.version, by: replaced.by }
      : { action, version, by: release === 0 ? null : releaseId(id, release) },
  );
