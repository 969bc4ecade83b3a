import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectWatch } from './api';
import { isKubernetesError, KubernetesError, readFailure, type RequestWords } from './errors';
import type { ClientSettings } from './limits';
import { watchLineSchema, type WatchEvent } from './objects';
import type { KubernetesRequester } from './requester';
import { buildPath, RESOURCES, type ResourceKind } from './resources';

interface WatchTools {
  readonly requester: KubernetesRequester;
  readonly settings: ClientSettings;
  readonly random: () => number;
  readonly now: () => number;
  readonly words: RequestWords;
}

/** Changes without a gap over any number of connections; see `KubernetesApi.watch`. */
export async function* watchObjects(
  parts: WatchTools,
  kind: ResourceKind,
  options: ObjectWatch,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { signal } = options;
  const { now, settings, words } = parts;
  let version = options.resourceVersion;
  let failures = 0;
  let signMs = now();
  while (!signal.aborted) {
    let seen = 0;
    const beganMs = now();
    const silence = { words, idleMs: settings.watchIdleMs, leftMs: signMs + settings.watchIdleMs - beganMs };
    if (silence.leftMs <= 0) throw failSilent(silence);
    try {
      for await (const event of watchOnce(parts, kind, { ...options, resourceVersion: version }, silence)) {
        signMs = now();
        version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        seen += 1;
        yield event;
      }
      // A server that ends each watch at once would be called without a pause.
      if (seen === 0 && now() - beganMs < SHORT_MS) await waitBefore(parts, { failures: (failures += 1), signal });
      else failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!doesPass(error)) throw error;
      failures = seen > 0 ? 1 : failures + 1;
      await waitBefore(parts, { failures, error, signal });
    }
  }
}

/** The end of a watch without a sign of life over all its connections. */
interface Silence {
  readonly words: RequestWords;
  readonly idleMs: number;
  /** Until the first sign of this connection. */
  readonly leftMs: number;
}

const failSilent = ({ words, idleMs }: Silence): KubernetesError =>
  new KubernetesError(words, { kind: 'Gone', status: null, message: `no change was seen for ${idleMs / 1000} s` });

/** Whether a failure may pass by itself. Refused credentials may: they are read again. */
const doesPass = (error: unknown): boolean => isKubernetesError(error, 'Unavailable', 'TooMany', 'Unauthorized');

interface BackOffWait {
  readonly failures: number;
  readonly error?: unknown;
  readonly signal: AbortSignal;
}

const SHORT_MS = 1_000;

/** Twice as long after each failure, by chance between half and all of it, so that watches that broke together come back apart. */
async function waitBefore({ settings, random }: WatchTools, { failures, error, signal }: BackOffWait): Promise<void> {
  const fullMs = Math.min(settings.mostBackOffMs, settings.firstBackOffMs * 2 ** Math.min(failures - 1, 20));
  const wantedMs = isKubernetesError(error) ? (error.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(fullMs * (0.5 + random() / 2), Math.min(wantedMs, settings.retryAfterMs));
  await delay(waitMs, undefined, { signal }).catch(() => undefined);
}

/** One connection: returns when the server ends it, throws when it breaks or falls silent. */
async function* watchOnce(
  { requester, settings, random, words }: WatchTools,
  kind: ResourceKind,
  { namespace, labelSelector, resourceVersion, signal, onOpen }: ObjectWatch,
  silence: Silence,
): AsyncGenerator<WatchEvent, void, undefined> {
  const query = new URLSearchParams({
    ...{ watch: '1', allowWatchBookmarks: 'true', resourceVersion },
    timeoutSeconds: String(Math.ceil(settings.watchSeconds * (1 + random()))),
    ...(labelSelector !== undefined && { labelSelector }),
  });
  const path = `${buildPath(kind, namespace === undefined ? {} : { namespace })}?${query.toString()}`;
  const stream = await requester.open(words, { method: 'GET', path, signal });
  onOpen?.();
  try {
    for await (const line of readWatchLines(stream, silence, settings)) yield parseWatchLine(line, kind, words);
  } finally {
    stream.destroy();
  }
}

async function* readWatchLines(
  stream: IncomingMessage,
  silence: Silence,
  { watchLineBytes }: ClientSettings,
): AsyncGenerator<string, void, undefined> {
  const fail = (message: string, cause: unknown): KubernetesError =>
    new KubernetesError(silence.words, { kind: 'Unavailable', status: null, message }, { cause });
  const waitForSign = (ms: number): NodeJS.Timeout => setTimeout(() => stream.destroy(failSilent(silence)), ms);
  let idle = waitForSign(silence.leftMs);
  let rest = '';
  stream.setEncoding('utf8');
  try {
    for await (const part of stream) {
      clearTimeout(idle);
      idle = waitForSign(silence.idleMs);
      const lines = (rest + String(part)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of [...lines, rest])
        if (line.length > watchLineBytes) throw new Error(`an object has more than ${watchLineBytes} bytes`);
      for (const line of lines) if (line !== '') yield line;
    }
  } catch (error) {
    throw error instanceof KubernetesError
      ? error
      : fail(error instanceof Error ? error.message : String(error), error);
  } finally {
    clearTimeout(idle);
  }
}

/** @throws KubernetesError for an event that is an error, of kind `Gone` if the version is too old */
function parseWatchLine(line: string, kind: ResourceKind, words: RequestWords): WatchEvent {
  const parsed = watchLineSchema.safeParse(parseJsonLine(line));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `an event is not as expected: ${issue?.path.map(String).join('.')}: ${issue?.message}`;
    throw new KubernetesError(words, { kind: 'Unavailable', status: 200, message });
  }
  const event = parsed.data;
  if (event.type === 'ERROR') throw readFailure(words, event.object.code ?? 500, event.object);
  if (event.type === 'BOOKMARK') return { type: 'BOOKMARK', resourceVersion: event.object.metadata.resourceVersion };
  return { type: event.type, object: { ...event.object, kind, apiVersion: RESOURCES[kind].apiVersion } };
}

function parseJsonLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
