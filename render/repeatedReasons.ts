import type { DeployStatus, ReleaseStatus, TimelineEntry } from '../domain/views';

/**
 * Removes repetitions: a deploy's own line says how it ended and why, and so do its timeline, its checks, and those of
 * its release.
 */

/** The entries of a deploy, without the one that repeats its end. */
export const withoutOwnEnd = ({ timeline, outcome, summary }: DeployStatus): readonly TimelineEntry[] =>
  timeline.filter(({ kind, text }) => kind !== outcome || text !== summary);

/** The entries of a release, without those that repeat the ends of its deploys. */
export function withoutDeployEnds(
  { timeline }: ReleaseStatus,
  deploys: readonly DeployStatus[],
): readonly TimelineEntry[] {
  const ends = deploys.filter(({ outcome, summary }) => outcome !== null && summary !== '');
  return timeline.filter(
    ({ kind, text }) => !(kind.startsWith('action-') && ends.some(({ summary }) => text.endsWith(`: ${summary}`))),
  );
}

/** Reasons of a deploy that several lines repeat: those of its revert, its pause and its unhealthy checks. */
export function listRepeatedReasons({ revert, paused, health }: DeployStatus): readonly string[] {
  const unhealthy = health.filter(({ verdict }) => verdict === 'unhealthy').map(({ reason }) => reason);
  return [revert?.reason ?? '', paused?.reason ?? '', ...unhealthy].filter((reason) => reason !== '');
}

/** The reasons that a text above already gives. */
export const findGivenReasons = (reasons: readonly string[], above: readonly string[]): readonly string[] =>
  reasons.filter((reason) => above.some((text) => text.includes(reason)));

/** `reverting automatically: REASON` without the reason; nothing for a text that is only the reason. */
export function withoutReason(text: string, given: readonly string[]): string {
  const reason = given.find((one) => text === one || text.endsWith(`: ${one}`));
  return reason === undefined ? text : text.slice(0, -reason.length).replace(/: $/, '');
}

/**
 * The entries without these reasons. The entry of a plan stays whole: it has no reason, but may end with the same word.
 */
export const withoutReasons = (entries: readonly TimelineEntry[], given: readonly string[]): readonly TimelineEntry[] =>
  entries.map((entry) => (entry.kind === 'planned' ? entry : { ...entry, text: withoutReason(entry.text, given) }));
