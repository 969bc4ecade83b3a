import { Keys } from './etcdKeys';
import { encodeKeyRange } from './etcdWire';
import {
  ADMINISTRATOR,
  HOST_USER,
  hostPermissions,
  hostUser,
  permissionText,
  roleNames,
  type LockStep,
  type PresentUsers,
  type WantedUsers,
} from './lockPlan';

/** A right beyond those that `planLock` gives, and the change that revokes it. */
export interface Surplus {
  readonly text: string;
  readonly step: LockStep;
}

/**
 * The rights of hosts' roles and users beyond those that they should have, and the users, other than the administrator and the configuration service,
 * with the rights of these two. Other roles of etcd are left to its administrator. Users and roles of revoked hosts end with all of their rights.
 */
export function findSurplus(
  { repository, service, revoked = [] }: Pick<WantedUsers, 'repository' | 'service' | 'revoked'>,
  { roles, users }: PresentUsers,
): Surplus[] {
  const names = roleNames(repository);
  const ofRoles = Object.entries(roles).flatMap(([role, permissions]) => {
    const [shared, own] = role.split(':');
    if (shared !== names.host || (own !== undefined && revoked.includes(own))) return [];
    const wanted = hostPermissions(new Keys(repository), own).map(({ type, range }) =>
      permissionText({ permType: type, ...encodeKeyRange(range) }),
    );
    // A right to read or to write is less than a right to both.
    const isOwn = (one: string): boolean => wanted.includes(one) || wanted.includes(one.replace(/^\w+/, 'READWRITE'));
    return permissions.flatMap((one) => (isOwn(one) ? [] : [createPermissionSurplus(role, one, wanted)]));
  });
  const isSurplus = (user: string, role: string): boolean => {
    if (role === ADMINISTRATOR) return user !== ADMINISTRATOR;
    if (role === names.writer) return user !== service.user;
    return user.startsWith(HOST_USER) && !isHostRole(user.slice(HOST_USER.length), role);
  };
  const gone = new Set(revoked.map(hostUser));
  const ofUsers = Object.entries(users).flatMap(([user, has]) =>
    has.flatMap((role) => (isSurplus(user, role) && !gone.has(user) ? [createRoleSurplus(user, role)] : [])),
  );
  return [...ofRoles, ...ofUsers];
}

/** A host has one user for all repositories of a store. */
const isHostRole = (host: string, role: string): boolean => {
  const [name, own] = role.split(':');
  return /^conveyor-.+-host$/.test(name ?? '') && (own === undefined || own === host);
};

/** Means all keys if it is both ends of a range. */
const FIRST_KEY = 'AA==';

function createPermissionSurplus(role: string, permission: string, wanted: readonly string[]): Surplus {
  const [type = '', key = '', range_end = ''] = permission.split(' ');
  const does = { READ: 'read', WRITE: 'write', READWRITE: 'read and write' }[type] ?? type;
  const isEverything = key === FIRST_KEY && range_end === FIRST_KEY;
  const where = isEverything ? 'every key' : `${Buffer.from(key, 'base64').toString()}${range_end === '' ? '' : '…'}`;
  const text = `the role ${role} may also ${does} ${where}`;
  const body = { role, key, range_end };
  // A role has one permission for the same keys: a grant narrows it, and a revoke would leave none.
  if (wanted.includes(permissionText({ key, range_end }))) {
    const perm = { permType: 'READ', key, range_end };
    return {
      text,
      step: { text: `lets ${role} only read ${where}`, path: '/v3/auth/role/grant', body: { name: role, perm } },
    };
  }
  return {
    text,
    step: { text: `no longer lets ${role} ${does} ${where}`, path: '/v3/auth/role/revoke', body },
  };
}

const createRoleSurplus = (user: string, role: string): Surplus => ({
  text: `${user} is also a ${role}`,
  step: { text: `makes ${user} no ${role}`, path: '/v3/auth/user/revoke', body: { name: user, role } },
});
