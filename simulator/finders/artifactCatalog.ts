import type { Artifact } from '../../domain/artifact';
import type { Commit, SimulationState } from '../state';

/** Publishes the newest version of something for its finder. A version that is already there is not published again. */
export function publish(state: SimulationState, now: number, key: string, artifact: Omit<Artifact, 'name'>): void {
  const known = state.shelf.get(key)?.artifact;
  if (known?.version === artifact.version && known.digest === artifact.digest) return;
  state.lastStamp = Math.max(now, state.lastStamp + 1);
  state.shelf.set(key, { artifact, stamp: state.lastStamp });
}

/** The key under which a finder keeps the results for a `with`. */
export const catalogKey = (finder: string, ...parts: readonly string[]): string => [finder, ...parts].join('\n');

/** `kv` from `kv:12`; a version without a colon belongs to the artifact of its name. */
const packageOfVersion = ({ name, version }: Pick<Artifact, 'name' | 'version'>): string =>
  version.includes(':') ? (version.split(':')[0] ?? name) : name;

/** Publishes a built executable as the latest of its package and of its target. */
export function publishBuild(
  state: SimulationState,
  now: number,
  built: Artifact,
  ofPackage = packageOfVersion(built),
): void {
  const { name: _, ...artifact } = built;
  publish(state, now, catalogKey('latest-build', 'package', ofPackage), artifact);
  const target = built.builtFrom?.target;
  if (target !== undefined) publish(state, now, catalogKey('latest-build', 'target', target), artifact);
}

/** Publishes an executable that was marked with a tag. */
export function publishTag(
  state: SimulationState,
  now: number,
  tagged: Artifact,
  tag: string,
  ofPackage = packageOfVersion(tagged),
): void {
  const { name: _, ...artifact } = tagged;
  publish(state, now, catalogKey('tagged-executables', ofPackage, tag), {
    ...artifact,
    metadata: { ...artifact.metadata, tag },
  });
}

/**
 * Adds a commit on a branch, or updates a present one. `commits` finds the latest whose tests passed. A commit that
 * passes only after a newer one did is no longer the latest.
 */
export function addCommit(
  state: SimulationState,
  now: number,
  repository: string,
  branch: string,
  commit: Commit,
): void {
  const key = catalogKey('commits', repository, branch);
  const known = state.commits.get(key) ?? [];
  const at = known.findIndex(({ revision }) => revision === commit.revision);
  const next = at < 0 ? [...known, commit] : known.map((old, index) => (index === at ? { ...old, ...commit } : old));
  state.commits.set(key, next);
  const latest = next.findLast(({ passed }) => passed);
  if (latest?.revision !== commit.revision || !commit.passed) return;
  publish(state, now, key, {
    kind: 'source',
    version: commit.revision,
    builtFrom: { repository, revision: commit.revision },
    metadata: { branch, ...commitMetadata(latest) },
  });
}

const commitMetadata = ({ author, message, committedAt }: Commit): Record<string, string> => ({
  ...(committedAt === undefined ? {} : { committedAt }),
  ...(author === undefined ? {} : { author }),
  ...(message === undefined ? {} : { message }),
});
