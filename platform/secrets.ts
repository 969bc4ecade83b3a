import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import type { Env } from './env';

/** Secrets stand in environment variables that conveyor.config.yaml names, never in the file. */

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

/** Who sees one thing that was signed can try shorter ones without asking anybody. */
const MIN_SECRET_BYTES = 24;

/**
 * The secrets that these variables hold; one that is not set is left out.
 * @throws ConveyorError `config-invalid` for one that can be guessed
 */
export function readSecrets(variables: readonly string[], env: Env, file: string): readonly string[] {
  return variables.flatMap((name) => {
    const secret = env[name];
    if (!secret) return [];
    const bytes = signingKey(secret).length;
    if (bytes >= MIN_SECRET_BYTES) return [secret];
    const detail = `${name} holds ${bytes} bytes, and a secret has ${MIN_SECRET_BYTES} at least; openssl rand -hex 32 makes one`;
    throw conveyorError('config-invalid', { file, detail });
  });
}

/** What a secret signs with: the bytes of `whsec_<base64>`, as Standard Webhooks writes them, else the text as it stands. */
export const signingKey = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);

/** Whether two secrets are the same; the time that it takes does not show which was nearly right, nor how long one is. */
export const isSameSecret = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
