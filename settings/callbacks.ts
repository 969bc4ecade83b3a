import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Env } from './env';
import type { RunCallback } from '../sdk/protocol/actionService';
import { isSameSecret, readSecrets, secretVariables } from './secrets';

/**
 * How action services report the end of a run: `callbacks` of conveyor.config.yaml. A worker gives each run the address
 * of `conveyor server` and its own key, which the server derives again from the same secret, so neither stores keys.
 */
export interface Callbacks {
  /** The URL of the server as services reach it, without a slash at the end. */
  readonly url: string;
  /** The first creates keys; keys of all of them are accepted. */
  readonly secrets: readonly string[];
}

/** The key of conveyor.config.yaml that this file handles. */
export const callbackFields = {
  callbacks: z
    .strictObject({
      url: z.url({ protocol: /^https?$/, error: 'expected a URL such as http://localhost:4500' }),
      secretEnv: secretVariables,
    })
    .optional(),
};

interface CallbacksConfig {
  readonly callbacks?: z.output<typeof callbackFields.callbacks>;
}

/**
 * Null if the file has none, or if none of its variables is set. @throws ConveyorError `config-invalid` for a weak
 * secret
 */
export function toCallbacks({ callbacks }: CallbacksConfig, env: Env, file: string): Callbacks | null {
  const secrets = readSecrets(callbacks?.secretEnv ?? [], env, file);
  return callbacks === undefined || secrets.length === 0 ? null : { url: callbacks.url.replace(/\/+$/, ''), secrets };
}

/** The address at which a run reports its end, and its key. */
export function createRunCallback({ url, secrets: [secret = ''] }: Callbacks, runId: string): RunCallback {
  return { url: `${url}/v1/runs/${encodeURI(runId)}/ended`, key: runKey(secret, runId) };
}

/** Whether a key belongs to a run; the duration does not reveal how close a wrong key was. */
export function fitsRun({ secrets }: Callbacks, runId: string, key: string): boolean {
  return secrets.map((secret) => isSameSecret(runKey(secret, runId), key)).includes(true);
}

/** The prefix separates these keys from other uses of the same secret. */
const runKey = (secret: string, runId: string): string =>
  createHmac('sha256', secret).update(`run-ended:${runId}`).digest('hex');
