import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import type { Env } from '../../settings/env';
import { replaceFileSync } from '../../sdk/replaceFile';

/** A token, and the means to renew it. */
export interface Grant {
  readonly token: string;
  /** ms since the epoch; missing if only the server knows. */
  readonly expiresAtMs?: number;
  readonly renewal?: Renewal;
}

export interface Renewal {
  readonly issuer: string;
  readonly client: string;
  readonly refreshToken: string;
}

/** The credentials that `conveyor login` stores: a server and its token for this user. */
export interface Credentials extends Grant {
  /** As `serverUrl` returns it. */
  readonly server: string;
  /** The user confirmed that the unencrypted connection is safe. */
  readonly insecure?: true;
}

/** `$XDG_CONFIG_HOME/conveyor/credentials.json`; undefined without both that variable and a home. */
export function credentialsFile(env: Env): string | undefined {
  const base = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, '.config') : undefined);
  return base === undefined ? undefined : join(base, 'conveyor', 'credentials.json');
}

/** Undefined if not logged in. @throws ConveyorError `credentials-unusable`, which never quotes the file */
export function readCredentials(env: Env): Credentials | undefined {
  const file = credentialsFile(env);
  if (file === undefined) return undefined;
  const text = readSafely(file);
  if (text === undefined) return undefined;
  const credentials = parseCredentials(text);
  if (credentials === undefined) throw unusableCredentials(file, 'conveyor login did not write it');
  return credentials;
}

/** Writes the file atomically, and readable by its owner only. @returns its path */
export function writeCredentials(env: Env, credentials: Credentials): string {
  const file = credentialsFile(env);
  if (file === undefined)
    throw conveyorError('usage', {
      text: 'there is no place for your credentials: neither XDG_CONFIG_HOME nor HOME is set',
      hint: 'set one of them, or give CONVEYOR_SERVER and CONVEYOR_TOKEN to each command',
    });
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    chmodSync(dirname(file), 0o700);
    replaceFileSync(file, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw unusableCredentials(file, getSystemCode(error));
  }
  return file;
}

/** Removes the file even if it is unsafe to use. @returns whether there was one */
export function removeCredentials(env: Env): boolean {
  const file = credentialsFile(env);
  if (file === undefined) return false;
  try {
    rmSync(file);
    return true;
  } catch (error) {
    if (getSystemCode(error) === 'ENOENT') return false;
    throw unusableCredentials(file, getSystemCode(error));
  }
}

function readSafely(file: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    // Checks the opened file, since its name may point elsewhere a moment later.
    const why = whyUnsafe(fstatSync(fd));
    if (why !== undefined) throw unusableCredentials(file, why);
    return readFileSync(fd, 'utf8');
  } catch (error) {
    if (fd !== undefined) throw error;
    if (getSystemCode(error) === 'ENOENT') return undefined;
    throw unusableCredentials(file, getSystemCode(error));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function whyUnsafe({ mode, uid }: Stats): string | undefined {
  if ((mode & 0o170000) !== 0o100000) return 'it is not a file';
  if (process.getuid === undefined) return undefined;
  if (uid !== process.getuid()) return 'it belongs to another user';
  return (mode & 0o077) === 0 ? undefined : `others may read it (mode ${(mode & 0o777).toString(8)})`;
}

function parseCredentials(text: string): Credentials | undefined {
  try {
    const value = JSON.parse(text) as Partial<Credentials> | null;
    const { server, token, insecure, expiresAtMs, renewal } = value ?? {};
    if (typeof server !== 'string' || typeof token !== 'string') return undefined;
    return {
      ...{ server, token },
      ...(insecure === true ? { insecure } : {}),
      ...(typeof expiresAtMs === 'number' ? { expiresAtMs } : {}),
      ...(isRenewal(renewal) ? { renewal } : {}),
    };
  } catch {
    return undefined;
  }
}

const isRenewal = (value: unknown): value is Renewal =>
  typeof value === 'object' &&
  value !== null &&
  ['issuer', 'client', 'refreshToken'].every((name) => typeof (value as Record<string, unknown>)[name] === 'string');

const unusableCredentials = (file: string, why: string) => conveyorError('credentials-unusable', { file, why });

const getSystemCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
