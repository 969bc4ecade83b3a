import type { Pause } from '../views';
import type { DeployRecord } from './state';

/** A deploy has paused or reverts by itself. */
export interface DeployAlarm {
  readonly kind: 'paused' | 'reverted';
  readonly reason: string;
}

/** The pauses that no person asked for. A freeze is a person's. */
const BY_ITSELF: readonly Pause['by'][] = ['health', 'dependency', 'timeout', 'unit', 'action'];

/** The alarm of a deploy, if there is one; a revert by itself outlasts its pauses and the end of the deploy. */
export function findAlarm({
  control: { paused },
  revert,
  pausedGroups,
}: Pick<DeployRecord, 'control' | 'revert' | 'pausedGroups'>): DeployAlarm | null {
  if (revert?.by === 'health') return { kind: 'reverted', reason: revert.reason };
  if (paused !== null) return BY_ITSELF.includes(paused.by) ? { kind: 'paused', reason: paused.reason } : null;
  const [group] = pausedGroups;
  return group === undefined ? null : { kind: 'paused', reason: `${group.group}: ${group.reason}` };
}
