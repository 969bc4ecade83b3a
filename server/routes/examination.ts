import { Hono } from 'hono';
import { conveyorError } from '../../domain/errors';
import { authenticate, type CallerDeps } from '../auth';
import type { ServerDeps } from '../deps';
import type { RequestGate } from '../gate';
import { SharedRead } from '../shared';

/** Each examination is a workflow: however many people ask on a bad night, there is one every few seconds. */
const EXAMINED_FRESH_MS = 5_000;

/** `POST /v1/examination`: how far work gets behind this server. For known callers only, since it names processes and extensions. */
export function examinationRoutes(
  deps: CallerDeps & Pick<ServerDeps, 'examine' | 'now'> & { readonly lane: RequestGate },
): Hono {
  const { examine } = deps;
  const shared =
    examine &&
    new SharedRead(
      () => examine(),
      EXAMINED_FRESH_MS,
      () => deps.now(),
    );
  return new Hono().post('/', async (c) => {
    await authenticate(c, deps);
    if (shared === undefined) throw conveyorError('not-found', { what: 'examination' });
    return c.json(await deps.lane.run(() => shared.read(), c.req.raw.signal));
  });
}
