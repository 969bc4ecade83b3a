import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Env } from '../../settings/env';
import { installRoot } from '../../settings/registry';
import { formatDuration } from '../../domain/text';
import type { DoctorCheck } from './check';

/** The equipment of this machine: programs, packages, a build, disk space. */

const ROOT = installRoot();
// The set-up scripts are plain JavaScript, because they run before anything is compiled; their verdict is ours.
const scripts = createRequire(join(ROOT, 'package.json'));

export function checkNode(): DoctorCheck {
  const name = 'Node';
  const { older } = scripts('./scripts/dependencies.js') as { older: (version: string, wanted: string) => boolean };
  const wanted = (scripts('./package.json') as { engines: { node: string } }).engines.node.replace('>=', '');
  const found = process.versions.node;
  if (!older(found, wanted)) return { name, state: 'ok', found, how: null };
  return { name, state: 'missing', found, how: `install Node ${wanted} or newer from https://nodejs.org` };
}

export function checkPackages(): DoctorCheck {
  const name = 'npm packages';
  const { outdated } = scripts('./scripts/dependencies.js') as { outdated: () => string | undefined };
  const why = outdated();
  if (why === undefined) return { name, state: 'ok', found: 'as the lockfile says', how: null };
  return { name, state: 'missing', found: why, how: 'npm ci' };
}

export function checkBuild(): DoctorCheck {
  const name = 'build';
  const { buildIsCurrent } = scripts('./scripts/build.js') as { buildIsCurrent: () => boolean };
  if (buildIsCurrent()) return { name, state: 'ok', found: 'up to date', how: null };
  return { name, state: 'warning', found: 'older than the sources', how: 'npm run build' };
}

export async function checkTemporalBinary(env: Env): Promise<DoctorCheck> {
  const name = 'Temporal server';
  const path = await lastOutputLine('bash', [join(ROOT, 'temporal-dev.sh'), '--print-path'], env);
  if (path === TOO_SLOW) return tooSlow(name);
  if (path === undefined) {
    const how =
      './temporal-dev.sh --install-only downloads or builds one; or install the Temporal CLI, https://docs.temporal.io/cli';
    return { name, state: 'missing', found: 'none on PATH or in the cache', how };
  }
  return {
    name,
    state: 'ok',
    found: `${versionWords(await lastOutputLine(path, ['--version'], env))}, ${path}`,
    how: null,
  };
}

export async function checkTestServer(env: Env): Promise<DoctorCheck> {
  const name = 'virtual-time test server';
  const path = await lastOutputLine('bash', [join(ROOT, 'scripts/test-server.sh'), '--print-path'], env);
  if (path === TOO_SLOW) return tooSlow(name);
  if (path !== undefined) return { name, state: 'ok', found: path, how: null };
  const [java, maven] = await Promise.all([
    lastOutputLine('java', ['-version'], env),
    lastOutputLine('mvn', ['-v'], env),
  ]);
  if (java !== undefined && maven !== undefined) {
    return {
      name,
      state: 'warning',
      found: 'not fetched yet; Java and Maven are here',
      how: 'npm test fetches it, or scripts/test-server.sh',
    };
  }
  const absent = [java === undefined ? 'Java' : '', maven === undefined ? 'Maven' : '']
    .filter((it) => it !== '')
    .join(' and ');
  const how = `only tests need it: install ${absent} (Debian: apt-get install default-jre-headless maven; macOS: brew install openjdk maven)`;
  return { name, state: 'warning', found: `none, and no ${absent} to fetch it`, how };
}

const ROOM_BYTES = 2 * 1024 ** 3;

export async function checkDisk(env: Env): Promise<DoctorCheck> {
  const name = 'disk space';
  const cache = env.CONVEYOR_CACHE ?? join(env.XDG_CACHE_HOME ?? join(env.HOME ?? homedir(), '.cache'), 'conveyor');
  const at = findExistingAncestor(cache);
  const { bavail, bsize } = await statfs(at);
  const found = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GB free at ${at}`;
  if (bavail * bsize >= ROOM_BYTES) return { name, state: 'ok', found, how: null };
  return {
    name,
    state: 'warning',
    found,
    how: 'building the Temporal server takes 2 GB: make room, or set CONVEYOR_CACHE to a larger disk',
  };
}

const findExistingAncestor = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : findExistingAncestor(dirname(path));

const PROGRAM_TIMEOUT_MS = 10_000;

/** A check that did not finish in time: the program may exist. */
const TOO_SLOW = Symbol('too slow');

const tooSlow = (name: string): DoctorCheck => ({
  ...{ name, state: 'warning' },
  found: `unknown: the check took longer than ${formatDuration(PROGRAM_TIMEOUT_MS)}; this machine may be too busy`,
  how: 'run doctor again once it is less busy (uptime shows its load)',
});

const versionWords = (line: string | undefined | typeof TOO_SLOW): string =>
  typeof line === 'string' ? line : 'of an unknown version';

/** The last line that a program prints; undefined if it does not exist or fails. */
export function lastOutputLine(
  command: string,
  args: readonly string[],
  env: Env,
  timeoutMs = PROGRAM_TIMEOUT_MS,
): Promise<string | undefined | typeof TOO_SLOW> {
  return new Promise((resolve) => {
    execFile(command, [...args], { env: { ...env }, timeout: timeoutMs }, (error, stdout) =>
      // Without printed output, the path or version is unknown.
      resolve(error?.killed ? TOO_SLOW : error ? undefined : stdout.trim().split('\n').at(-1) || undefined),
    );
  });
}
