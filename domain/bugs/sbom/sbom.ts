import { isAffected, type Advisory, type VersionOrder } from '../advisory';
import { dependentsOf, pathDown, reachedFrom } from '../dependents';
import { packageIn, packageNamed } from '../packageUrl';

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
  /** Null of what is not a package, such as a file. */
  readonly purl: string | null;
}

/** The chain from what an SBOM is about down to the first package that an advisory affects; undefined where it affects none. */
export function chainToAffected(sbom: Sbom, advisory: Advisory, order: VersionOrder): readonly string[] | undefined {
  const wanted = advisory.affected.map((one) => ({ key: packageNamed(one.package), one }));
  for (const [ref, { purl }] of sbom.components) {
    const found = purl === null ? undefined : packageIn(purl);
    if (found && wanted.some(({ key, one }) => key === found.key && isAffected(one, found.version, order)))
      return chainTo(sbom, ref);
  }
  return undefined;
}

/** By the fewest dependencies; only the package itself where none leads to it. */
function chainTo({ root, components, dependencies }: Sbom, ref: string): readonly string[] {
  const reached = reachedFrom(dependentsOf(dependencies), ref, Infinity);
  const refs = root !== null && reached.has(root) ? pathDown(reached, root) : [ref];
  return refs.map((one) => components.get(one)?.name ?? one);
}
