import { groupsOf, limitOf, type GroupRules } from '../../domain/deploy/groups';
import { touchedUnits } from '../../domain/deploy/planRevert';
import { present } from '../../domain/deploy/unavailable';
import type { DeployRun } from './run';

/** Whether groups of units are judged, and paused, by themselves. A rollback checks nothing and waits for nothing. */
export const isParallel = ({ input }: DeployRun): boolean => input.spec.mode === 'parallel' && !input.rollback;

/** How the groups that were updated so far are judged; undefined unless in parallel mode. */
export function groupRules(run: DeployRun): GroupRules | undefined {
  const { skipped, pausedGroups } = run.record;
  if (!isParallel(run) || run.record.plan === null) return undefined;
  const { pauseBy, maxPaused } = run.input.spec;
  const touched = present({ snapshot: touchedUnits(run.record), skipped });
  const groups = groupsOf(touched, pauseBy);
  return { groups, limit: limitOf(maxPaused, groups.length), paused: pausedGroups.map(({ group }) => group) };
}
