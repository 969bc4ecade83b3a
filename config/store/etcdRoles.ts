import { randomBytes } from 'node:crypto';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { EtcdApi, type EtcdOptions } from './etcdApi';
import { Keys } from './etcdKeys';
import { keyOf, type KeyRange } from './etcdWire';

/** Who may enter a store, and in which role. */
export interface WantedUsers {
  readonly repository: string;
  /** The user of the service of configuration and of servers, who write all of the repository. */
  readonly service: { readonly user: string; readonly password: string };
  /** Each reads all of the repository, and writes acknowledgements. */
  readonly hosts: readonly string[];
  /** Hosts that get another password; the old one stops working at once. */
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

/** What etcd has. */
export interface PresentUsers {
  /** By role: its permissions, as texts. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** By user: its roles. */
  readonly users: Readonly<Record<string, readonly string[]>>;
  readonly isLocked: boolean;
}

const ADMINISTRATOR = 'root';

export const hostUser = (host: string): string => `host-${host}`;

/** What is missing; nothing if everything is as it should be. A user that exists keeps its password. */
export function planLock(wanted: WantedUsers, present: PresentUsers, newPassword = makePassword): LockStep[] {
  const { repository, service, hosts, rotated = [], revoked = [], rootPassword } = wanted;
  const keys = new Keys(repository);
  const [writer, host] = [`conveyor-${repository}-service`, `conveyor-${repository}-host`];
  const users: { name: string; password: string; roles: readonly string[]; host?: string }[] = [
    { name: ADMINISTRATOR, password: rootPassword, roles: [ADMINISTRATOR] },
    { name: service.user, password: service.password, roles: [writer] },
    ...hosts.map((one) => ({ name: hostUser(one), password: newPassword(), roles: [host], host: one })),
  ];
  return [
    ...roleSteps(present, ADMINISTRATOR, []),
    ...roleSteps(present, writer, [{ type: 'READWRITE', range: keys.everything }]),
    ...roleSteps(present, host, [
      { type: 'READ', range: keys.everything },
      { type: 'READWRITE', range: keys.acknowledgements },
    ]),
    ...users.flatMap((user) => userSteps(present, user)),
    ...rotated.flatMap((one) => (hosts.includes(one) ? [] : rotateSteps(present, one, newPassword()))),
    ...revoked.flatMap((one) => revokeSteps(present, one)),
    ...(present.isLocked ? [] : [{ text: 'lets in nobody without a user', path: '/v3/auth/enable', body: {} }]),
  ];
}

function roleSteps({ roles }: PresentUsers, name: string, wanted: readonly Permission[]): LockStep[] {
  const has = roles[name];
  const made = has === undefined ? [{ text: `adds the role ${name}`, path: '/v3/auth/role/add', body: { name } }] : [];
  const granted = wanted.flatMap(({ type, range }): LockStep[] => {
    const text = permissionText({ permType: type, ...keyOf(range) });
    if (has?.includes(text)) return [];
    const perm = { permType: type, ...keyOf(range) };
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
  { name, password, roles, host }: { name: string; password: string; roles: readonly string[]; host?: string },
): LockStep[] {
  const has = users[name];
  const issued = host === undefined ? {} : { issued: { host, password } };
  const added = { text: `adds the user ${name}`, path: '/v3/auth/user/add', body: { name, password }, ...issued };
  const granted = roles.filter((role) => !has?.includes(role));
  return [
    ...(has === undefined ? [added] : []),
    ...granted.map((role) => {
      return { text: `makes ${name} a ${role}`, path: '/v3/auth/user/grant', body: { user: name, role } };
    }),
  ];
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

/** Removing a user that is already gone is no change. */
function revokeSteps({ users }: PresentUsers, host: string): LockStep[] {
  const name = hostUser(host);
  if (users[name] === undefined) return [];
  return [{ text: `removes the user ${name}`, path: '/v3/auth/user/delete', body: { name } }];
}

const permissionWords = (type: Permission['type']): string => (type === 'READ' ? 'read' : 'read and write');

/** A permission as a text: etcd answers in the words in which it is asked. */
const permissionText = ({ permType = 'READ', key = '', range_end: end = '' }: RawPermission): string =>
  `${permType} ${key} ${end}`;

interface RawPermission {
  readonly permType?: string;
  readonly key?: string;
  readonly range_end?: string;
}

const makePassword = (): string => randomBytes(24).toString('base64url');

/** The users and roles of etcd, and a door for its administrator: with a password once it is locked. */
export class EtcdLock {
  private readonly api: EtcdApi;
  private readonly open: EtcdApi;

  constructor({ login: _login, ...options }: EtcdOptions, rootPassword: string) {
    this.open = new EtcdApi(options);
    this.api = new EtcdApi({ ...options, login: { user: ADMINISTRATOR, password: rootPassword } });
  }

  /** @throws ConveyorError `store-refused` for another password of the administrator */
  async present(): Promise<PresentUsers> {
    const isLocked = await this.isLocked();
    const api = isLocked ? this.api : this.open;
    const { roles: roleNames = [] } = await api.ask<{ roles?: string[] }>('/v3/auth/role/list', {});
    const { users: userNames = [] } = await api.ask<{ users?: string[] }>('/v3/auth/user/list', {});
    const roles: Record<string, readonly string[]> = {};
    for (const role of roleNames) {
      const { perm = [] } = await api.ask<{ perm?: RawPermission[] }>('/v3/auth/role/get', { role });
      roles[role] = perm.map(permissionText);
    }
    const users: Record<string, readonly string[]> = {};
    for (const name of userNames)
      users[name] = (await api.ask<{ roles?: string[] }>('/v3/auth/user/get', { name })).roles ?? [];
    return { roles, users, isLocked };
  }

  async take({ path, body }: LockStep, isLocked: boolean): Promise<void> {
    await (isLocked ? this.api : this.open).ask(path, body);
  }

  private async isLocked(): Promise<boolean> {
    try {
      await this.open.range({ key: LOOKED_AT, limit: 1 });
      return false;
    } catch (error) {
      if (error instanceof ConveyorError && /user name is empty/.test(error.message)) return true;
      throw error;
    }
  }
}

const LOOKED_AT = '/conveyor/config';

/** @throws ConveyorError `usage` */
export function refuseHosts(hosts: readonly string[]): void {
  const wrong = hosts.find((host) => !/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/.test(host));
  if (wrong !== undefined)
    throw conveyorError('usage', {
      text: `${JSON.stringify(wrong)} is not a host name`,
      hint: 'as config-proxy --host has it',
    });
}
