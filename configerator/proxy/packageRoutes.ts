import type { Hono } from 'hono';
import { z } from 'zod';
import { conveyorError } from '../../domain/errors';
import { parseNestedJson } from '../../domain/json';
import { VESSEL_LIMITS } from '../../domain/limits';
import type { Vessel } from '../vessel/vessel';
import { refuseMore } from './answers';

/** Routes on which applications of a host ask for its packages and report their state (docs/guides/config-proxy.md#http). */

const report = z.intersection(
  z.object({ path: z.string(), version: z.string(), app: z.string().min(1).max(128) }),
  z.discriminatedUnion('state', [
    z.object({ state: z.literal('loading') }),
    z.object({ state: z.literal('ready') }),
    z.object({ state: z.literal('refused'), reason: z.string() }),
  ]),
);

export function packageRoutes(app: Hono, vessel: Vessel): void {
  let streams = 0;
  app.get('/v1/packages/:path{.+}', (c) => c.json(vessel.status(c.req.param('path'))));
  app.get('/v1/package-data/:digest', (c) => {
    const from = Number(c.req.query('from') ?? 0);
    if (!Number.isSafeInteger(from) || from < 0)
      throw conveyorError('invalid-request', { detail: 'from: the number of a piece, from 0' });
    refuseMore(VESSEL_LIMITS.streams, streams + 1);
    const wanted = { digest: c.req.param('digest'), key: c.req.query('package') };
    const body = vessel.stream(wanted, from, () => (streams -= 1));
    streams += 1;
    return c.body(body, 200, { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' });
  });
  app.post('/v1/packages', async (c) => {
    const parsed = report.safeParse(
      await c.req
        .text()
        .then(parseNestedJson)
        .catch(() => undefined),
    );
    if (!parsed.success) throw conveyorError('invalid-request', { detail: z.prettifyError(parsed.error) });
    vessel.report(parsed.data);
    return c.body(null, 204);
  });
}
