import { Hono } from 'hono';
import { groupsWith } from '../../domain/principals';
import { principalOf } from '../auth';
import type { ServerDeps } from '../deps';

/** `GET /v1/me`: as whom the server takes whoever asks. */
export function meRoutes({ access, groups }: Pick<ServerDeps, 'access' | 'groups'>): Hono {
  const app = new Hono();
  app.get('/', (c) => {
    const principal = principalOf(c, access.tokens);
    // The tokens of the configuration are good until they are taken out of it.
    return c.json({ principal, groups: groupsWith(groups, principal), door: 'token', expiresAt: null });
  });
  return app;
}
