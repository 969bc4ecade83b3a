import type { Artifact } from '../artifact';
import type { ReleaseInput, ReleaseRecord } from '../release/state';
import { skipsTheQueue } from '../release/urgent';

/**
 * The artifacts that a release passes to its children: the last value of each, from the producer that ended last, or
 * from the release's inputs.
 */
export function pickChildArtifacts(
  { spec, artifacts }: Pick<ReleaseInput, 'spec' | 'artifacts'>,
  { actions }: Pick<ReleaseRecord, 'actions'>,
): Artifact[] {
  const ended = Object.values(actions).sort((a, b) => compareNames(a.endedAt ?? '', b.endedAt ?? ''));
  const all = [...artifacts, ...ended.flatMap(({ outputs }) => outputs)];
  return (spec.children?.artifacts ?? []).flatMap((wanted) => all.findLast(({ name }) => name === wanted) ?? []);
}

/**
 * Whether a release has children at all. Rollbacks, emergencies and follow-ons concern only one pipeline: its children decide for
 * themselves.
 */
export const hasChildren = ({ spec, trigger }: Pick<ReleaseInput, 'spec' | 'trigger'>): boolean =>
  spec.children !== undefined && !skipsTheQueue(trigger);

const compareNames = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
