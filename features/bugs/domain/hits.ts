import { formatIdentity, type Artifact } from '../../../domain/artifact';
import { BUG_LIMITS } from '../../../domain/limits';
import { cutText } from '../../../domain/size';

/** Artifacts that contain a bug, from answers of dependency graphs. */

/** A target as it was built. */
export interface TargetBuild {
  readonly target: string;
  readonly revision: string;
}

/** A queried target that contains the bug, with the dependency chain. */
export interface AffectedBuild extends TargetBuild {
  readonly depth: number;
  readonly path: readonly string[];
}

/** The targets of artifacts, each once; artifacts without one are left out. */
export function listBuiltTargets(artifacts: readonly Artifact[]): readonly TargetBuild[] {
  const all = artifacts.flatMap(({ builtFrom: from }) =>
    from?.target === undefined ? [] : [{ target: from.target, revision: from.revision }],
  );
  return [...new Map(all.map((built) => [formatBuiltKey(built), built])).values()];
}

export const formatBuiltKey = ({ target, revision }: TargetBuild): string => `${revision} ${target}`;

/** The identity of an artifact that contains a bug, with the dependency chain. */
export interface ArtifactHit {
  readonly artifact: string;
  readonly path: string;
}

/** The first artifact that contains the bug, with the chain; undefined if none does. */
export function hitAmong(
  artifacts: readonly Artifact[],
  affected: ReadonlyMap<string, AffectedBuild>,
): ArtifactHit | undefined {
  for (const artifact of artifacts)
    for (const built of listBuiltTargets([artifact])) {
      const hit = affected.get(formatBuiltKey(built));
      if (hit) return { artifact: formatIdentity(artifact), path: pathText(hit.path) };
    }
  return undefined;
}

export const pathText = (path: readonly string[]): string => cutText(path.join(' > '), BUG_LIMITS.path.max);
