import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname } from 'node:path';
import type { Scripts } from '../platform/scripts';
import type { Places } from './enclosure';
import type { Account } from './method';

/** Sockets in these lead out of every namespace: of a user's service manager, of Docker, of whoever uses `/tmp` for it. */
const PRIVATE = ['/run', '/dev/shm', '/tmp'];
/** What programs look for in `/run` to find names and themselves. */
const KEPT_OF_RUN = [
  'systemd/resolve',
  'resolvconf',
  'NetworkManager',
  'current-system',
  'booted-system',
  'opengl-driver',
];

/** What a script sees of the machine. `folder` is that of this script alone, with `stage` in it. */
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
  const seen = [home, ...open, ...programs.map(real).map(wholeOf)];
  const candidates = [...PRIVATE, tmpdir(), ...seen.flatMap((it) => closedTo(account, it))].filter((it) =>
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

/** Where systems keep programs and libraries, and what the kernel shows. The code of others needs nothing else. */
const SYSTEM_FOLDERS = ['bin', 'dev', 'gnu', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'proc', 'sbin', 'usr'];
/** Programs find their libraries through these. */
const KEPT_OF_ETC = ['ld.so.cache', 'alternatives', 'static'];

/** What a program that needs nothing of the machine sees: `reads`, and what it needs to start at all. */
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

/** Programs often need what lies beside their folder: `bin` and `lib` come together. */
const wholeOf = (folder: string): string =>
  basename(folder) === 'bin' && dirname(folder) !== '/' ? dirname(folder) : folder;

/** The outermost folder on the way that this user may not go through, such as the home of another one. */
function closedTo(account: Account | null, path: string): readonly string[] {
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
