import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { parseNestedJson } from '../../domain/json';
import { CONFIG_LIMITS } from '../../domain/limits';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { limitBody } from '../../sdk/bodyLimit';
import type { Vessel } from '../vessel/vessel';
import { answerError, refuseMore } from './answers';
import { formatMetrics } from './metrics';
import { packageRoutes } from './packageRoutes';
import type { AgedAnswer, ConfigProxy } from './proxy';
import { createEventStream } from './stream';

/** The HTTP of a proxy (docs/guides/config-proxy.md#http), for the applications of its host. */

const MAX_BODY_BYTES = 16 * 1024;

const refusal = z.object({
  path: z.string(),
  version: z.string(),
  reason: z.string().nullable(),
  app: z.string().min(1).max(128),
});

export interface ProxyApp {
  readonly fetch: Hono['fetch'];
  /** Ends the streams of all watchers, which will reconnect. */
  end(): void;
}

interface ProxyAppOptions {
  /** How often a watcher gets a sign of life. Default 10 s. */
  readonly aliveMs?: number;
  /** Packages of this host; without it none are served. */
  readonly vessel?: Vessel;
}

export function createProxyApp(proxy: ConfigProxy, { aliveMs, vessel }: ProxyAppOptions = {}): ProxyApp {
  const app = new Hono();
  const watchers = new Set<() => void>();
  app.onError((error, c) => answerError(c, error));
  app.notFound((c) => answerError(c, conveyorError('not-found', { what: `${c.req.method} ${c.req.path}` })));
  app.get('/health', (c) => c.json({ ...proxy.health(), watchers: watchers.size }));
  app.get('/metrics', (c) => c.text(formatMetrics(proxy.health(), watchers.size)));
  app.get('/v1/config/:path{.+}', async (c) => {
    const answer = await proxy.ask(c.req.param('path'));
    return c.json(answer, answer.value === null ? 404 : 200);
  });
  app.get('/v1/watch', (c) => watch(c, proxy, watchers, aliveMs));
  app.use(limitBody({ maxSize: MAX_BODY_BYTES, onError: (c) => answerError(c, bodyTooLarge()) }));
  app.post('/v1/refused', async (c) => {
    const parsed = refusal.safeParse(
      await c.req
        .text()
        .then(parseNestedJson)
        .catch(() => undefined),
    );
    if (!parsed.success) throw conveyorError('invalid-request', { detail: z.prettifyError(parsed.error) });
    proxy.refuse(parsed.data);
    return c.body(null, 204);
  });
  if (vessel) packageRoutes(app, vessel);
  return { fetch: app.fetch, end: () => watchers.forEach((end) => end()) };
}

function watch(c: Context, proxy: ConfigProxy, watchers: Set<() => void>, aliveMs?: number): Response {
  const paths = [...new Set(c.req.queries('path') ?? [])];
  if (paths.length === 0) throw conveyorError('invalid-request', { detail: 'path: which one to watch' });
  refuseMore(CONFIG_LIMITS.watchedPaths, paths.length);
  refuseMore(CONFIG_LIMITS.proxyWatchers, watchers.size + 1);
  const stream = createEventStream<AgedAnswer>({
    getKey: ({ path }) => path,
    alive: () => ({ age: proxy.age() }),
    onEnd: () => watchers.delete(stream.end),
    aliveMs,
  });
  stream.addCleanup(proxy.listen(paths, stream.send));
  watchers.add(stream.end);
  return stream.response;
}

const bodyTooLarge = (): ConveyorError => conveyorError('too-large', { limit: '16 kB' });
