/** `user:alice`, `group:storage`, `service:ci` (docs/reference/access.md). */
export type Principal = string;

export const PRINCIPAL = /^(user|group|service):[A-Za-z0-9._@-]+$/;

/** A group owns things, and its members act: nobody comes as the group itself. */
export const isGroup = (principal: Principal): boolean => principal.startsWith('group:');

/** Who may command a pipeline: its owners, with the groups among them as the platform's configuration lists them. */
export interface Policy {
  readonly owners: readonly Principal[];
  readonly groups: Readonly<Record<string, readonly Principal[]>>;
}

/**
 * What makes the actor of a request one who may not command; undefined when they may. A door that decided by the rules of the platform
 * says by which, and owners are asked no more.
 */
export function whyNotCommand(policy: Policy, { actor, permitted }: Acting, pipeline: string): string | undefined {
  if (isGroup(actor)) return `${actor} is a group, which never acts: come as one of its members`;
  return permitted !== undefined || mayCommand(policy, actor) ? undefined : `${actor} is not an owner of ${pipeline}`;
}

interface Acting {
  readonly actor: Principal;
  readonly permitted?: string | undefined;
}

/** Whether a door let somebody in as an admin of the platform, by name or through a group. */
export const isByAdmin = ({ permitted = '' }: Pick<Acting, 'permitted'>): boolean =>
  permitted === 'platform.admins' || permitted.startsWith('platform.admins ');

/** Default grants nothing: an actor must be an owner or a member of a group that is one (docs/design/overview.md#trust). */
export function mayCommand(policy: Policy, actor: Principal): boolean {
  return policy.owners.some((owner) => owner === actor || membersOf(owner, policy.groups).includes(actor));
}

/** Everybody who is an owner, or a member of a group that is one. */
export const principalsOf = (policy: Policy): readonly Principal[] => [
  ...new Set(policy.owners.flatMap((owner) => (isGroup(owner) ? membersOf(owner, policy.groups) : [owner]))),
];

/** The groups that somebody is a member of, as owners name them. */
export const groupsOfMember = (groups: Policy['groups'], actor: Principal): readonly Principal[] =>
  Object.keys(groups)
    .filter((name) => groups[name]?.includes(actor))
    .map((name) => `group:${name}`);

/** With somebody in these groups as well, which an identity provider says. */
export const withMember = (groups: Policy['groups'], actor: Principal, names: readonly string[]): Policy['groups'] =>
  Object.assign(
    Object.create(null) as Record<string, readonly Principal[]>,
    groups,
    Object.fromEntries(
      names.map((name) => [name, [...(Object.hasOwn(groups, name) ? (groups[name] ?? []) : []), actor]]),
    ),
  );

/** Of a group that the configuration lists; what every object inherits, such as `constructor`, is none. */
export function membersOf(one: Principal, groups: Policy['groups']): readonly Principal[] {
  const name = isGroup(one) ? one.slice('group:'.length) : '';
  return Object.hasOwn(groups, name) ? (groups[name] ?? []) : [];
}
