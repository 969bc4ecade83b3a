import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname } from 'node:path';
import type { Scripts } from '../settings/scripts';
import type { Places } from './enclosure';
import type { Account } from './method';

/**
 * Folders with sockets that lead out of every namespace: of a user's service manager, of Docker, or of programs that
 * use `/tmp` for them.
 */
const PRIVATE = ['/run', '/dev/shm', '/tmp'];
/** Files in `/run` that programs need for name resolution and for finding themselves. */
const KEPT_OF_RUN = [
  'systemd/resolve',
  'resolvconf',
  'NetworkManager',
  'current-system',
  'booted-system',
  'opengl-driver',
];

/** The folders that a script sees. `folder` belongs to this script alone and contains `stage`. */
export function placesFor(
  { directory, path, writable }: Pick<Scripts, 'directory' | 'path' | 'writable'>,
  {
    stage,
    files,
    account,
  }: { readonly stage: string; readonly files: readonly string[]; readonly account: Account | null },
): Places {
  const home = real(directory);
  const open = writable.filter((it) => existsSync(it)).map(real);
  const programs = path.split(delimiter).filter((it) => it.startsWith('/') && existsSync(it));
  const seen = [home, ...open, ...programs.map(real).map(toProgramRoot)];
  const candidates = [...PRIVATE, tmpdir(), ...seen.flatMap((it) => findClosedFolder(account, it))].filter((it) =>
    existsSync(it),
  );
  const privates = outermost(candidates.map(real).filter((it) => !seen.includes(it)));
  const kept = outermost([...seen, ...KEPT_OF_RUN.map((it) => `/run/${it}`).filter((it) => existsSync(it)), ...files]);
  return {
    stage,
    privates: [...privates].sort((a, b) => Number(isWithin(stage, a)) - Number(isWithin(stage, b))),
    kept: kept.filter((it) => privates.some((folder) => isWithin(it, folder))),
    writable: open,
  };
}

/** Folders of programs, libraries and kernel files. Untrusted code needs nothing else. */
const SYSTEM_FOLDERS = ['bin', 'dev', 'gnu', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'proc', 'sbin', 'usr'];
/** Programs find their libraries through these. */
const KEPT_OF_ETC = ['ld.so.cache', 'alternatives', 'static'];

/** The folders for a program that needs nothing of the machine: `reads`, and the minimum needed to start. */
export function barePlaces(reads: readonly string[], stage: string): Places {
  const above = readdirSync('/', { withFileTypes: true }).filter(
    (it) => it.isDirectory() && !SYSTEM_FOLDERS.includes(it.name),
  );
  const privates = [...above.map(({ name }) => `/${name}`), '/dev/shm'].filter(
    (it) => it === '/tmp' || holdsAnything(it),
  );
  const kept = outermost([...reads, ...KEPT_OF_ETC.map((it) => `/etc/${it}`).filter((it) => existsSync(it))]);
  return {
    stage,
    privates: privates.sort((a, b) => Number(isWithin(stage, a)) - Number(isWithin(stage, b))),
    kept: kept.filter((it) => privates.some((folder) => isWithin(it, folder))),
    writable: [],
  };
}

/** An empty folder needs no private one mounted over it. */
function holdsAnything(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return existsSync(folder);
  }
}

/** Programs often need the folders beside their own: `bin` and `lib` come together. */
const toProgramRoot = (folder: string): string =>
  basename(folder) === 'bin' && dirname(folder) !== '/' ? dirname(folder) : folder;

/** The outermost folder on the path that this user may not enter, such as another user's home. */
function findClosedFolder(account: Account | null, path: string): readonly string[] {
  if (account === null) return [];
  const closed = foldersAbove(path).filter((folder) => !mayPass(account, folder));
  return closed.slice(0, 1);
}

function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [...foldersAbove(above), above];
}

function mayPass({ uid, gid }: Account, folder: string): boolean {
  const { mode, uid: owner, gid: group } = statSync(folder);
  const shift = owner === uid ? 6 : group === gid ? 3 : 0;
  return ((mode >> shift) & 1) === 1;
}

const outermost = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].filter((it) => !paths.some((other) => other !== it && isWithin(it, other)));

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
