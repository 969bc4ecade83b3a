import type { Principal } from '../principals';
import { matchesAny } from '../pattern';
import { formatPrincipals, membership, shortList } from './members';
import type { PlatformFacts } from './platform';

/**
 * The principals that may propose changes of some paths of a repository of configuration. A final slash means all paths
 * below; `*` stands for any characters.
 */
export interface PathRule {
  readonly names: readonly string[];
  readonly by: readonly Principal[];
}

/** A repository, as needed for decisions about proposals. */
export interface ProposedRepository {
  readonly name: string;
  /** They may change every path. Missing if the file lists none. */
  readonly owners?: readonly Principal[];
  readonly paths?: readonly PathRule[];
}

/**
 * The rights of one author by path, as plain data, because the paths of a proposal are known only after its programs
 * have run.
 */
export interface PathRights {
  readonly rules: readonly {
    readonly place: string;
    readonly names: readonly string[];
    readonly isAllowed: boolean;
    /** A description of the people of the rule. */
    readonly by: string;
  }[];
  /** Why the author may not change a path that no rule names; null if they may. */
  readonly elsewhere: string | null;
  readonly author: Principal;
}

/** A value or source that a proposal changes; a source also counts by its name without the extension. */
export interface TouchedPath {
  readonly path: string;
  readonly stem?: string;
}

/** The place of a rule in the settings. */
export const placeOfPath = (repository: string, at: number): string => `config.repositories.${repository}.paths.${at}`;

/** The rules that let an author propose at least some paths, the first first. */
export const findPathRule = (
  { paths = [] }: Pick<ProposedRepository, 'paths'>,
  who: Principal,
  groups: PlatformFacts['groups'],
) =>
  paths.flatMap((rule, at) => {
    const member = membership(rule.by, who, groups);
    return member === undefined ? [] : [{ ...rule, at, through: member.through }];
  })[0];

/** The rights of an author; null if no rule restricts them: the repository has no rules, or they own all of it, or are an admin. */
export function pathRights(
  { policy, groups }: Pick<PlatformFacts, 'policy' | 'groups'>,
  { name, owners, paths = [] }: ProposedRepository,
  author: Principal,
): PathRights | null {
  const isFree = membership([...(owners ?? []), ...(policy?.admins ?? [])], author, groups) !== undefined;
  if (paths.length === 0 || isFree) return null;
  const rules = paths.map(({ names, by }, at) => ({
    ...{ place: placeOfPath(name, at), names, by: formatPrincipals(by, groups) },
    isAllowed: membership(by, author, groups) !== undefined,
  }));
  return { author, rules, elsewhere: whyNotElsewhere(name, owners, policy, groups) };
}

function whyNotElsewhere(
  name: string,
  owners: ProposedRepository['owners'],
  policy: PlatformFacts['policy'],
  groups: PlatformFacts['groups'],
): string | null {
  const place = `config.repositories.${name}`;
  if (owners !== undefined)
    return `no rule of ${place}.paths is about that path, so it is for ${place}.owners: ${formatPrincipals(owners, groups)}`;
  if (policy === null) return null;
  return `no rule of ${place}.paths is about that path, so it is for platform.admins: ${formatPrincipals(policy.admins, groups)}`;
}

/** The first path that an author may not change, and the required right; undefined if they may change all. */
export function whyNotPaths(
  { author, rules, elsewhere }: PathRights,
  touched: readonly TouchedPath[],
): string | undefined {
  for (const { path, stem = path } of touched) {
    const about = rules.filter(({ names }) => [path, stem].some((one) => matchesAny(names.map(asPattern), one)));
    if (about.some(({ isAllowed }) => isAllowed)) continue;
    const why =
      about.length === 0
        ? elsewhere
        : about.map(({ place, names, by }) => `${place} (${shortList(names)}) lets ${by}`).join(', ');
    if (why !== null) return `${author} may not change ${path}: ${why}`;
  }
  return undefined;
}

const asPattern = (name: string): string => (name.endsWith('/') ? `${name}*` : name);
