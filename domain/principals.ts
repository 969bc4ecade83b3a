/** `user:alice`, `group:storage`, `service:ci` (docs/reference/access.md). */
export type Principal = string;

export const PRINCIPAL = /^(user|group|service):[A-Za-z0-9._@-]+$/;

/** A group owns things and its members act; a request never comes from the group itself. */
export const isGroup = (principal: Principal): boolean => principal.startsWith('group:');

/** Commands of services are given without a person who looks. */
export const isPerson = (principal: Principal): boolean => !principal.startsWith('service:');

/**
 * The principals that may command a pipeline: its owners, with the groups among them as the platform's settings
 * lists them.
 */
export interface Policy {
  readonly owners: readonly Principal[];
  readonly groups: Readonly<Record<string, readonly Principal[]>>;
}

/**
 * The reason why the actor of a request may not command; undefined if they may. If a server already permitted it by a
 * rule of the platform, the owners are not consulted.
 */
export function whyNotCommand(
  policy: Policy,
  { actor, permitted }: CommandAuthority,
  pipeline: string,
): string | undefined {
  if (isGroup(actor)) return `${actor} is a group, which never acts: come as one of its members`;
  return permitted !== undefined || mayCommand(policy, actor) ? undefined : `${actor} is not an owner of ${pipeline}`;
}

interface CommandAuthority {
  readonly actor: Principal;
  readonly permitted?: string | undefined;
}

/** Whether a request was permitted because its actor is an admin of the platform, by name or through a group. */
export const isByAdmin = ({ permitted = '' }: Pick<CommandAuthority, 'permitted'>): boolean =>
  permitted === 'platform.admins' || permitted.startsWith('platform.admins ');

/** The default grants nothing: an actor must be an owner or a member of a group that is one (docs/design/overview.md#trust). */
export function mayCommand(policy: Policy, actor: Principal): boolean {
  return policy.owners.some((owner) => owner === actor || listGroupMembers(owner, policy.groups).includes(actor));
}

/** All owners, and the members of groups that are owners. */
export const expandOwners = (policy: Policy): readonly Principal[] => [
  ...new Set(policy.owners.flatMap((owner) => (isGroup(owner) ? listGroupMembers(owner, policy.groups) : [owner]))),
];

/** The groups of a member, as owners name them. */
export const groupsOfMember = (groups: Policy['groups'], actor: Principal): readonly Principal[] =>
  Object.keys(groups)
    .filter((name) => groups[name]?.includes(actor))
    .map((name) => `group:${name}`);

/** The groups, with an actor added to those that an identity provider names. */
export const withMember = (groups: Policy['groups'], actor: Principal, names: readonly string[]): Policy['groups'] =>
  Object.assign(
    Object.create(null) as Record<string, readonly Principal[]>,
    groups,
    Object.fromEntries(
      names.map((name) => [name, [...(Object.hasOwn(groups, name) ? (groups[name] ?? []) : []), actor]]),
    ),
  );

/** The members of a listed group; inherited names such as `constructor` are no groups. */
export function listGroupMembers(one: Principal, groups: Policy['groups']): readonly Principal[] {
  const name = isGroup(one) ? one.slice('group:'.length) : '';
  return Object.hasOwn(groups, name) ? (groups[name] ?? []) : [];
}
