import { z } from 'zod';
import { isPrivate } from '../domain/loopback';
import type { Env } from './env';
import { readSecrets, secretVariables } from './secrets';

/**
 * How people are signed in to the pages of the front end: `sessions` of conveyor.config.yaml. Browsers keep their
 * sessions in cookies, which only the holder of the secret can read or make.
 */
export interface SessionSettings {
  /** The origin of the pages, as browsers reach it; null for a server that only its own machine reaches. */
  readonly url: string | null;
  /** The first encrypts cookies, and all of them decrypt. Without any, sessions end with the process that began them. */
  readonly secrets: readonly string[];
  /** The variables, if none of them is set. */
  readonly unset: readonly string[];
}

// A cookie that travels unencrypted is a session for every listener on its way.
const pagesUrl = z
  .url({ protocol: /^https?$/, error: 'expected a URL such as https://conveyor.example.com', abort: true })
  .refine(isPrivate, { error: 'expected an https URL, or one of this machine' })
  .refine((text) => new URL(text).pathname === '/' && !/[?#@]/.test(text), {
    error: 'expected a URL without a path: pages are at fixed paths',
  });

/** The key of conveyor.config.yaml that this file handles. */
export const sessionFields = {
  sessions: z.strictObject({ url: pagesUrl.optional(), secretEnv: secretVariables.optional() }).default({}),
};

interface SessionConfig {
  readonly sessions: z.output<typeof sessionFields.sessions>;
}

/** @throws ConveyorError `config-invalid` for a weak secret */
export function toSessions({ sessions }: SessionConfig, env: Env, file: string): SessionSettings {
  const { secretEnv = [] } = sessions;
  const secrets = readSecrets(secretEnv, env, file);
  return {
    url: sessions.url === undefined ? null : new URL(sessions.url).origin,
    secrets,
    unset: secrets.length === 0 ? secretEnv : [],
  };
}
