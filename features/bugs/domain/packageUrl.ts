/**
 * Package URLs, `pkg:npm/%40hono/node-server@2.1.8`: the names of packages in SBOMs and advisories
 * (https://github.com/package-url/purl-spec).
 */

/** A package and its version. */
export interface PackageRef {
  /** The same for all versions: `npm/@hono/node-server`. Several if a subpath may be part of the name. */
  readonly keys: readonly [string, ...string[]];
  /** Undefined if the URL leaves it open. */
  readonly version: string | undefined;
}

/** Undefined for a text that is not a package URL. A qualifier names another package only in distributions, and a subpath only in Go. */
export function packageIn(purl: string): PackageRef | undefined {
  const [, type = '', rest = '', qualifiers = '', subpath = ''] =
    /^pkg:\/*([a-z][a-z0-9.+-]*)\/([^?#]+)(?:\?([^#]*))?(?:#(.*))?$/is.exec(purl) ?? [];
  // An at sign before a slash begins the scope of a package; some authors do not encode it.
  const [, path = '', version] = /^(.+?)(?:@([^@/]*))?$/.exec(rest) ?? [];
  // Empty segments are ignored. A regular expression for those at the end would take a minute for 100,000 of them.
  const name = tryDecode(splitPath(path).join('/'));
  const at = version === undefined ? undefined : tryDecode(version);
  if (!name) return undefined;
  const [first, ...others] = namesWith(type.toLowerCase(), name, tryDecode(subpath) ?? '');
  const key = (one: string): string => packageKey(type.toLowerCase(), one);
  const all = [...others, ...listSources(type.toLowerCase(), name, qualifiers)];
  return { keys: [key(first), ...all.map(key)], version: at || undefined };
}

/** The types of distributions whose advisories name source packages, while SBOMs list the packages built from these. */
const DISTRIBUTIONS = ['deb', 'apk', 'rpm'];

/** The source package by the qualifier of syft and trivy: `debian/libcurl4?upstream=curl%407.88.1` is built from `debian/curl`. */
function listSources(type: string, name: string, qualifiers: string): readonly string[] {
  if (!DISTRIBUTIONS.includes(type)) return [];
  const upstream = qualifiers.split('&').find((one) => one.startsWith('upstream='));
  const [source = ''] = (tryDecode(upstream?.slice('upstream='.length) ?? '') ?? '').split('@');
  return source === '' ? [] : [[...splitPath(name).slice(0, -1), source].join('/')];
}

const splitPath = (path: string): readonly string[] => path.split('/').filter((segment) => segment !== '');

/**
 * syft cuts the path of a Go module after the repository, and writes its end as the subpath: `pgx@v5.6.0#v5` is the module
 * `pgx/v5`, which is not the module `pgx`. By the specification a subpath is a folder of the module.
 */
function namesWith(type: string, name: string, subpath: string): readonly [string, ...string[]] {
  const folders = splitPath(subpath);
  if (type !== 'golang' || folders.length === 0) return [name];
  const major = folders.findIndex((folder) => /^v([2-9]|[1-9]\d+)$/.test(folder)) + 1;
  return [[name, ...folders.slice(0, major)].join('/'), [name, ...folders].join('/')];
}

/** The package URL types of OSV ecosystems. */
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
  SwiftURL: 'swift',
  CRAN: 'cran',
  Hackage: 'hackage',
};

/** The key of a package that an advisory names; undefined if its name in SBOMs is unknown. */
export function packageNamed({
  ecosystem,
  name,
  purl,
}: {
  readonly ecosystem: string;
  readonly name: string;
  readonly purl?: string | undefined;
}): string | undefined {
  if (purl !== undefined) return packageIn(purl)?.keys[0];
  const type = PURL_TYPES[ecosystem.split(':')[0] ?? ''];
  return type === undefined ? undefined : packageKey(type, type === 'maven' ? name.replace(':', '/') : name);
}

/** Types whose versions are all semantic. */
const SEMANTIC = ['npm', 'golang', 'cargo', 'hex', 'pub', 'swift'];

export const isSemantic = (key: string): boolean => SEMANTIC.includes(key.split('/')[0] ?? '');

const ignoreCase = (name: string): string => name.toLowerCase();

/**
 * Names that stand for the same package, by the types of package URLs (PURL-TYPES of the specification: these "must be lowercased", and
 * PyPI follows PEP 503). Go itself is case-sensitive, but SBOMs have its names in lower case. NuGet ignores case, and crates.io takes no
 * second name that differs only in case, hyphen or underscore. All other names are used as written.
 */
const SAME_NAME: Readonly<Record<string, (name: string) => string>> = {
  ...{
    golang: ignoreCase,
    nuget: ignoreCase,
    composer: ignoreCase,
    hex: ignoreCase,
    pub: ignoreCase,
    luarocks: ignoreCase,
  },
  ...{
    deb: ignoreCase,
    apk: ignoreCase,
    alpm: ignoreCase,
    github: ignoreCase,
    bitbucket: ignoreCase,
    bitnami: ignoreCase,
  },
  pypi: (name) => ignoreCase(name).replace(/[-_.]+/g, '-'),
  cargo: (name) => ignoreCase(name).replace(/_/g, '-'),
};

/** A key of a package by its type and name: the same for all spellings. */
export const packageKey = (type: string, name: string): string => `${type}/${SAME_NAME[type]?.(name) ?? name}`;

function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
