import type { WatchedGroups } from '../../activities/healthWatch';
import { reachedParts } from '../../domain/deploy/planRevert';
import type { DeployRun } from './run';

/** Whether groups of units are judged, and paused, by themselves. A rollback checks nothing and waits for nothing. */
export const isParallel = ({ input }: DeployRun): boolean => input.spec.mode === 'parallel' && !input.rollback;

/** How the groups that were updated so far are judged; undefined unless in parallel mode. */
export function groupRules(run: DeployRun): Omit<WatchedGroups, 'stopAtChange'> | undefined {
  const { fleet, skipped, pausedGroups } = run.record;
  if (!isParallel(run) || fleet === null) return undefined;
  const { pauseBy, maxPaused } = run.input.spec;
  const parts = reachedParts(run.record).map((part) => ({ ...part, without: [...part.without, ...skipped] }));
  const selection = { snapshot: fleet.now ?? fleet.snapshot, parts };
  return { pauseBy, maxPaused, selection, paused: pausedGroups.map(({ group }) => group) };
}
