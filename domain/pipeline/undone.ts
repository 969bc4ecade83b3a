import { releaseId } from '../ids';
import type { PipelineState } from './state';
import type { GoodView, PipelineStatus, ReleaseSummary, RunsNow, Undone } from '../views';

type Row = Pick<ReleaseSummary, 'id' | 'pipeline' | 'number' | 'state' | 'endedAt' | 'trigger'>;

/** The rollback that undid a release, or else the one that is undoing it now. A rollback that failed may not have undone it. */
export function undoneBy(of: Pick<Row, 'pipeline' | 'number'>, releases: readonly Row[]): Undone | undefined {
  const rollbacks = releases.filter(
    ({ pipeline, trigger }) => pipeline === of.pipeline && trigger.kind === 'rollback' && trigger.of === of.number,
  );
  const done = rollbacks.find(({ state }) => state === 'succeeded');
  if (done) return { by: done.id, at: done.endedAt };
  const open = rollbacks.find(({ endedAt }) => endedAt === null);
  return open && { by: open.id, at: null, state: open.state };
}

/** The version of an action that is no longer good, and the rollback that has yet to remove it; undefined if there is none. */
export function findUndoing(
  { spec, active, history }: Pick<PipelineState, 'spec' | 'active' | 'history'>,
  action: string,
): GoodView['undoing'] {
  for (const { number, trigger, booked } of [...active].reverse()) {
    if (trigger.kind !== 'rollback' || booked?.[action] !== undefined) continue;
    const undone = history.find((row) => row.number === trigger.of);
    const brought = undone?.deploys.find((deploy) => deploy.action === action && deploy.outcome === 'succeeded');
    if (undone && brought)
      return { release: undone.number, version: brought.version, by: releaseId(spec.pipeline, number) };
  }
  return undefined;
}

/** Releases of any pipelines, each with its rollback if that is among them. */
export const withUndone = <T extends Row>(releases: readonly T[]): T[] =>
  releases.map((release) => {
    const undone = undoneBy(release, releases);
    return undone === undefined ? release : { ...release, undone };
  });

/** The release of another pipeline that has replaced a release everywhere. */
export function findReplacer(
  { number }: Pick<Row, 'number'>,
  lastGood: PipelineStatus['lastGood'],
): string | undefined {
  const own = Object.values(lastGood).filter(({ release }) => release === number);
  return own.flatMap(({ replaced }) => (replaced && replaced.on === undefined ? [replaced.by] : []))[0];
}

export const withReplaced = <T extends Row>(releases: readonly T[], lastGood: PipelineStatus['lastGood']): T[] =>
  releases.map((release) => {
    const by = findReplacer(release, lastGood);
    return by === undefined ? release : { ...release, replacedBy: by };
  });

/**
 * The running version of each deploy action of a pipeline, with the release that brought it. Empty while a release deploys. An action is left out if
 * its last deploy left its units in several versions, if another pipeline has removed its units,
 * or if it is unknown whether another pipeline has deployed since.
 */
export const listRunningVersions = (
  { id, lastGood }: Pick<PipelineStatus, 'id' | 'lastGood'>,
  { active, inherited }: Pick<PipelineState, 'active' | 'inherited'>,
): RunsNow[] =>
  Object.entries(active.some(({ deploying }) => deploying) ? {} : lastGood)
    .filter(([action, { replacedUnknown }]) => inherited[action] === undefined && replacedUnknown === undefined)
    .filter(([, { replaced }]) => !replaced?.removed || replaced.on !== undefined)
    .map(([action, { release, version, replaced }]) =>
      replaced && replaced.on === undefined
        ? { action, version: replaced.version, by: replaced.by }
        : { action, version, by: release === 0 ? null : releaseId(id, release) },
    );
