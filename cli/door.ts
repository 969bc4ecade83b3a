import { setTimeout } from 'node:timers/promises';
import type { ConveyorClient } from '../client/api';
import { createHttpClient, type HttpOptions } from '../client/http/client';
import { serverUrl } from '../client/http/url';
import { conveyorError, ConveyorError } from '../domain/errors';
import { PRINCIPAL } from '../domain/principals';
import { nearestWord } from '../domain/spec/problem';
import type { Env } from '../settings/env';
import type { ConnectOptions, Io } from './io';
import { readCredentials, type Credentials } from './login/credentials';
import { freshToken } from './login/renewal';
import { parseToken } from './login/token';
import { printNote } from './output';

/** How a command reaches Conveyor: through a server, which authenticates the caller, or through Temporal directly, without authentication. */
export type CommandDoor =
  | {
      readonly kind: 'server';
      readonly url: string;
      readonly token: string | null;
      readonly from: From;
      readonly kept?: Credentials | undefined;
    }
  | { readonly kind: 'temporal'; readonly reason: string | null };

/** The origin of the server's address. */
type From = '--server' | 'CONVEYOR_SERVER' | 'conveyor login';

/** @throws ConveyorError `usage`, `credentials-unusable` */
export function resolveDoor(env: Env, options: ConnectOptions): CommandDoor {
  const reason = options.direct ? null : findReason(env, options);
  if (options.direct || reason !== null) return { kind: 'temporal', reason };
  const server = findServer(env, options);
  if (server === undefined) return { kind: 'temporal', reason };
  const flag = OF_TEMPORAL.find(([, name]) => options[name] !== undefined)?.[0];
  if (flag === undefined) return server;
  throw conveyorError('usage', {
    text: `${flag} is for Temporal itself, but commands go through the server at ${server.url} (${server.from})`,
    hint: `leave it out; to bypass the server: --break-glass "why"; to stop using a server: conveyor logout`,
  });
}

/**
 * Resolves and opens the connection of a command, with notes on stderr about surprises. @throws the errors of
 * `resolveDoor` and `io.connect`
 */
export async function enter(io: Io, options: ConnectOptions): Promise<ConveyorClient> {
  const door = resolveDoor(io.env, options);
  if (door.kind === 'server') {
    if (io.env.CONVEYOR_ACTOR)
      printNote(io, 'note: CONVEYOR_ACTOR is ignored: the server identifies you by your token');
    return createHttpClient(toHttpOptions(io, door));
  }
  if (door.reason !== null)
    printNote(io, `note: break-glass: this command goes to Temporal directly, bypassing the server: ${door.reason}`);
  const { server: _, breakGlass: _reason, insecure: _insecure, direct: _direct, ...temporal } = options;
  return io.connect(temporal);
}

/** Runs `act` with a client for the right connection, and always closes it. */
export async function withClient<T>(
  io: Io,
  options: ConnectOptions,
  run: (client: ConveyorClient) => Promise<T>,
): Promise<T> {
  const client = await enter(io, options);
  try {
    return await run(client);
  } catch (error) {
    throw await withNearestPipeline(error, client);
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** The number of pipelines searched for a similar name. */
const PIPELINES_LOOKED_AT = 1_000;

/** The most that an error is delayed by this search. */
const NEAREST_WITHIN_MS = 2_000;

/** Suggests a pipeline with a similar name, if there is one; a failed search never hides the error. */
async function withNearestPipeline(error: unknown, client: ConveyorClient): Promise<unknown> {
  if (!(error instanceof ConveyorError) || error.code !== 'unknown-pipeline') return error;
  const [, name = ''] = /^there is no pipeline (\S+)$/.exec(error.message) ?? [];
  const near = nearestWord(
    name,
    await Promise.race([listPipelineNames(client), setTimeout(NEAREST_WITHIN_MS, [], { ref: false })]),
  );
  if (near === undefined) return error;
  const { code, message, hint, retryable, exit } = error;
  return new ConveyorError(code, message, `did you mean ${near}? Else ${hint}`, retryable, exit);
}

async function listPipelineNames(client: ConveyorClient): Promise<readonly string[]> {
  try {
    return (await client.listPipelines({ limit: PIPELINES_LOOKED_AT })).map(({ id }) => id);
  } catch {
    return [];
  }
}

export const toHttpOptions = (
  io: Pick<Io, 'askServer' | 'sleep' | 'env' | 'now'>,
  { url, token, kept }: Pick<Extract<CommandDoor, { kind: 'server' }>, 'url' | 'token' | 'kept'>,
): HttpOptions => {
  const { askServer, sleep } = io;
  return { url, token: kept?.renewal ? freshToken(io, kept) : token, fetch: askServer, sleep };
};

/** The environment for commands to a development stack that would otherwise go to a server. */
export function bypassServer(env: Env): Readonly<Record<string, string>> {
  try {
    return resolveDoor(env, {}).kind === 'server' ? DEVELOPMENT : {};
  } catch (error) {
    if (error instanceof ConveyorError) return DEVELOPMENT;
    throw error;
  }
}

const DEVELOPMENT = { CONVEYOR_BREAK_GLASS: 'development' };

const OF_TEMPORAL = [
  ['--address', 'address'],
  ['--namespace', 'namespace'],
  ['--task-queue', 'taskQueue'],
] as const;

function findReason(env: Env, { breakGlass }: ConnectOptions): string | null {
  if (breakGlass?.trim() === '')
    throw conveyorError('usage', {
      text: '--break-glass needs a reason',
      hint: 'say why: --break-glass "the server is gone"',
    });
  return breakGlass?.trim() || env.CONVEYOR_BREAK_GLASS?.trim() || null;
}

/** A token saved for one server is never sent to another. */
function findServer(env: Env, options: ConnectOptions): Extract<CommandDoor, { kind: 'server' }> | undefined {
  const { insecure = false } = options;
  const own = env.CONVEYOR_TOKEN ? parseToken(env.CONVEYOR_TOKEN, 'CONVEYOR_TOKEN') : undefined;
  const named = options.server ?? (env.CONVEYOR_SERVER || undefined);
  if (named === undefined) {
    const kept = readCredentials(env);
    if (kept === undefined) return undefined;
    const url = serverUrl(kept.server, { insecure: insecure || kept.insecure === true });
    return { kind: 'server', url, token: own ?? kept.token, from: 'conveyor login', kept: own ? undefined : kept };
  }
  const url = serverUrl(named, { insecure });
  const kept = own === undefined ? readCredentials(env) : undefined;
  const same = kept?.server === url ? kept : undefined;
  return {
    kind: 'server',
    url,
    token: own ?? same?.token ?? null,
    kept: same,
    from: options.server === undefined ? 'CONVEYOR_SERVER' : '--server',
  };
}

/**
 * The actor of commands: `CONVEYOR_ACTOR`, else `user:<login>` (docs/design/overview.md#trust). A server uses the
 * principal of the token instead, so an invalid value does no harm there.
 */
export function resolveActor(io: Pick<Io, 'env' | 'login'>, connect: ConnectOptions = {}): string {
  const given = io.env.CONVEYOR_ACTOR;
  const login = `user:${io.login.replace(/[^A-Za-z0-9._@-]/g, '-') || 'unknown'}`;
  if (given === undefined || given === '') return login;
  if (PRINCIPAL.test(given)) return given;
  if (resolveDoor(io.env, connect).kind === 'server') return login;
  throw conveyorError('usage', {
    text: `CONVEYOR_ACTOR is ${given}, which is not a principal`,
    hint: 'set it to something like user:alice or service:ci',
  });
}
