import { Hono } from 'hono';
import { groupsOfMember } from '../../domain/principals';
import { formatTime } from '../../domain/text';
import { authenticate, type CallerDeps } from '../auth';

/** `GET /v1/me`: the identity of the caller, as the server knows it. */
export function meRoutes(deps: CallerDeps): Hono {
  const app = new Hono();
  app.get('/', async (c) => {
    const { principal, groups, door, expiresAtMs } = await authenticate(c, deps);
    const all = new Set([...groupsOfMember(deps.config.groups, principal), ...groups.map((name) => `group:${name}`)]);
    // The tokens of the configuration are good until they are taken out of it.
    const expiresAt = expiresAtMs === null ? null : formatTime(expiresAtMs);
    return c.json({ principal, groups: [...all], door, expiresAt });
  });
  return app;
}
