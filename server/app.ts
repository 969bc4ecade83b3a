import { Hono } from 'hono';
import type { ConveyorClient } from '../client/api';
import { ConveyorError } from '../domain/errors';

export interface ServerDeps {
  readonly client: Pick<ConveyorClient, 'listPipelines'>;
  /** ms since the epoch. */
  now(): number;
  /** Becomes true when the process was asked to end: it is not ready for new work any more. */
  isDraining(): boolean;
}

/** The front end as it is so far: the health endpoints (DESIGN §2). It holds no state and can be called in-process. */
export function createApp(deps: ServerDeps): Hono {
  const startedAt = deps.now();
  const app = new Hono();
  app.get('/livez', (context) => context.json({ status: 'ok' }));
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', async (context) => {
    const readiness = await readinessOf(deps);
    return context.json(readiness, readiness.status === 'ok' ? 200 : 503);
  });
  app.get('/metrics', (context) => {
    context.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return context.body(metricsOf(deps.now() - startedAt));
  });
  app.notFound((context) =>
    context.json(
      {
        error: {
          code: 'not-found',
          message: `there is no ${context.req.method} ${context.req.path}`,
          hint: 'see /livez, /readyz and /metrics',
        },
      },
      404,
    ),
  );
  app.onError((error, context) => {
    const known = error instanceof ConveyorError;
    const body = known
      ? { code: error.code, message: error.message, hint: error.hint }
      : { code: 'internal', message: 'something went wrong', hint: 'the log of the server says what' };
    if (!known) process.stderr.write(`${error.stack ?? error.message}\n`);
    return context.json({ error: body }, 500);
  });
  return app;
}

interface Readiness {
  readonly status: 'ok' | 'unavailable';
  readonly checks: readonly { readonly name: string; readonly status: 'ok' | 'unavailable'; readonly detail: string }[];
}

/** One cheap question that only a reachable Temporal can answer. */
async function readinessOf({ client, isDraining }: ServerDeps): Promise<Readiness> {
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

/** What this process knows about itself; Prometheus text format. */
function metricsOf(uptimeMs: number): string {
  const { rss } = process.memoryUsage();
  return [
    '# HELP process_resident_memory_bytes Memory that the process holds.',
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${rss}`,
    '# HELP process_uptime_seconds How long the server has been running.',
    '# TYPE process_uptime_seconds gauge',
    `process_uptime_seconds ${uptimeMs / 1000}`,
    '',
  ].join('\n');
}
