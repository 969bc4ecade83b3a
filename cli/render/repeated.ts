import type { DeployStatus, ReleaseStatus, TimelineEntry } from '../../domain/views';

/** A deploy says how it ended in its own line; its timeline, and that of its release, say the same once more. */

/** The entries of a deploy, but for the one that repeats its end. */
export const withoutOwnEnd = ({ timeline, outcome, summary }: DeployStatus): readonly TimelineEntry[] =>
  timeline.filter(({ kind, text }) => kind !== outcome || text !== summary);

/** The entries of a release, but for those that repeat the ends of its deploys. */
export function withoutDeployEnds(
  { timeline }: ReleaseStatus,
  deploys: readonly DeployStatus[],
): readonly TimelineEntry[] {
  const ends = deploys.filter(({ outcome, summary }) => outcome !== null && summary !== '');
  return timeline.filter(
    ({ kind, text }) => !(kind.startsWith('action-') && ends.some(({ summary }) => text.endsWith(`: ${summary}`))),
  );
}
