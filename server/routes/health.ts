import { Hono } from 'hono';
import type { ServerDeps } from '../deps';

/** Whether the process lives, and whether it is any use to send it work (DESIGN §2). */
export function healthRoutes(deps: Pick<ServerDeps, 'client' | 'isDraining'>): Hono {
  const app = new Hono();
  app.get('/livez', (c) => c.json({ status: 'ok' }));
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const readiness = await readinessOf(deps);
    return c.json(readiness, readiness.status === 'ok' ? 200 : 503);
  });
  return app;
}

interface Readiness {
  readonly status: 'ok' | 'unavailable';
  readonly checks: readonly { readonly name: string; readonly status: 'ok' | 'unavailable'; readonly detail: string }[];
}

/** One cheap question that only a reachable Temporal can answer. */
async function readinessOf({ client, isDraining }: Pick<ServerDeps, 'client' | 'isDraining'>): Promise<Readiness> {
  if (isDraining()) return readiness('draining', 'unavailable', 'the server is ending');
  try {
    await client.listPipelines({ limit: 1 });
    return readiness('temporal', 'ok', 'answers');
  } catch (error) {
    return readiness('temporal', 'unavailable', error instanceof Error ? error.message : String(error));
  }
}

const readiness = (name: string, status: Readiness['status'], detail: string): Readiness => ({
  status,
  checks: [{ name, status, detail }],
});
