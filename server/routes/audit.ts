import { Hono, type Context } from 'hono';
import { decideAudit } from '../../client/about';
import { conveyorError } from '../../domain/errors';
import { withMember } from '../../domain/principals';
import { authenticate, type Caller, type CallerDeps } from '../auth';
import { parseQuery } from '../body';
import type { ServerDeps } from '../deps';
import { auditQuery } from '../auditSchemas';

type AuditRouteDeps = Pick<ServerDeps, 'audit' | keyof CallerDeps>;

/** `/v1/audit`: all of it for admins of the platform, and what concerns a pipeline for its owners. */
export function auditRoutes(deps: AuditRouteDeps): Hono {
  const app = new Hono();
  app.get('/', async (c) => {
    const caller = await authenticate(c, deps);
    const audit = requireAudit(deps);
    const { before, ...query } = parseQuery(c, auditQuery);
    await requireReader(deps, caller, query.pipeline);
    return c.json(await audit.read({ ...query, before: parseCursor(before) }));
  });
  app.get('/verification', async (c: Context) => {
    const caller = await authenticate(c, deps);
    const audit = requireAudit(deps);
    await requireReader(deps, caller, undefined);
    return c.json(await audit.verify());
  });
  return app;
}

function requireAudit({ audit }: AuditRouteDeps): NonNullable<AuditRouteDeps['audit']> {
  if (audit !== undefined) return audit;
  throw conveyorError('not-found', { what: 'audit: conveyor.config.yaml of the server has no audit section' });
}

/** @throws ConveyorError `not-permitted`, `unknown-pipeline` */
async function requireReader(
  deps: AuditRouteDeps,
  { principal: actor, groups: joins }: Caller,
  pipeline: string | undefined,
): Promise<void> {
  const { config, client } = deps;
  const facts = { policy: config.policy, groups: withMember(config.groups, actor, joins) };
  const decision = await decideAudit(client, facts, { who: { principal: actor, door: 'api' }, pipeline });
  if (decision.allowed) return;
  throw conveyorError('not-permitted', { actor, pipeline: pipeline ?? 'the audit', why: decision.why });
}

/** `12,7`: of each chain what comes before. */
function parseCursor(text: string | undefined): { readonly changes: number; readonly refusals: number } | undefined {
  if (text === undefined) return undefined;
  const [changes = 0, refusals = 0] = text.split(',').map(Number);
  return { changes, refusals };
}
