import type { Context, MiddlewareHandler } from 'hono';
import { auditEntry } from '../domain/audit/record';
import { ConveyorError, type ErrorCode } from '../domain/errors';
import type { ServerDeps } from './deps';

/** Refusals before any call to Conveyor. */
const AT_THE_DOOR: readonly ErrorCode[] = ['unauthorized', 'bad-signature', 'wrong-key'];

/** Audits requests whose sender was not authenticated. The response does not wait for it. */
export const recordAnonymousRequests =
  ({ audit }: Pick<ServerDeps, 'audit'>): MiddlewareHandler =>
  async (c, next) => {
    await next();
    const { error } = c;
    if (audit === undefined || !(error instanceof ConveyorError) || !AT_THE_DOOR.includes(error.code)) return;
    const entry = auditEntry({
      ...{ actor: null, door: requestDoor(c), operation: 'come-in', outcome: 'refused' },
      target: `${c.req.method} ${c.req.path}`,
      reason: `from ${remoteAddress(c)}`,
      result: `${error.code}: ${error.message}`,
    });
    void audit.recordAnonymous(entry, remoteAddress(c));
  };

const requestDoor = (c: Context): 'webhook' | 'run' | 'api' =>
  c.req.path.startsWith('/v1/webhooks/') ? 'webhook' : c.req.path.startsWith('/v1/runs/') ? 'run' : 'api';

/** The peer address of the connection, which may be a proxy's. Forwarding headers are ignored because any sender can set them. */
export function remoteAddress(c: Context): string {
  const env = c.env as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined;
  return env?.incoming?.socket?.remoteAddress ?? 'an unknown address';
}
