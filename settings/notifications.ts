import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import { NOTICE_LIMITS } from '../domain/limits';
import { FORMAT_NAMES, findFormat, type FormatName } from '../domain/notify/formats';
import { duration, name } from '../domain/spec/scalars';
import type { Env } from './env';
import { mailFields, toMailAccount, whyUnfitMail, type GivenMail, type MailAccount } from './mailAccount';
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
  /** Receivers that pipelines name. */
  readonly named: readonly NamedReceiver[];
  /** The beginning of the addresses of pages about releases and deploys, without a slash at the end; null for none. */
  readonly links: string | null;
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

/** A receiver that pipelines name, so that its address and key are nowhere but on the workers. */
export interface NamedReceiver {
  readonly name: string;
  /** Null if this process lacks the variable that holds it. */
  readonly url: string | null;
  /** By default the one of its host. */
  readonly format?: FormatName;
  /** The key of its service, if that wants one; null if this process lacks it. */
  readonly key?: string | null;
  /** The secrets that sign its deliveries, if its service wants no key. */
  readonly secrets: readonly string[];
  /** The people and groups that it pages. */
  readonly people: readonly string[];
  /** Its channel, for the format slack-app. */
  readonly channel?: string;
  /** Its mailbox, for the format email. */
  readonly mail?: MailAccount;
}

const receiverUrl = z.url({
  protocol: /^(https?|smtps?)$/,
  error: 'expected a URL such as https://hooks.example.org/ci',
});

const pagesUrl = z.url({ protocol: /^https?$/, error: 'expected a URL such as https://conveyor.example.org' });

const pagedPrincipal = z
  .string()
  .regex(/^(user|group):[A-Za-z0-9._@-]+$/, { error: 'expected a person or a group such as group:storage' });

/** With a name: a receiver that pipelines name. Without: the key of an address that pipelines write. */
const receiver = z
  .strictObject({
    name: name.optional(),
    format: z.enum(FORMAT_NAMES).optional(),
    url: receiverUrl.optional(),
    urlEnv: variableName.optional(),
    keyEnv: secretVariables.optional(),
    for: z.array(pagedPrincipal).max(NOTICE_LIMITS.paged.max).optional(),
    channel: z
      .string()
      .regex(/^[CGD][A-Z0-9]{2,20}$/, { error: 'expected the id of a channel, such as C012AB3CD' })
      .optional(),
    ...mailFields,
  })
  .superRefine((one, context) => {
    const why = whyUnfitReceiver(one);
    if (why !== undefined) context.addIssue({ code: 'custom', message: why });
  });

interface GivenReceiver extends GivenMail {
  readonly name?: string | undefined;
  readonly format?: FormatName | undefined;
  readonly urlEnv?: string | undefined;
  readonly for?: readonly string[] | undefined;
  readonly channel?: string | undefined;
}

function whyUnfitReceiver(given: GivenReceiver): string | undefined {
  const { name: called, format, url, urlEnv, keyEnv, for: people, channel } = given;
  const unfitMail = whyUnfitMail(given);
  if (unfitMail !== undefined) return unfitMail;
  if (called === undefined) {
    const isKeyOfAddress =
      url !== undefined && keyEnv !== undefined && (format ?? urlEnv ?? people ?? channel) === undefined;
    return isKeyOfAddress ? undefined : 'expected a name, or only url and keyEnv';
  }
  if ((format === 'slack-app') !== (channel !== undefined))
    return 'expected a channel with the format slack-app, and no other';
  if (url !== undefined && urlEnv !== undefined) return 'expected url or urlEnv, not both';
  const known = findFormat(format);
  if ((url ?? urlEnv ?? known?.home) === undefined) return 'expected a url, or urlEnv with the variable that holds it';
  if (known?.needsKey && keyEnv === undefined)
    return `its service wants a key: expected keyEnv with the variable that holds it`;
  return undefined;
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
      receivers: z.array(receiver).max(NOTICE_LIMITS.receivers.max),
      links: pagesUrl,
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
  const receivers = notifications.receivers ?? [];
  const named = receivers.flatMap((one) => (one.name === undefined ? [] : [toNamed(one.name, one, env, file)]));
  const twice = named.find((one, at) => named.findIndex((other) => other.name === one.name) < at);
  if (twice)
    throw conveyorError('config-invalid', { file, detail: `two notifications.receivers have the name ${twice.name}` });
  return {
    variables: Object.fromEntries((notifications.env ?? []).map((name) => [name, env[name]])),
    secrets: readSecrets(notifications.secretEnv ?? [], env, file),
    receivers: receivers.flatMap(({ name: called, url, keyEnv = [] }) =>
      called !== undefined || url === undefined
        ? []
        : [{ place: urlPrefix(new URL(url)), secrets: readSecrets(keyEnv, env, file) }],
    ),
    named,
    links: notifications.links?.replace(/\/+$/, '') ?? null,
    timeoutMs: notifications.timeout ?? 10_000,
    internal: notifications.internal ?? false,
    allowed: egress?.allow ?? null,
  };
}

function toNamed(
  called: string,
  { format, url, urlEnv, keyEnv = [], for: people = [], channel, ...given }: GivenReceiver,
  env: Env,
  file: string,
): NamedReceiver {
  const known = findFormat(format);
  const mail = toMailAccount(given);
  // A password signs nothing, and its length is the choice of the mail server.
  const secrets = mail === undefined ? readSecrets(keyEnv, env, file) : [];
  return {
    name: called,
    people,
    ...(channel === undefined ? {} : { channel }),
    url: url ?? (urlEnv === undefined ? known?.home : env[urlEnv]) ?? null,
    ...(format === undefined ? {} : { format }),
    ...(mail === undefined ? {} : { mail }),
    ...(mail?.login === undefined ? {} : { key: env[keyEnv[0] ?? ''] || null }),
    ...(known?.needsKey ? { key: secrets[0] ?? null, secrets: [] } : { secrets }),
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
