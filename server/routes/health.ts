import { Hono } from 'hono';
import type { Readiness, ServerPart } from '../readiness';

/** Whether the process is alive, and whether it is ready for work (docs/design/overview.md#processes). */
export function healthRoutes(readiness: Readiness): Hono {
  const app = new Hono();
  app.get('/livez', (c) => c.json({ status: 'ok' }));
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const answer = toAnswer(await readiness.read());
    return c.json(answer, answer.status === 'ok' ? 200 : 503);
  });
  return app;
}

type ReadinessStatus = 'ok' | 'unavailable';

interface ReadinessAnswer {
  readonly status: ReadinessStatus;
  readonly checks: readonly { readonly name: string; readonly status: ReadinessStatus; readonly detail: string }[];
}

const toAnswer = (parts: readonly ServerPart[]): ReadinessAnswer => ({
  status: parts.every(({ ok }) => ok) ? 'ok' : 'unavailable',
  checks: parts.map(({ name, ok, detail }) => ({ name, status: ok ? 'ok' : 'unavailable', detail })),
});
