import { releaseId } from '../ids';
import { skipsTheQueue } from '../release/urgent';
import { formatDuration, formatTime } from '../text';
import { isQueued } from './room';
import type { ActiveRelease, PipelineState } from './state';

/** Releases that have waited in the queue longer than their pipeline allows (`releases.expireAfter`). */

type ExpiryState = Pick<PipelineState, 'spec' | 'active'>;

/** The time at which a waiting release is cancelled; undefined if it has begun, is urgent, or never expires. */
export function expiresAtMs({ spec }: Pick<PipelineState, 'spec'>, release: ActiveRelease): number | undefined {
  const { expireAfter } = spec.releases;
  if (expireAfter === undefined || !isQueued(release) || skipsTheQueue(release.trigger)) return undefined;
  return Date.parse(release.createdAt) + expireAfter;
}

/** Oldest first. */
export const listExpiredReleases = (state: ExpiryState, nowMs: number): readonly ActiveRelease[] =>
  state.active.filter((release) => (expiresAtMs(state, release) ?? Infinity) <= nowMs);

/** For the notification: the reasons why they waited, oldest first. */
export function describeExpired({ spec }: Pick<PipelineState, 'spec'>, releases: readonly ActiveRelease[]): string {
  const waited = `it has waited in the queue for ${formatDuration(spec.releases.expireAfter ?? 0)}`;
  const others = releases.slice(0, -1).map(({ number }) => releaseId(spec.pipeline, number));
  if (others.length === 0) return waited;
  const more = others.length > MAX_EXPIRED_SHOWN ? ` and ${others.length - MAX_EXPIRED_SHOWN} more` : '';
  return `${waited}, as have ${others.slice(-MAX_EXPIRED_SHOWN).join(', ')}${more}`;
}

const MAX_EXPIRED_SHOWN = 10;

/** The time of the next expiry in ms since the epoch; undefined if there is none. */
export function nextExpiry(state: ExpiryState): number | undefined {
  const times = state.active.flatMap((release) => expiresAtMs(state, release) ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** For a caller who asks why a release waits. */
export function expiryWords(state: Pick<PipelineState, 'spec'>, release: ActiveRelease): string {
  const atMs = expiresAtMs(state, release);
  return atMs === undefined ? '' : `; it expires at ${formatTime(atMs)}`;
}
