import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { duration } from '../domain/spec/scalars';
import type { Env } from './env';
import { toSigningKey, readSecrets, secretVariables, variableName } from './secrets';

/**
 * How workers send notifications: `notifications` of conveyor.config.yaml. Secrets are in the variables that it names.
 */
export interface Notifications {
  /** The variables that a pipeline may take its URL from; undefined if this worker lacks one. */
  readonly variables: Env;
  /** The secrets from which receivers' keys are derived; without any, deliveries are not signed. */
  readonly secrets: readonly string[];
  /** Receivers that have other keys. */
  readonly receivers: readonly Receiver[];
  readonly timeoutMs: number;
  /** Whether addresses written in pipelines may belong to this machine or to private networks. */
  readonly internal: boolean;
  /** Patterns of allowed hosts; null allows all. */
  readonly allowed: readonly string[] | null;
}

/** A receiver, recognised by the beginning of its address, and the secrets that sign its deliveries. */
interface Receiver {
  readonly place: string;
  readonly secrets: readonly string[];
}

const host = z
  .string()
  .regex(/^[\w*.:[\]-]{1,253}$/, { error: 'expected a host such as hooks.example.org or *.example.org' });

/** The keys of conveyor.config.yaml that this file handles. `egress` also applies to extensions. */
export const notificationFields = {
  notifications: z
    .strictObject({
      env: z.array(variableName),
      secretEnv: secretVariables,
      receivers: z
        .array(
          z.strictObject({
            url: z.url({ protocol: /^https?$/, error: 'expected a URL such as https://hooks.example.org/ci' }),
            keyEnv: secretVariables,
          }),
        )
        .max(1_000),
      timeout: duration,
      internal: z.boolean(),
    })
    .partial()
    .default({}),
  egress: z.strictObject({ allow: z.array(host).max(1_000) }).optional(),
};

interface NotificationsConfig {
  readonly notifications: z.output<typeof notificationFields.notifications>;
  readonly egress?: z.output<typeof notificationFields.egress>;
}

/** An unset secret is left out: other processes share the file with workers and do not need it. */
export function toNotifications({ notifications, egress }: NotificationsConfig, env: Env, file: string): Notifications {
  return {
    variables: Object.fromEntries((notifications.env ?? []).map((name) => [name, env[name]])),
    secrets: readSecrets(notifications.secretEnv ?? [], env, file),
    receivers: (notifications.receivers ?? []).map(({ url, keyEnv }) => ({
      place: urlPrefix(new URL(url)),
      secrets: readSecrets(keyEnv, env, file),
    })),
    timeoutMs: notifications.timeout ?? 10_000,
    internal: notifications.internal ?? false,
    allowed: egress?.allow ?? null,
  };
}

/**
 * The keys that sign a delivery: those configured for its receiver, else keys derived from the platform's secrets for
 * this address alone, so that no receiver can impersonate Conveyor to another.
 */
export function keysFor({ secrets, receivers }: Pick<Notifications, 'secrets' | 'receivers'>, target: URL) {
  const place = urlPrefix(target);
  const known = receivers.filter((one) => place === one.place || place.startsWith(`${one.place}/`));
  const [own] = [...known].sort((one, other) => other.place.length - one.place.length);
  if (own !== undefined) return own.secrets.map(toSigningKey);
  return secrets.map((secret) => createHmac('sha256', secret).update(`notify:${place}`).digest());
}

/** Without the query and the final slash. */
const urlPrefix = ({ origin, pathname }: URL): string => `${origin}${pathname}`.replace(/\/+$/, '');
