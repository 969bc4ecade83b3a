import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import type { Env } from './env';

/** Secrets are in environment variables that conveyor.config.yaml names, never in the file itself. */

/** The name of an environment variable, in conveyor.config.yaml. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });

/** The variable of a secret; several while one is replaced, so that the new one works before the old one is withdrawn. */
export const secretVariables = z
  .union([variableName.transform((one) => [one]), z.array(variableName).min(1)], {
    error: 'expected the name of an environment variable, or a list of them',
  })
  .transform((all): readonly string[] => all);

/** Shorter secrets can be guessed offline from a single signature. */
const MIN_SECRET_BYTES = 24;

/**
 * The secrets in these variables; unset ones are left out. @throws ConveyorError `config-invalid` for a weak one
 */
export function readSecrets(variables: readonly string[], env: Env, file: string): readonly string[] {
  return variables.flatMap((name) => {
    const secret = env[name];
    if (!secret) return [];
    const bytes = toSigningKey(secret).length;
    if (bytes >= MIN_SECRET_BYTES) return [secret];
    const detail = `${name} holds ${bytes} bytes, and a secret has ${MIN_SECRET_BYTES} at least; openssl rand -hex 32 makes one`;
    throw conveyorError('config-invalid', { file, detail });
  });
}

/** The signing key of a secret: the bytes of `whsec_<base64>`, the form of Standard Webhooks, else the literal text. */
export const toSigningKey = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);

/** Whether two secrets are equal; the duration reveals neither a near match nor a length. */
export const isSameSecret = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
