import { hasActionEnded } from '../release/nextActions';
import type { ReleaseRecord } from '../release/state';
import type { Trigger } from '../views';

/** The effect of a bug on running deploys: `bugs.onRunning` of conveyor.config.yaml. */
export const ON_RUNNING = ['pause', 'revert', 'ignore'] as const;
export type OnRunning = (typeof ON_RUNNING)[number];

/** A notice to a release that contains a bug. */
export interface BugNotice {
  /** `bug/7` */
  readonly id: string;
  /** The artifact, the bug, and the dependency chain. */
  readonly why: string;
  readonly onRunning: OnRunning;
}

/** Checked because any client of Temporal can send a signal. */
export const isBugNotice = (sent: BugNotice): boolean =>
  typeof sent.id === 'string' && typeof sent.why === 'string' && ON_RUNNING.includes(sent.onRunning);

/**
 * The verb that a bug gives to a release: one that has not begun to deploy ends; rollbacks continue, and so do
 * follow-ons, which may belong to one.
 */
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
