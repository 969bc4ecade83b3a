import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { PlatformPolicy, ReadSigners } from '../domain/access/platform';
import { conveyorError } from '../domain/errors';
import { PRINCIPAL } from '../domain/principals';
import { DEFAULT_SETTINGS, type Settings } from '../domain/settings';
import { duration } from '../domain/spec/scalars';
import { accessFields, toAccess, type Access } from './access';
import { callbackFields, toCallbacks, type Callbacks } from './callbacks';
import { archiveFields, toArchive, type ArchiveSettings } from './archive';
import { auditFields, toAudit, type AuditSettings } from './audit/settings';
import { configFields, toConfigRepositories, type ConfigRepositorySettings } from './configRepositories';
import { lintStores } from './configStores';
import type { Env } from './env';
import { featureFields, toFeatures, type FeatureSettings } from './features';
import { notificationFields, toNotifications, type Notifications } from './notifications';
import type { SigningKey } from './attestation';
import type { ProgramSettings } from './programs';
import { lintPlatform, platformFields, toPlatform, toSigners, toSigningKeys } from './rules';
import { scriptFields, toScripts, type Scripts } from './scripts';
import { lintSeal, sealFields, toSeal, type SealSettings } from './seal';
import { sessionFields, toSessions, type SessionSettings } from './sessions';
import { signInFields, toIssuers, type Issuer } from './signIn';
import { slackFields, toSlack, type SlackSettings } from './slack';
import { slotFields, toSlots, type Slots } from './slots';
import {
  type ExtensionKind,
  type ExtensionRef,
  extensionSchema,
  toRef,
  rejectDuplicates,
  rejectOutside,
  findExtension,
  lintFinders,
} from './extensions';
import { sha256 } from '../sdk/digest';

/** The platform's settings: the extension services, and the members of groups (docs/design/overview.md#trust). */

export interface Registry extends FeatureSettings {
  /** The file from which it was read, for messages. */
  readonly file: string;
  readonly extensions: readonly ExtensionRef[];
  /** Group name (without `group:`) → its principals. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** The access rules; null if only owners decide. */
  readonly policy: PlatformPolicy | null;
  /** The keys that may sign artifacts, and the check of which ones signed an artifact. */
  readonly signingKeys: readonly SigningKey[];
  readonly signers: ReadSigners;
  /** Probable mistakes, each with its place. */
  readonly warnings: readonly string[];
  /** Timeouts and intervals; pipelines copy them when they are applied. */
  readonly settings: Settings;
  /** Access to the HTTP front end. */
  readonly access: Access;
  /** How action services report the end of a run; null if they are only polled. */
  readonly callbacks: Callbacks | null;
  /** The resources that scripts of pipelines get from a worker. */
  readonly scripts: Scripts;
  /** The keys that authenticate requests to workflows; null if Temporal is trusted. */
  readonly seal: SealSettings | null;
  /** The front end's audit; null for none. */
  readonly audit: AuditSettings | null;
  /** The workers' archive; null for none. */
  readonly archive: ArchiveSettings | null;
  /** The issuers whose signed tokens the front end accepts. */
  readonly issuers: readonly Issuer[];
  /** Buttons in messages of Slack; null for none. */
  readonly slack: SlackSettings | null;
  /** How people are signed in to the pages. */
  readonly sessions: SessionSettings;
  /** How much a worker does at once. */
  readonly slots: Slots;
  /** Repositories of configuration. */
  readonly configRepositories: readonly ConfigRepositorySettings[];
  /** The required isolation of configuration programs. */
  readonly configPrograms: ProgramSettings;
  /** How workers notify people and programs outside. */
  readonly notifications: Notifications;
  /** Throws `unknown-extension`, which lists the existing names of that kind. */
  find(kind: ExtensionKind, name: string): ExtensionRef;
}

export const CONFIG_FILE = 'conveyor.config.yaml';
/**
 * Reads `file`, or the first of: `CONVEYOR_CONFIG`, `./conveyor.config.yaml`, the one of this checkout.
 * Throws `config-invalid` with the paths of all errors.
 */
export function loadRegistry(file: string | undefined, env: Env): Registry {
  return readConfig(file, env).registry;
}

export interface LoadedConfig {
  readonly registry: Registry;
  /** SHA-256 of the text, in hexadecimal. */
  readonly digest: string;
  /** The file is empty or has only comments. */
  readonly isEmpty: boolean;
}

/** The same, with facts about the text itself. @throws ConveyorError `config-invalid` */
export function readConfig(file: string | undefined, env: Env): LoadedConfig {
  const path = file ?? findConfigFile(env);
  const { value, text } = readYaml(path);
  const digest = sha256(text);
  return { registry: parseRegistry(value, env, path), digest, isEmpty: value === null };
}

/** The reason why a key is refused is one level deeper. */
const describeIssue = (issue: z.core.$ZodIssue): string =>
  (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message;

/** A registry from a value in the form of the file. `${NAME}` and `${NAME:-default}` in texts come from `env`. */
export function parseRegistry(value: unknown, env: Env, file: string = CONFIG_FILE): Registry {
  const parsed = configSchema.safeParse(substitute(value ?? {}, env, file));
  if (!parsed.success) {
    const detail = parsed.error.issues
      .map((issue) => `${issue.path.join('.') || '(top)'}: ${describeIssue(issue)}`)
      .join('; ');
    throw conveyorError('config-invalid', { file, detail });
  }
  const extensions = parsed.data.extensions.map((extension) => toRef(extension, env, file));
  rejectDuplicates(extensions, file);
  rejectOutside(extensions, parsed.data.egress?.allow ?? null, file);
  const seal = toSeal(parsed.data, env, file);
  const configRepositories = toConfigRepositories(parsed.data, env, file);
  const facts = { policy: toPlatform(parsed.data.platform), groups: parsed.data.groups };
  const signingKeys = toSigningKeys(parsed.data.platform);
  return {
    ...{ file, extensions, ...facts, signingKeys, signers: toSigners(signingKeys) },
    warnings: [
      ...lintPlatform({ ...facts, extensions }),
      ...lintSeal(seal, facts.policy !== null),
      ...lintStores(configRepositories),
      ...lintFinders(extensions),
    ],
    settings: toSettings(parsed.data.settings),
    access: toAccess(parsed.data, env, file),
    callbacks: toCallbacks(parsed.data, env, file),
    scripts: toScripts(parsed.data, env, file),
    seal,
    audit: toAudit(parsed.data, env, file),
    archive: toArchive(parsed.data, file),
    issuers: toIssuers(parsed.data, env),
    sessions: toSessions(parsed.data, env, file),
    slack: toSlack(parsed.data, env, file),
    slots: toSlots(parsed.data),
    configRepositories,
    configPrograms: parsed.data.config.programs,
    ...toFeatures(parsed.data, extensions, file),
    notifications: toNotifications(parsed.data, env, file),
    find: (kind, name) => findExtension(extensions, kind, name),
  };
}

const configSchema = z.strictObject({
  extensions: z.array(extensionSchema).default([]),
  ...accessFields,
  ...archiveFields,
  ...auditFields,
  ...callbackFields,
  ...configFields,
  ...featureFields,
  ...scriptFields,
  ...sealFields,
  ...sessionFields,
  ...signInFields,
  ...slackFields,
  ...slotFields,
  ...notificationFields,
  ...platformFields,
  groups: z
    .record(
      z.string().regex(/^[A-Za-z0-9._@-]+$/),
      z.array(z.string().regex(PRINCIPAL, { error: 'expected a principal such as user:alice or service:ci' })),
    )
    .default({}),
  settings: z
    .strictObject({
      heartbeatTimeout: duration,
      trackInterval: duration,
      progressInterval: duration,
      dependencyGrace: duration,
      reconcileInterval: duration,
      waitInterval: duration,
      revertRetry: duration,
      transient: duration,
      cancelGrace: duration,
      sweepInterval: duration,
      sweepJitter: duration,
      calendarSpread: duration,
    })
    .partial()
    .default({}),
});

/** `trackInterval: 1s` in the file is `trackIntervalMs: 1000` in the code. */
function toSettings(given: z.output<typeof configSchema>['settings']): Settings {
  const inMs = Object.entries(given).map(([name, value]) => [`${name}Ms`, value] as const);
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(inMs) };
}

/** The root of the checkout or package that this file belongs to, also when compiled into `dist/`. */
export function installRoot(from: string = __dirname): string {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) return process.cwd();
  }
}

function findConfigFile(env: Env): string {
  if (env.CONVEYOR_CONFIG) return resolve(env.CONVEYOR_CONFIG);
  const here = resolve(CONFIG_FILE);
  return existsSync(here) ? here : join(installRoot(), CONFIG_FILE);
}

function readYaml(file: string): { readonly value: unknown; readonly text: string } {
  try {
    const text = readFileSync(file, 'utf8');
    return { value: parse(text), text };
  } catch (error) {
    const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw conveyorError('config-invalid', { file, detail });
  }
}

/** Substitutes in the parsed value, not in the text, so a variable can never change the structure of the file. */
function substitute(value: unknown, env: Env, file: string): unknown {
  if (Array.isArray(value)) return value.map((item) => substitute(item, env, file));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, env, file)]));
  if (typeof value !== 'string') return value;
  // A default may contain variables, which may have defaults, too.
  return value.replace(
    /\$\{(\w+)(?::-((?:\$\{[^}]*\}|[^}])*))?\}/g,
    (_all, name: string, fallback: string | undefined) => {
      const found = env[name] || (fallback && String(substitute(fallback, env, file)));
      if (found !== undefined) return found;
      throw conveyorError('config-invalid', { file, detail: `the environment variable ${name} is not set` });
    },
  );
}
