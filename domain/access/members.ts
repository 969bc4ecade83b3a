import { isGroup, listGroupMembers, type Principal } from '../principals';
import type { PlatformFacts } from './platform';

type GroupMembers = PlatformFacts['groups'];

/** The membership of a principal in a list: by name, or through a group. */
export interface Membership {
  readonly through: Principal | null;
}

/** Undefined for a principal not in the list, and for a group, which never acts. */
export function membership(list: readonly Principal[], who: Principal, groups: GroupMembers): Membership | undefined {
  if (isGroup(who)) return undefined;
  if (list.includes(who)) return { through: null };
  const through = list.find((one) => listGroupMembers(one, groups).includes(who));
  return through === undefined ? undefined : { through };
}

/** Whether an owner belongs to a list, by name or through a group; a group also if all of its members do. */
export function isCovered(owner: Principal, list: readonly Principal[], groups: GroupMembers): boolean {
  if (list.includes(owner)) return true;
  if (!isGroup(owner)) return membership(list, owner, groups) !== undefined;
  const members = listGroupMembers(owner, groups);
  return members.length > 0 && members.every((member) => membership(list, member, groups) !== undefined);
}

/** Whether the configuration lists the members of a group; an identity provider may know those of others. */
export const isListed = (one: Principal, groups: GroupMembers): boolean =>
  !isGroup(one) || Object.hasOwn(groups, one.slice('group:'.length));

/** People and programs in a list, groups resolved. */
export const expandPrincipals = (list: readonly Principal[], groups: GroupMembers): readonly Principal[] => [
  ...new Set(list.flatMap((one) => (isGroup(one) ? listGroupMembers(one, groups) : [one]))),
];

const NAMED = 5;

/** `group:storage (user:alice, user:bob), user:eve` */
export function formatPrincipals(list: readonly Principal[], groups: GroupMembers): string {
  if (list.length === 0) return 'nobody';
  return shortList(
    list.map((one) => (isGroup(one) ? `${one} (${shortList(listGroupMembers(one, groups)) || 'nobody'})` : one)),
  );
}

export const shortList = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ');
