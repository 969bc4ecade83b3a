import { z } from 'zod';
import { duration } from '../domain/spec/scalars';
import type { Env } from './env';

/** How workers send notifications: `notifications` of conveyor.config.yaml. Secrets stand in the variables that it names. */
export interface Notifications {
  /** The variables that a pipeline may take its URL from; undefined when this worker does not have one. */
  readonly variables: Env;
  /** What deliveries are signed with, each; none: they are not signed. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  /** Whether addresses that pipelines write out may be of this machine or of private networks. */
  readonly internal: boolean;
}

const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });

/** The key of conveyor.config.yaml that this file is about. */
export const notificationFields = {
  notifications: z
    .strictObject({
      env: z.array(variable),
      secretEnv: z.union([variable.transform((name) => [name]), z.array(variable).min(1)], {
        error: 'expected the name of an environment variable, or a list of them',
      }),
      timeout: duration,
      internal: z.boolean(),
    })
    .partial()
    .default({}),
};

type Given = { readonly [F in keyof typeof notificationFields]: z.output<(typeof notificationFields)[F]> };

/** A secret that is not set is left out: what shares the file with workers has no use for it. */
export function toNotifications({ notifications }: Given, env: Env): Notifications {
  return {
    variables: Object.fromEntries((notifications.env ?? []).map((name) => [name, env[name]])),
    secrets: (notifications.secretEnv ?? []).flatMap((name) => env[name] || []),
    timeoutMs: notifications.timeout ?? 10_000,
    internal: notifications.internal ?? false,
  };
}
