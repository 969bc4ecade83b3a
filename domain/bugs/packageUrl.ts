/** Package URLs, `pkg:npm/%40hono/node-server@2.1.8`: what SBOMs and advisories call packages by (https://github.com/package-url/purl-spec). */

/** A package, and which version of it. */
export interface PackageRef {
  /** The same for all versions: `npm/@hono/node-server`. */
  readonly key: string;
  /** Undefined where the URL leaves it open. */
  readonly version: string | undefined;
}

/** Undefined of what is not a package URL. Qualifiers and subpaths name no other package. */
export function packageIn(purl: string): PackageRef | undefined {
  const [, type = '', rest = ''] = /^pkg:\/*([a-z][a-z0-9.+-]*)\/([^?#]+)/i.exec(purl) ?? [];
  // An at sign in front of a slash begins the scope of a package; some write it as it is.
  const [, path = '', version] = /^(.+?)(?:@([^@/]*))?$/.exec(rest) ?? [];
  const name = decoded(path.replace(/^\/+|\/+$/g, ''));
  const at = version === undefined ? undefined : decoded(version);
  if (!name) return undefined;
  return { key: packageKey(type.toLowerCase(), name), version: at || undefined };
}

/** What the ecosystems of OSV are called in package URLs. */
const PURL_TYPES: Readonly<Record<string, string>> = {
  npm: 'npm',
  PyPI: 'pypi',
  Go: 'golang',
  'crates.io': 'cargo',
  Maven: 'maven',
  NuGet: 'nuget',
  RubyGems: 'gem',
  Packagist: 'composer',
  Hex: 'hex',
  Pub: 'pub',
};

/** The key of a package that an advisory names; undefined where nobody knows what SBOMs call it. */
export function packageNamed({
  ecosystem,
  name,
  purl,
}: {
  readonly ecosystem: string;
  readonly name: string;
  readonly purl?: string | undefined;
}): string | undefined {
  if (purl !== undefined) return packageIn(purl)?.key;
  const type = PURL_TYPES[ecosystem.split(':')[0] ?? ''];
  return type === undefined ? undefined : packageKey(type, type === 'maven' ? name.replace(':', '/') : name);
}

/** Of these every version is a semantic one. */
const SEMANTIC = ['npm', 'golang', 'cargo', 'hex', 'pub', 'swift'];

export const isSemantic = (key: string): boolean => SEMANTIC.includes(key.split('/')[0] ?? '');

/** Of Python packages, case and underscores make no difference. */
const packageKey = (type: string, name: string): string =>
  `${type}/${type === 'pypi' ? name.toLowerCase().replace(/_/g, '-') : name}`;

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
