import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import { WORKER_FINDERS } from '../domain/finder/standard';
import { NAME } from '../domain/ids';
import { isAllowedHost } from '../domain/notifyHost';
import { duration } from '../domain/spec/scalars';
import type { Env } from './env';
import type { SourceRef } from '../sdk/health/sources';

const EXTENSION_KINDS = [
  'push-type',
  'action-service',
  'artifact-finder',
  'data-source',
  'dependency-graph',
  'tickets',
] as const;

export type ExtensionKind = (typeof EXTENSION_KINDS)[number];

/** The address and credentials of a service. `token` was read from the environment variable that `tokenEnv` names. */
export interface ExtensionRef {
  readonly name: string;
  readonly kind: ExtensionKind;
  /** Without a slash at the end; methods are `<url>/<method>`. */
  readonly url: string;
  readonly token?: string;
  readonly timeoutMs: number;
  /** Only for a data source. */
  readonly prometheus?: SourceRef['prometheus'];
  /** A dependency graph that is a folder of SBOMs, which Conveyor reads itself. */
  readonly holdsSboms?: true;
  /** Only for tickets: it receives events instead of the protocol. */
  readonly isWebhook?: true;
}

const EXTENSION_TIMEOUT_MS = 10_000;

const label = z.string().regex(/^[a-zA-Z_]\w*$/, { error: 'expected the name of a label, such as task' });

function isPlain(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === '';
}

export const extensionSchema = z
  .strictObject({
    name: z.string().regex(NAME, { error: 'expected lower-case letters, digits and hyphens' }),
    kind: z.enum(EXTENSION_KINDS),
    /** The type of a service that does not speak the protocol of its kind. */
    type: z.enum(['prometheus', 'sboms', 'webhook']).optional(),
    taskLabel: label.optional(),
    unitLabel: label.optional(),
    url: z
      .url({
        protocol: /^https?$/,
        error: 'expected a URL such as http://localhost:4400/push-types/twine',
        abort: true,
      })
      .refine(isPlain, { error: 'a URL has no name, password or query here: use tokenEnv for secrets' }),
    tokenEnv: z.string().optional(),
    timeout: duration.default(EXTENSION_TIMEOUT_MS),
  })
  .superRefine(({ kind, type, taskLabel, unitLabel }, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (type === 'prometheus' && kind !== 'data-source') issue('type', 'only a data-source is of the type prometheus');
    if (type === 'sboms' && kind !== 'dependency-graph') issue('type', 'only a dependency-graph is of the type sboms');
    if (type === 'webhook' && kind !== 'tickets') issue('type', 'only tickets are of the type webhook');
    if (type !== 'prometheus' && taskLabel !== undefined) issue('taskLabel', 'only for type: prometheus');
    if (type !== 'prometheus' && unitLabel !== undefined) issue('unitLabel', 'only for type: prometheus');
  });

export function toRef(extension: z.output<typeof extensionSchema>, env: Env, file: string): ExtensionRef {
  const { name, kind, tokenEnv, type, taskLabel, unitLabel } = extension;
  const token = tokenEnv === undefined ? undefined : env[tokenEnv];
  if (tokenEnv !== undefined && !token)
    throw conveyorError('config-invalid', {
      file,
      detail: `${name} takes its token from ${tokenEnv}, which is not set`,
    });
  const ref = {
    ...{ name, kind, url: extension.url.replace(/\/+$/, ''), timeoutMs: extension.timeout },
    ...(type === 'prometheus' ? { prometheus: { taskLabel, unitLabel } } : {}),
    ...(type === 'sboms' ? { holdsSboms: true as const } : {}),
    ...(type === 'webhook' ? { isWebhook: true as const } : {}),
  };
  return token === undefined ? ref : { ...ref, token };
}

export function rejectDuplicates(extensions: readonly ExtensionRef[], file: string): void {
  const seen = new Set<string>();
  for (const { kind, name } of extensions) {
    if (seen.has(`${kind} ${name}`))
      throw conveyorError('config-invalid', { file, detail: `there are two extensions ${name} of kind ${kind}` });
    seen.add(`${kind} ${name}`);
  }
}

/** Finders that are never asked. */
export const lintFinders = (extensions: readonly ExtensionRef[]): readonly string[] =>
  extensions
    .filter(({ kind, name }) => kind === 'artifact-finder' && WORKER_FINDERS.includes(name))
    .map(
      ({ name }) =>
        `extensions: the artifact-finder ${name} is never asked, because workers answer for that name themselves; rename it`,
    );

/** @throws ConveyorError `config-invalid`, because no worker could reach it */
export function rejectOutside(
  extensions: readonly ExtensionRef[],
  allow: readonly string[] | null,
  file: string,
): void {
  for (const { name, url } of extensions) {
    const { hostname } = new URL(url);
    const detail = `the extension ${name} is at ${hostname}, which egress.allow does not list`;
    if (!isAllowedHost(hostname, allow)) throw conveyorError('config-invalid', { file, detail });
  }
}

export function findExtension(extensions: readonly ExtensionRef[], kind: ExtensionKind, name: string): ExtensionRef {
  const found = extensions.find((extension) => extension.kind === kind && extension.name === name);
  if (found) return found;
  const known = extensions.filter((extension) => extension.kind === kind).map((extension) => extension.name);
  throw conveyorError('unknown-extension', { kind, name, known });
}
