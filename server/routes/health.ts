import { Hono } from 'hono';
import type { ServerDeps } from '../deps';

/** Whether the process lives, and whether it is any use to send it work (docs/design/overview.md#processes). */
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

type ReadinessStatus = 'ok' | 'unavailable';

interface Readiness {
  readonly status: ReadinessStatus;
  readonly checks: readonly { readonly name: string; readonly status: ReadinessStatus; readonly detail: string }[];
}

/** Asks for what every request needs, and no pipeline: one that is silent takes nobody's front end away. */
async function readinessOf({ client, isDraining }: Pick<ServerDeps, 'client' | 'isDraining'>): Promise<Readiness> {
  if (isDraining()) return toReadiness([{ name: 'draining', ok: false, detail: 'the server is ending' }]);
  return toReadiness(await client.readiness());
}

const toReadiness = (parts: readonly { name: string; ok: boolean; detail: string }[]): Readiness => ({
  status: parts.every(({ ok }) => ok) ? 'ok' : 'unavailable',
  checks: parts.map(({ name, ok, detail }) => ({ name, status: ok ? 'ok' : 'unavailable', detail })),
});
