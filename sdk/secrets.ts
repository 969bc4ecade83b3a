import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import type { Env } from './env';

/** Secrets stand in environment variables that conveyor.config.yaml names, never in the file. */

const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });

/** The variable of a secret; several while one is replaced, so that the new one works before the old one is withdrawn. */
export const secretVariables = z
  .union([variable.transform((one) => [one]), z.array(variable).min(1)], {
    error: 'expected the name of an environment variable, or a list of them',
  })
  .transform((all): readonly string[] => all);

/** Who sees one thing that was signed can try shorter ones without asking anybody. */
const MIN_BYTES = 24;

/**
 * The secrets that these variables hold; one that is not set is left out.
 * @throws ConveyorError `config-invalid` for one that can be guessed
 */
export function secretsIn(variables: readonly string[], env: Env, file: string): readonly string[] {
  return variables.flatMap((name) => {
    const secret = env[name];
    if (!secret) return [];
    const bytes = keyOf(secret).length;
    if (bytes >= MIN_BYTES) return [secret];
    const detail = `${name} holds ${bytes} bytes, and a secret has ${MIN_BYTES} at least; openssl rand -hex 32 makes one`;
    throw conveyorError('config-invalid', { file, detail });
  });
}

/** What a secret signs with: the bytes of `whsec_<base64>`, as Standard Webhooks writes them, else the text as it stands. */
export const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
