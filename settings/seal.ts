import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import type { Env } from './env';

/**
 * The keys that authenticate requests to workflows: `seal` of conveyor.config.yaml. Without the section Temporal is
 * trusted, as on a developer's machine; with it, workflows accept only requests of the server and the workers, which
 * have the keys.
 */
export interface SealSettings {
  /** None if the variable is not set: such a process may read, but its requests are not accepted. */
  readonly keys: readonly { readonly id: string; readonly secret: Uint8Array }[];
  readonly keysEnv: string;
  readonly unsealed: 'refuse' | 'accept';
}

/** The key of conveyor.config.yaml that this file handles. */
export const sealFields = {
  seal: z
    .strictObject({
      keysEnv: z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' }),
      unsealed: z.enum(['refuse', 'accept']).default('refuse'),
    })
    .optional(),
};

interface SealConfig {
  readonly seal?: z.output<typeof sealFields.seal>;
}

/** The size of SHA-256; a shorter secret would be the weakest part. */
const MIN_SEAL_KEY_BYTES = 32;
const SEAL_KEY = /^([A-Za-z0-9._-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/;

/** @throws `config-invalid` for an invalid key, which is named by its position and never shown */
export function toSeal({ seal }: SealConfig, env: Env, file: string): SealSettings | null {
  if (seal === undefined) return null;
  const { keysEnv, unsealed } = seal;
  const texts = (env[keysEnv] ?? '').split(',').map((text) => text.trim());
  const keys = texts.filter(Boolean).map((text, at) => {
    const [, id, secret] = SEAL_KEY.exec(text) ?? [];
    const bytes = Buffer.from(secret ?? '', 'base64');
    if (id !== undefined && bytes.length >= MIN_SEAL_KEY_BYTES) return { id, secret: bytes };
    const detail = `key ${at + 1} of ${keysEnv} is not <name>:<base64 of at least ${MIN_SEAL_KEY_BYTES} bytes>`;
    throw conveyorError('config-invalid', { file, detail });
  });
  const twice = keys.find(({ id }, at) => keys.findIndex((other) => other.id === id) < at);
  if (twice) throw conveyorError('config-invalid', { file, detail: `${keysEnv} has two keys named ${twice.id}` });
  return { keys, keysEnv, unsealed };
}

/** Settings that allow the platform's rules to be bypassed. */
export function lintSeal(seal: SealSettings | null, hasRules: boolean): readonly string[] {
  if (seal?.unsealed === 'accept') return ['seal.unsealed: accept: any process that reaches Temporal is trusted'];
  if (seal !== null || !hasRules) return [];
  return ['platform: without seal, any process that reaches Temporal bypasses these rules (docs/guides/secure.md)'];
}

/** Requires the keys of a process whose requests must be accepted. @throws `config-invalid` */
export function requireKeys(seal: SealSettings | null, file: string): SealSettings | null {
  if (seal === null || seal.keys.length > 0) return seal;
  const detail = `workers and servers must seal their messages with keys from ${seal.keysEnv}, which is not set`;
  throw conveyorError('config-invalid', { file, detail });
}
