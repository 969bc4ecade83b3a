import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Env } from './env';
import type { RunCallback } from '../sdk/protocol/actionService';
import { isSameSecret, readSecrets, secretVariables } from './secrets';

/**
 * How action services say that a run has ended: `callbacks` of conveyor.config.yaml. A worker gives each run the address of
 * `conveyor server` and a key of its own, which the server makes again from the same secret: neither remembers any.
 */
export interface Callbacks {
  /** Of the server, as services reach it, without a slash at the end. */
  readonly url: string;
  /** The first makes keys, any of them fits. */
  readonly secrets: readonly string[];
}

/** The key of conveyor.config.yaml that this file is about. */
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
 * Null where the file has none, and where no variable that it names is set.
 * @throws ConveyorError `config-invalid` for a secret that can be guessed
 */
export function toCallbacks({ callbacks }: CallbacksConfig, env: Env, file: string): Callbacks | null {
  const secrets = readSecrets(callbacks?.secretEnv ?? [], env, file);
  return callbacks === undefined || secrets.length === 0 ? null : { url: callbacks.url.replace(/\/+$/, ''), secrets };
}

/** Where a run says that it has ended, and by which key it is known. */
export function callbackOf({ url, secrets: [secret = ''] }: Callbacks, runId: string): RunCallback {
  return { url: `${url}/v1/runs/${encodeURI(runId)}/ended`, key: runKey(secret, runId) };
}

/** Whether a key is that of a run; the time that it takes says nothing about which was nearly right. */
export function fitsRun({ secrets }: Callbacks, runId: string, key: string): boolean {
  return secrets.map((secret) => isSameSecret(runKey(secret, runId), key)).includes(true);
}

/** With a prefix, so that a secret which signs something else as well makes no keys by that. */
const runKey = (secret: string, runId: string): string =>
  createHmac('sha256', secret).update(`run-ended:${runId}`).digest('hex');
