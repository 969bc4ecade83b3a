import { hasActionEnded } from '../release/nextActions';
import type { ReleaseRecord } from '../release/state';
import type { Trigger } from '../views';

/** What running deploys with a bug do: `bugs.onRunning` of conveyor.config.yaml. */
export const ON_RUNNING = ['pause', 'revert', 'ignore'] as const;
export type OnRunning = (typeof ON_RUNNING)[number];

/** To a release that contains a bug. */
export interface BugNotice {
  /** `bug/7` */
  readonly id: string;
  /** Which artifact has which bug, and over which chain. */
  readonly why: string;
  readonly onRunning: OnRunning;
}

/** Anybody can send a signal. */
export const isBugNotice = (sent: BugNotice): boolean =>
  typeof sent.id === 'string' && typeof sent.why === 'string' && ON_RUNNING.includes(sent.onRunning);

/** The verb that a bug gives to a release: what has not begun to deploy ends; what goes back goes through, and what belongs to a rollout that may be one. */
export function verbOfBug(
  { actions }: Pick<ReleaseRecord, 'actions'>,
  { kind }: Pick<Trigger, 'kind'>,
  { onRunning }: BugNotice,
): 'cancel' | 'pause' | 'revert' | undefined {
  if (kind === 'rollback' || kind === 'follow-on') return undefined;
  const deploys = Object.values(actions).some(({ deploying, state }) => deploying && !hasActionEnded(state));
  if (!deploys) return 'cancel';
  return onRunning === 'ignore' ? undefined : onRunning;
}
