import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTls, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Faults, type FaultEffect } from './faults';
import { answerRequest, readPath, selectCollection, type Asked } from './handlers';
import { isFields, type Json, type Thing } from './json';
import { RESOURCES } from '../../../push-types/kubernetes/client/resources';
import { Refusal, type Change, type FakeStore } from './store';

export interface FakeServerOptions {
  readonly store: FakeStore;
  /** A server with TLS, perhaps with certificates of clients. */
  readonly tls?: ServerOptions;
  /** Without it every request is accepted. */
  readonly accepts?: (request: IncomingMessage) => boolean;
  /** Rights by review: `patch pods`. */
  readonly mayDo?: (verb: string, resource: string, namespace: string | undefined) => boolean;
  readonly bookmarkMs?: number;
}

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly atMs: number;
  readonly authorization: string | undefined;
}

/** The HTTP part of a fake API server: real connections, faults, lists by pages, watches. */
export class FakeApiServer {
  readonly faults = new Faults();
  readonly seen: SeenRequest[] = [];
  /** Requests that are being answered, watches apart, and the most that there were. */
  inFlight = 0;
  mostInFlight = 0;
  private readonly pages = new Map<string, { readonly rest: readonly Thing[]; readonly version: number }>();
  private readonly watches = new Set<ServerResponse>();
  private token = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: FakeServerOptions,
  ) {}

  static async open(options: FakeServerOptions): Promise<FakeApiServer> {
    const server = options.tls ? createTls(options.tls) : createPlain();
    const made = new FakeApiServer(server as Server, options);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void made.handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `${this.options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  }

  /** Cuts all watches, as a restart of the server or of a proxy does. */
  cutWatches(): void {
    for (const watch of this.watches) watch.destroy();
  }

  /** Stops all watches without a word: their connections stay open. */
  silenceWatches(): void {
    for (const watch of this.watches) watch.emit('silence');
  }

  get openWatches(): number {
    return this.watches.size;
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    return closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    this.seen.push({ method, path: url, atMs: Date.now(), authorization: request.headers.authorization });
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      const body = await readBody(request);
      if (this.options.accepts?.(request) === false) throw new Refusal(401, 'Unauthorized', 'Unauthorized');
      const effect = this.faults.take(method, url);
      if (effect !== undefined && (await this.disturb(effect, response))) return;
      await this.serve(request, body, response);
      if (effect?.kind === 'drop') response.destroy();
    } catch (error) {
      sendRefusal(response, error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error)));
    } finally {
      this.inFlight -= 1;
    }
  }

  /** Whether the request has been answered by its fault. */
  private async disturb(effect: FaultEffect, response: ServerResponse): Promise<boolean> {
    switch (effect.kind) {
      case 'slow':
        await delay(effect.ms);
        return response.destroyed;
      case 'drop':
        if (effect.when === 'before') response.destroy();
        // The true answer is not sent, although the request is executed.
        else response.end = response.destroy.bind(response) as unknown as typeof response.end;
        return effect.when === 'before';
      case 'tooMany':
        throw new Refusal(429, 'TooManyRequests', 'Too many requests, please try again later.', {
          retryAfter: effect.retryAfter,
        });
      case 'broken':
        response.writeHead(effect.status, {
          'content-type': 'text/html',
          ...(effect.retryAfter !== undefined && { 'retry-after': String(effect.retryAfter) }),
        });
        response.end(effect.body ?? '<html>the proxy has no upstream</html>');
        return true;
      case 'expired':
        throw new Refusal(
          410,
          'Expired',
          'The provided continue parameter is too old to display a consistent list result.',
        );
      case 'forbidden':
        throw new Refusal(403, 'Forbidden', 'User "system:serviceaccount:conveyor:conveyor" cannot do this');
      case 'unauthorized':
        throw new Refusal(401, 'Unauthorized', 'Unauthorized');
      case 'webhook':
        throw new Refusal(403, 'Forbidden', `admission webhook "${effect.name}" denied the request: ${effect.message}`);
      case 'quota':
        throw new Refusal(403, 'Forbidden', `exceeded quota: ${effect.message}`);
    }
  }

  private async serve(request: IncomingMessage, body: Json | undefined, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake');
    if (url.pathname === '/version') return sendJson(response, 200, { major: '1', minor: '37', gitVersion: 'v1.37.1' });
    const asked: Asked = {
      ...readPath(url.pathname),
      ...{ method: request.method ?? '', query: url.searchParams, body },
      contentType: request.headers['content-type'] ?? '',
    };
    if (asked.method === 'GET' && asked.name === undefined) {
      if (asked.query.get('watch') !== '1') return sendJson(response, 200, this.list(asked));
      this.inFlight -= 1;
      await this.watch(asked, response);
      this.inFlight += 1;
      return undefined;
    }
    const { status, body: answer } = answerRequest(this.options.store, asked);
    const reviewed = asked.kind === 'SelfSubjectAccessReview' ? this.review(answer) : answer;
    return sendJson(response, status, reviewed);
  }

  private review(body: object): object {
    const { spec } = body as { spec?: { resourceAttributes?: Record<string, string> } };
    const { verb = '', resource = '', subresource, namespace } = spec?.resourceAttributes ?? {};
    const full = subresource === undefined ? resource : `${resource}/${subresource}`;
    return { ...body, status: { allowed: this.options.mayDo?.(verb, full, namespace) ?? true } };
  }

  private list({ kind, namespace, query }: Asked): object {
    const { store } = this.options;
    const given = query.get('continue');
    const known = given === null ? undefined : this.pages.get(given);
    if (given !== null && known === undefined)
      throw new Refusal(
        ...([410, 'Expired'] as const),
        'The provided continue parameter is too old to display a consistent list result.',
      );
    const all = known?.rest ?? sortByKey(store.list(kind, namespace)).filter(selectCollection(query));
    const version = known?.version ?? store.currentVersion;
    const limit = Number(query.get('limit') ?? 0) || all.length;
    const rest = all.slice(limit);
    const next = rest.length === 0 ? undefined : `page-${(this.token += 1)}`;
    if (next !== undefined) this.pages.set(next, { rest, version });
    return {
      ...{ kind: `${kind}List`, apiVersion: RESOURCES[kind].apiVersion },
      metadata: { resourceVersion: String(version), ...(next !== undefined && { continue: next }) },
      items:
        all.length === 0 ? null : all.slice(0, limit).map(({ kind: _kind, apiVersion: _version, ...item }) => item),
    };
  }

  private async watch({ kind, namespace, query }: Asked, response: ServerResponse): Promise<void> {
    const { store, bookmarkMs = 60_000 } = this.options;
    const version = Number(query.get('resourceVersion') ?? 0);
    const matches = selectCollection(query);
    response.writeHead(200, { 'content-type': 'application/json' });
    const write = (event: object): void => void response.write(`${JSON.stringify(event)}\n`);
    if (store.isExpired(version)) {
      write({
        type: 'ERROR',
        object: describeRefusal(new Refusal(410, 'Expired', `too old resource version: ${version}`)),
      });
      response.end();
      return;
    }
    let shown = version;
    const show = (change: Change): void => {
      if (change.object.kind !== kind) return;
      if (namespace !== undefined && change.object.metadata.namespace !== namespace) return;
      const event = describeEvent(change, matches);
      if (!event) return;
      write(event);
      shown = change.version;
    };
    // The head has to go out even if nothing happens.
    response.flushHeaders();
    for (const change of store.changesAfter(version)) show(change);
    let stop = store.listen(show);
    // As the real server (cache_watcher.go of Kubernetes 1.37): none without a change of the kind since the last event.
    const bookmarks = setInterval(() => {
      const newest = store.findKindVersion(kind);
      if (query.get('allowWatchBookmarks') !== 'true' || newest <= shown) return;
      write({ type: 'BOOKMARK', object: { kind, metadata: { resourceVersion: String(newest) } } });
      shown = newest;
    }, bookmarkMs);
    const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 1800) * 1000);
    this.watches.add(response);
    response.on('silence', () => {
      stop();
      stop = () => false;
      clearInterval(bookmarks);
      clearTimeout(timer);
    });
    await new Promise<void>((resolve) => response.on('close', resolve));
    this.watches.delete(response);
    stop();
    clearInterval(bookmarks);
    clearTimeout(timer);
  }
}

/** An object that begins to match a selector is added, and one that ceases to is deleted. */
function describeEvent({ type, object, before }: Change, matches: (object: Thing) => boolean): object | undefined {
  const [matched, doesMatch] = [before !== undefined && matches(before), matches(object)];
  if (type === 'DELETED') return matched ? { type, object } : undefined;
  if (doesMatch) return { type: matched ? 'MODIFIED' : 'ADDED', object };
  return matched ? { type: 'DELETED', object } : undefined;
}

const sortByKey = (things: readonly Thing[]): Thing[] =>
  [...things].sort((a, b) =>
    `${a.metadata.namespace}/${a.metadata.name}` < `${b.metadata.namespace}/${b.metadata.name}` ? -1 : 1,
  );

async function readBody(request: IncomingMessage): Promise<Json | undefined> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  if (text === '') return undefined;
  const parsed = JSON.parse(text) as Json;
  if (!isFields(parsed) && !Array.isArray(parsed)) throw new Refusal(400, 'BadRequest', 'the body is no object');
  return parsed;
}

const describeRefusal = ({ code, reason, message, more }: Refusal): object => ({
  ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
  details: {
    ...(more.retryAfter !== undefined && { retryAfterSeconds: more.retryAfter }),
    ...(more.causes && { causes: more.causes }),
  },
});

function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const { retryAfter } = refusal.more;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  sendJson(response, refusal.code, describeRefusal(refusal));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
