import { randomBytes } from 'node:crypto';
import { conveyorError, unfitError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { CONFIG_LIMITS } from '../../domain/limits';
import { Keys } from './etcdKeys';
import { base64, encodeKeyRange, type KeyRange } from './etcdWire';

/** The users that a store must have, and their roles. */
export interface WantedUsers {
  readonly repository: string;
  /** The user of the configuration service and of servers, which write all of the repository. */
  readonly service: { readonly user: string; readonly password: string };
  /** Each reads all of the repository, and writes acknowledgements: those of all hosts, or only its own. */
  readonly hosts: readonly string[];
  /** Whether hosts get their own roles. A host that has one keeps it in any case. */
  readonly isPerHost?: boolean;
  /** Hosts that get a new password; the old one stops working at once. */
  readonly rotated?: readonly string[];
  /** Hosts whose users are removed. */
  readonly revoked?: readonly string[];
  /** The administrator of etcd. */
  readonly rootPassword: string;
}

/** One change of the users and roles of etcd. */
export interface LockStep {
  readonly text: string;
  readonly path: string;
  readonly body: object;
  /** The password that this change gives to a host. */
  readonly issued?: { readonly host: string; readonly password: string };
}

interface Permission {
  readonly type: 'READ' | 'READWRITE';
  readonly range: KeyRange;
}

/** The present users and roles of etcd. */
export interface PresentUsers {
  /** By role: its permissions, as texts. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** By user: its roles. */
  readonly users: Readonly<Record<string, readonly string[]>>;
  /** Hosts whose acknowledgements count only under their own roles. */
  readonly named: readonly string[];
  readonly isLocked: boolean;
}

export const ADMINISTRATOR = 'root';

/** The prefix of hosts' users. */
export const HOST_USER = 'host-';

export const hostUser = (host: string): string => `${HOST_USER}${host}`;

/**
 * The missing steps; none if the store is already as wanted. An existing user keeps its password.
 * @throws ConveyorError `usage`, `over-limit`
 */
export function planLock(wanted: WantedUsers, present: PresentUsers, newPassword = makePassword): LockStep[] {
  const { repository, service, hosts, isPerHost = false, rotated = [], revoked = [], rootPassword } = wanted;
  const keys = new Keys(repository);
  const names = roleNames(repository);
  const hasOwn = (host: string): boolean => isPerHost || present.named.includes(host);
  const isAdded = (host: string): boolean => hosts.includes(host) && present.users[hostUser(host)] === undefined;
  refuseManyOwn([...present.named.filter((host) => !revoked.includes(host)), ...(isPerHost ? hosts : [])]);
  return [
    ...roleSteps(present, ADMINISTRATOR, []),
    ...roleSteps(present, names.writer, [{ type: 'READWRITE', range: keys.everything }]),
    ...roleSteps(present, names.host, hostPermissions(keys)),
    ...userSteps(present, { name: ADMINISTRATOR, password: rootPassword, role: ADMINISTRATOR }),
    ...userSteps(present, { name: service.user, password: service.password, role: names.writer }),
    ...hosts.flatMap((host) => {
      const role = hasOwn(host) ? names.own(host) : names.host;
      const steps = userSteps(present, { name: hostUser(host), password: newPassword(), role, host });
      if (!hasOwn(host)) return steps;
      const made = roleSteps(present, role, hostPermissions(keys, host));
      return [...made, ...steps, ...nameSteps(present, keys, host), ...leaveSteps(present, hostUser(host), names.host)];
    }),
    ...rotated.flatMap((one) => (isAdded(one) ? [] : rotateSteps(present, one, newPassword()))),
    ...revoked.flatMap((one) => revokeSteps(present, keys, one)),
    ...(present.isLocked ? [] : [{ text: 'requires a user for every access', path: '/v3/auth/enable', body: {} }]),
  ];
}

/** Hosts that have users of this repository but are not in the list. */
export function findUnlisted(repository: string, { users }: PresentUsers, listed: readonly string[]): string[] {
  const names = roleNames(repository);
  const known = new Set(listed);
  return Object.entries(users).flatMap(([user, roles]) => {
    const host = user.startsWith(HOST_USER) ? user.slice(HOST_USER.length) : undefined;
    if (host === undefined || known.has(host)) return [];
    return roles.includes(names.host) || roles.includes(names.own(host)) ? [host] : [];
  });
}

/** No name of a repository or a host has a colon, so no two roles have the same name. */
export const roleNames = (repository: string) => ({
  writer: `conveyor-${repository}-service`,
  host: `conveyor-${repository}-host`,
  own: (host: string) => `conveyor-${repository}-host:${host}`,
});

/** A host reads everything and writes acknowledgements: with its own role, only its own. */
export const hostPermissions = (keys: Keys, own?: string): readonly Permission[] => [
  { type: 'READ', range: keys.everything },
  { type: 'READWRITE', range: own === undefined ? keys.acknowledgements : keys.ownRange(own) },
];

function refuseManyOwn(hosts: readonly string[]): void {
  const excess = over(CONFIG_LIMITS.ownHosts, new Set(hosts).size);
  if (excess) throw unfitError(excess);
}

function roleSteps({ roles }: PresentUsers, name: string, wanted: readonly Permission[]): LockStep[] {
  const has = roles[name];
  const made = has === undefined ? [{ text: `adds the role ${name}`, path: '/v3/auth/role/add', body: { name } }] : [];
  const granted = wanted.flatMap(({ type, range }): LockStep[] => {
    const perm = { permType: type, ...encodeKeyRange(range) };
    // A grant for the same keys would replace a right to write, which only `--take-surplus` may remove.
    const kept = type === 'READ' ? ['READ', 'WRITE', 'READWRITE'] : [type];
    if (kept.some((one) => has?.includes(permissionText({ ...perm, permType: one })))) return [];
    return [
      {
        text: `lets ${name} ${permissionWords(type)} ${range.key}…`,
        path: '/v3/auth/role/grant',
        body: { name, perm },
      },
    ];
  });
  return [...made, ...granted];
}

function userSteps(
  { users }: PresentUsers,
  { name, password, role, host }: { name: string; password: string; role: string; host?: string },
): LockStep[] {
  const has = users[name];
  const issued = host === undefined ? {} : { issued: { host, password } };
  const added = { text: `adds the user ${name}`, path: '/v3/auth/user/add', body: { name, password }, ...issued };
  const granted = { text: `makes ${name} a ${role}`, path: '/v3/auth/user/grant', body: { user: name, role } };
  return [...(has === undefined ? [added] : []), ...(has?.includes(role) ? [] : [granted])];
}

/** From then on readers accept the host's acknowledgements only from its own keys. */
function nameSteps({ named }: PresentUsers, keys: Keys, host: string): LockStep[] {
  if (named.includes(host)) return [];
  const text = `takes acknowledgements of ${host} from ${hostUser(host)} alone`;
  return [{ text, path: '/v3/kv/put', body: { key: base64(keys.name(host)), value: '' } }];
}

function leaveSteps({ users }: PresentUsers, name: string, role: string): LockStep[] {
  if (!users[name]?.includes(role)) return [];
  return [{ text: `makes ${name} no ${role}`, path: '/v3/auth/user/revoke', body: { name, role } }];
}

/** @throws ConveyorError `usage` for a host without a user */
function rotateSteps({ users }: PresentUsers, host: string, password: string): LockStep[] {
  const name = hostUser(host);
  if (users[name] === undefined)
    throw conveyorError('usage', {
      text: `${host} has no user`,
      hint: '--host adds one; --dry-run shows what there is to do',
    });
  const body = { name, password };
  return [{ text: `gives ${name} another password`, path: '/v3/auth/user/changepw', body, issued: { host, password } }];
}

/** Removing a host that is already gone changes nothing. */
function revokeSteps({ users, roles, named }: PresentUsers, keys: Keys, host: string): LockStep[] {
  const [name, role] = [hostUser(host), roleNames(keys.repository).own(host)];
  const user = { text: `removes the user ${name}`, path: '/v3/auth/user/delete', body: { name } };
  const own = { text: `removes the role ${role}`, path: '/v3/auth/role/delete', body: { role } };
  const key = base64(keys.name(host));
  const known = { text: `knows ${host} no more`, path: '/v3/kv/deleterange', body: { key } };
  return [
    ...(users[name] === undefined ? [] : [user]),
    ...(roles[role] === undefined ? [] : [own]),
    ...(named.includes(host) ? [known] : []),
  ];
}

const permissionWords = (type: Permission['type']): string => (type === 'READ' ? 'read' : 'read and write');

/** A permission as a text: etcd answers in the words of the request. */
export const permissionText = ({ permType = 'READ', key = '', range_end: end = '' }: RawPermission): string =>
  `${permType} ${key} ${end}`;

export interface RawPermission {
  readonly permType?: string;
  readonly key?: string;
  readonly range_end?: string;
}

const makePassword = (): string => randomBytes(24).toString('base64url');

/** @throws ConveyorError `usage` */
export function refuseHosts(hosts: readonly string[]): void {
  const wrong = hosts.find((host) => !/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/.test(host));
  if (wrong !== undefined)
    throw conveyorError('usage', {
      text: `${JSON.stringify(wrong)} is not a host name`,
      hint: 'as config-proxy --host has it',
    });
}
