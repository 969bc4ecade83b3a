import type { Principal } from '../principals';
import { grantAccess, denyAccess, type AccessDecision } from './decision';
import { formatPrincipals, membership } from './members';
import { matchesAny } from '../pattern';
import type { PlatformFacts } from './platform';

/** A child, and the release of another pipeline that would start it. */
export interface Birth {
  readonly child: string;
  readonly owners: readonly Principal[];
  /** The pipeline that the child names as its parent; undefined if it names none. */
  readonly names: string | undefined;
  readonly parent: string;
  /** The actor who started the parent's release; undefined for older releases. */
  readonly startedBy: Principal | undefined;
}

/**
 * Both sides have to agree: the child names its parent, and either the platform lets the parent start it, or the actor
 * who started the parent may release the child. A common owner is not enough: the author of a file could name one.
 */
export function decideBirth(facts: PlatformFacts, { child, owners, names, parent, startedBy }: Birth): AccessDecision {
  const { policy, groups } = facts;
  if (policy === null) return grantAccess('no platform section', 'the pipeline of the child decides');
  if (names !== parent)
    return denyAccess(`${child} does not name ${parent} as its parent: labels: { parent: ${parent} }`);
  const about = policy.pipelines.flatMap((rule, at) =>
    matchesAny(rule.names, child) ? [{ rule, place: `platform.pipelines.${at}` }] : [],
  );
  const found = about.find(({ rule }) => matchesAny(rule.parents, parent));
  if (found) return grantAccess(`${found.place}.parents`, `${parent} may start ${child}`);
  const member = startedBy === undefined ? undefined : membership([...owners, ...policy.admins], startedBy, groups);
  if (member) return grantAccess(`owners of ${child}`, `${startedBy} may release ${child}`, member.through);
  return denyAccess(
    `${parent} may not start ${child}: no rule of platform.pipelines has it among the parents, and ${startedBy ?? 'whoever started it'} is not an owner of ${child}: ${formatPrincipals(owners, groups)}`,
  );
}
