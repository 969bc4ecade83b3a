import { delimiter, join } from 'node:path';
import type { Scripts } from '../settings/scripts';
import { ownGroup, type CgroupRoot } from './cgroup';
import { mayExecute, readOrEmpty } from './files';

/** A way to isolate a script on a machine. */
export interface IsolationMethod {
  /** `own`: created with root's rights. `user`: inside a user namespace, which most machines allow to all users. */
  readonly namespaces: 'own' | 'user' | null;
  /** Null for the account of the worker. */
  readonly account: Account | null;
  /** Null if they are not installed: then only the account isolates. */
  readonly tools: Tools | null;
  /** The place of each script's own control group; null if scripts stay in the worker's. */
  readonly groups: CgroupRoot | null;
}

/** Runs as the starting user without isolation. */
export const NO_ISOLATION: IsolationMethod = { namespaces: null, account: null, tools: null, groups: null };

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Paths of util-linux programs, resolved once and not again for each script. */
export interface Tools {
  readonly setpriv: string;
  readonly prlimit: string;
  readonly unshare: string;
}

export interface Machine {
  readonly platform: string;
  readonly uid: number;
  readonly tools: Tools | null;
  readonly account: Account;
  /** The folder of the worker's control group; null without cgroup v2. */
  readonly cgroup: string | null;
}

export function thisMachine(scripts: Pick<Scripts, 'user' | 'group' | 'path'>): Machine {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    tools: toolsOn(scripts.path),
    account: accountFor(scripts),
    cgroup: ownGroup(),
  };
}

/** The best first. Which of them a machine permits can only be tried. */
export function methodsFor(
  { platform, uid, tools, account }: Omit<Machine, 'cgroup'>,
  room: CgroupRoot | null,
): readonly IsolationMethod[] {
  const accounts = uid === 0 ? [account, null] : [null];
  const found = platform === 'linux' ? tools : null;
  const namespaces = found === null ? [null] : uid === 0 ? (['own', null] as const) : (['user', null] as const);
  const rooms = room === null ? [null] : [room, null];
  const best = namespaces.flatMap((kind) =>
    accounts.flatMap((as) => rooms.map((groups) => ({ namespaces: kind, account: as, tools: found, groups }))),
  );
  const bare = accounts.map((as) => ({ namespaces: null, account: as, tools: null, groups: null }));
  return found === null ? bare : [...best, ...bare];
}

const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The search path of our own programs, independent of the scripts' path. */
export const systemPath = (path: string): string => [...SYSTEM_FOLDERS, path].join(delimiter);

function toolsOn(path: string): Tools | null {
  const folders = systemPath(path).split(delimiter);
  const [setpriv, prlimit, unshare] = ['setpriv', 'prlimit', 'unshare'].map((tool) => findProgram(tool, folders));
  return setpriv && prlimit && unshare ? { setpriv, prlimit, unshare } : null;
}

function findProgram(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find((file) => mayExecute(file));
}

/** The id of `nobody` on every system. */
const NOBODY_ID = 65_534;

function accountFor({ user, group }: Pick<Scripts, 'user' | 'group'>): Account {
  const known = findAccountRow('/etc/passwd', user);
  const uid = known?.[2] ?? user;
  const gid = group === null ? (known?.[3] ?? uid) : (findAccountRow('/etc/group', group)?.[2] ?? group);
  return { uid: parseAccountId(uid), gid: parseAccountId(gid) };
}

const parseAccountId = (text: string): number => (/^\d+$/.test(text) ? Number(text) : NOBODY_ID);

function findAccountRow(file: string, name: string): readonly string[] | undefined {
  const rows = readOrEmpty(file)
    .split('\n')
    .map((line) => line.split(':'));
  return rows.find((row) => row[0] === name || row[2] === name);
}
