import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { conveyorError } from '../../domain/errors';
import type { Io } from '../io';
import { credentialsFile, readCredentials, writeCredentials, type Credentials } from './credentials';
import { isEnding, renewGrant } from './signIn';

/** An older lock belongs to a dead command, because no renewal waits this long for a provider. */
const STALE_MS = 60_000;
const RETRY_MS = 50;

/**
 * The stored token or, shortly before it expires, a new one, which is then stored. A renewal token may be valid only once, and a provider that sees
 * it twice revokes everything. So commands renew one after another, and each reads the stored token first.
 */
export function freshToken(io: Pick<Io, 'env' | 'now' | 'sleep'>, kept: Credentials): () => Promise<string> {
  let latest = kept;
  const renew = async (): Promise<Credentials> => {
    const inFile = readCredentials(io.env);
    if (inFile?.server === latest.server) latest = inFile;
    const grant = await renewGrant(latest, io.now());
    if (grant === latest) return latest;
    const next = { ...latest, ...grant };
    writeCredentials(io.env, next);
    return next;
  };
  let turn: Promise<unknown> = Promise.resolve();
  return () => {
    const token = turn.then(async () => {
      if (isEnding(latest, io.now())) latest = await runAlone(io, renew);
      return latest.token;
    });
    turn = token.catch(() => undefined);
    return token;
  };
}

/** Runs while no other command does. */
async function runAlone<T>({ env, sleep }: Pick<Io, 'env' | 'sleep'>, run: () => Promise<T>): Promise<T> {
  const lock = `${credentialsFile(env)}.lock`;
  while (!takeLock(lock)) await sleep(RETRY_MS);
  try {
    return await run();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw conveyorError('credentials-unusable', { file: lock, why: code ?? String(error) });
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - since > STALE_MS) rmSync(lock, { force: true });
    return false;
  }
}
