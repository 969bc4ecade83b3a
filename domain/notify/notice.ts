import type { Artifact } from '../artifact';

/** The events of notifications. */
export const NOTIFY_ON = ['reverted', 'paused', 'failed', 'succeeded', 'cancelled', 'expired', 'offer-broken'] as const;

export type NotifyOn = (typeof NOTIFY_ON)[number];

/** The steps of a page: a deploy needs the person on call, a person has answered, and the deploy needs none any more. */
const PAGE_ON = ['on-call', 'answered', 'settled'] as const;

export type PageOn = (typeof PAGE_ON)[number];

export type NoticeOn = NotifyOn | PageOn;

export const isPage = (on: NoticeOn): on is PageOn => PAGE_ON.some((one) => one === on);

/** An event of a release, or of one of its deploys. */
export interface Notice {
  /** The same id if it is sent again: `deploy/kvstore/12/deploy/1/paused/2`. Receivers recognise a repetition by it. */
  readonly id: string;
  readonly on: NoticeOn;
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
  readonly artifacts: readonly Pick<Artifact, 'name' | 'version' | 'digest' | 'builtFrom'>[];
  /** One sentence. */
  readonly reason: string;
  /** The actor who caused it; null if there is none. */
  readonly actor: string | null;
}

/** `kvstore/12/deploy reverted: errors is 0.2, above the limit of 0.05` */
export const noticeHeadline = ({ release, deploy, on, reason }: Notice): string =>
  `${deploy ?? release} ${HEADLINES[on] ?? on}: ${reason}`;

const HEADLINES: Readonly<Partial<Record<NoticeOn, string>>> = {
  'offer-broken': 'broke an offer',
  'on-call': 'needs a person',
  answered: 'has been answered',
  settled: 'needs no person any more',
};
