import { hasActionEnded } from './nextActions';
import type { ReleaseRecord } from './state';
import { plural } from '../text';
import type { Trigger } from '../views';

/** The effect of a bug on running deploys: `bugs.onRunning` of conveyor.config.yaml. */
export const ON_RUNNING = ['pause', 'revert', 'ignore'] as const;
export type RunningDeployPolicy = (typeof ON_RUNNING)[number];

/** A notice to a release that contains a bug. */
export interface BugNotice {
  /** `bug/7` */
  readonly id: string;
  /** The artifact, the bug, and the dependency chain. */
  readonly why: string;
  readonly onRunning: RunningDeployPolicy;
}

/** The reported bugs in the artifacts of a deploy. */
export interface BugLook {
  /** A bug in force that they contain, in words. */
  readonly bug?: string;
  /** The number of components in their SBOMs that have no package URL; left out if there are none. */
  readonly namedOnly?: number;
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

/** The text with a note about uncertain components. */
export const withNamedOnly = (words: string, count: number | undefined): string =>
  count === undefined ? words : `${words}; ${describeNamedOnly(count)}`;

export const describeNamedOnly = (count: number): string =>
  `${plural(count, 'component')} of SBOMs without a readable package URL, compared by name at most`;

/** The bug in words such as `executable@kv:3 contains bug/7 in //lib:rpc`. */
export const bugIn = (text: string): string | undefined => / contains (bug\/[1-9]\d{0,9}) in /.exec(text)?.[1];
