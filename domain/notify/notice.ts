import type { Artifact } from '../artifact';

/** The events of notifications. */
export const NOTIFY_ON = ['reverted', 'paused', 'failed', 'succeeded', 'cancelled', 'expired'] as const;

export type NotifyOn = (typeof NOTIFY_ON)[number];

/** An event of a release, or of one of its deploys. */
export interface Notice {
  /** The same id if it is sent again: `deploy/kvstore/12/deploy/1/paused/2`. Receivers recognise a repetition by it. */
  readonly id: string;
  readonly on: NotifyOn;
  /** ISO-8601 */
  readonly at: string;
  readonly pipeline: string;
  /** `kvstore/12` */
  readonly release: string;
  /** `kvstore/12/deploy`; null if it is about the release as a whole. */
  readonly deploy: string | null;
  readonly phase: string | null;
  /** The push type of the deploy; null for a release. */
  readonly pushType: string | null;
  readonly artifacts: readonly Pick<Artifact, 'name' | 'version' | 'digest'>[];
  /** One sentence. */
  readonly reason: string;
  /** The actor who caused it; null if there is none. */
  readonly actor: string | null;
}

/** `kvstore/12/deploy reverted: errors is 0.2, above the limit of 0.05` */
export const noticeHeadline = ({ release, deploy, on, reason }: Notice): string =>
  `${deploy ?? release} ${on}: ${reason}`;
