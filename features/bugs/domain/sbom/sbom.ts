import { isAffected, type Advisory, type VersionOrder } from '../advisory';
import { invertDependencies, pathDown, walkDependents } from '../../../../domain/dependents';
import { packageIn, packageKey, packageNamed } from '../packageUrl';

/** The components of an artifact, from a software bill of materials. */
export interface Sbom {
  /** The reference of its subject; null if missing. */
  readonly root: string | null;
  /** Includes components that share a reference, since any of them may be intended. */
  readonly components: readonly SbomComponent[];
  /** The number of unreadable entries. */
  readonly unread: number;
  /** The direct dependencies of each reference; cycles are allowed. */
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
}

export interface SbomComponent {
  readonly ref: string | undefined;
  /** `esbuild@0.21.5` */
  readonly name: string;
  /** Its package URLs; empty if it has none. */
  readonly purls: readonly string[];
  /** A file, or data: no package. */
  readonly isContent: boolean;
  /** Names of its package without a version, if it may be one; empty for files and data. */
  readonly packageNames: readonly string[];
  readonly version: string | undefined;
}

/**
 * The number of components without a readable package URL, which are compared by name at most. It includes unreadable
 * entries, but not the SBOM's subject.
 */
export function countNamedOnly({ root, components, unread }: Sbom): number {
  const about = root === null ? -1 : components.findIndex(({ ref }) => ref === root);
  const isPoor = ({ purls, isContent }: SbomComponent): boolean => !isContent && !purls.some((purl) => packageIn(purl));
  return unread + components.filter((one, nth) => nth !== about && isPoor(one)).length;
}

/** The chain from an SBOM's subject down to the first affected package; undefined if none is affected. */
export function chainToAffected(sbom: Sbom, advisory: Advisory, order: VersionOrder): readonly string[] | undefined {
  const wanted = advisory.affected.flatMap((one) => {
    const key = packageNamed(one.package);
    return key === undefined ? [] : [{ key, one }];
  });
  for (const component of sbom.components) {
    const known = component.purls.flatMap((purl) => packageIn(purl) ?? []);
    const isHit = ({ key, one }: (typeof wanted)[number]): boolean =>
      known.length === 0
        ? isCalled(component, key) && isAffected(one, component.version, order)
        : known.some(({ keys, version }) => keys.includes(key) && isAffected(one, version ?? component.version, order));
    if (wanted.some(isHit)) return chainTo(sbom, component);
  }
  return undefined;
}

/** Without a package URL the ecosystem is unknown, so any package with that name has to count. */
function isCalled({ packageNames }: SbomComponent, key: string): boolean {
  const [type = ''] = key.split('/');
  return packageNames.some((name) => packageKey(type, name) === key);
}

/** By the fewest dependencies; only the package itself if no chain leads to it. */
function chainTo({ root, components, dependencies }: Sbom, { ref, name }: SbomComponent): readonly string[] {
  if (ref === undefined) return [name];
  const reached = walkDependents(invertDependencies(dependencies), ref, Infinity);
  if (root === null || !reached.has(root)) return [name];
  const names = new Map(components.map((one) => [one.ref, one.name]));
  return [
    ...pathDown(reached, root)
      .slice(0, -1)
      .map((one) => names.get(one) ?? one),
    name,
  ];
}
