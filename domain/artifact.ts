/** A value that flows through a pipeline (docs/reference/protocols.md#artifact). Its identity is `name@version`, plus the digest if it has one. */
export interface Artifact {
  readonly name: string;
  readonly kind: string;
  readonly version: string;
  readonly digest?: string;
  readonly uri?: string;
  readonly producedBy?: string;
  readonly builtFrom?: { readonly repository: string; readonly revision: string; readonly target?: string };
  readonly metadata: Readonly<Record<string, string>>;
}

/** `executable@kv:12`, the key of known-bad lists, deduplication and `allow-artifact`. */
export function formatIdentity(artifact: Pick<Artifact, 'name' | 'version' | 'digest'>): string {
  const base = `${artifact.name}@${artifact.version}`;
  return artifact.digest === undefined ? base : `${base}#${artifact.digest}`;
}

/** Whether an identity is the one that a person typed as `name@version`, with any digest. */
export function matchesIdentity(identity: string, nameAtVersion: string): boolean {
  return identity === nameAtVersion || identity.startsWith(`${nameAtVersion}#`);
}

/**
 * The single opaque version string that a push type gets for a set of artifacts: the version of a single artifact, or
 * the sorted identities of several. The same set always gives the same string.
 */
export function combineVersions(artifacts: readonly Artifact[]): string {
  const [only] = artifacts;
  if (artifacts.length === 1 && only) return only.version;
  return artifacts.map(formatIdentity).sort().join('+');
}

/** The identity of an artifact: enough to recognise it, not to deploy it. */
export const pickIdentity = ({ name, kind, version, digest }: Artifact): Artifact => ({
  name,
  kind,
  version,
  ...(digest === undefined ? {} : { digest }),
  metadata: {},
});
