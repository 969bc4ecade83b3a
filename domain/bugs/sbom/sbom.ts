import { isAffected, type Advisory, type VersionOrder } from '../advisory';
import { dependentsOf, pathDown, reachedFrom } from '../dependents';
import { packageIn, packageKey, packageNamed } from '../packageUrl';

/** What an artifact is made of, as a software bill of materials lists it. */
export interface Sbom {
  /** The reference of what it is about; null where it does not say. */
  readonly root: string | null;
  /** By their references. */
  readonly components: ReadonlyMap<string, SbomComponent>;
  /** Of a reference those that it depends on itself; circles are allowed. */
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
}

export interface SbomComponent {
  /** `esbuild@0.21.5` */
  readonly name: string;
  /** Null if it has none. */
  readonly purl: string | null;
  /** Names of its package without a version, if it may be one; empty for files and the like. */
  readonly packageNames: readonly string[];
  readonly version: string | undefined;
}

/** How many packages are known only by name, since they have no readable package URL. */
export const countNamedOnly = ({ components }: Sbom): number =>
  [...components.values()].filter(({ purl, packageNames }) => packageNames.length > 0 && !packageIn(purl ?? '')).length;

/** The chain from what an SBOM is about down to the first package that an advisory affects; undefined where it affects none. */
export function chainToAffected(sbom: Sbom, advisory: Advisory, order: VersionOrder): readonly string[] | undefined {
  const wanted = advisory.affected.flatMap((one) => {
    const key = packageNamed(one.package);
    return key === undefined ? [] : [{ key, one }];
  });
  for (const [ref, component] of sbom.components) {
    const found = packageIn(component.purl ?? '');
    const version = found?.version ?? component.version;
    const isIt = (key: string): boolean => (found ? found.keys.includes(key) : isCalled(component, key));
    if (wanted.some(({ key, one }) => isIt(key) && isAffected(one, version, order))) return chainTo(sbom, ref);
  }
  return undefined;
}

/** Without a package URL the ecosystem is not known, so any package of that name has to count as the one meant. */
function isCalled({ packageNames }: SbomComponent, key: string): boolean {
  const [type = ''] = key.split('/');
  return packageNames.some((name) => packageKey(type, name) === key);
}

/** By the fewest dependencies; only the package itself where none leads to it. */
function chainTo({ root, components, dependencies }: Sbom, ref: string): readonly string[] {
  const reached = reachedFrom(dependentsOf(dependencies), ref, Infinity);
  const refs = root !== null && reached.has(root) ? pathDown(reached, root) : [ref];
  return refs.map((one) => components.get(one)?.name ?? one);
}
