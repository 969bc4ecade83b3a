import type { z } from 'zod';
import { decideAudit } from '../../client/about';
import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { conveyorError } from '../../domain/errors';
import { withMember } from '../../domain/principals';
import type { AuditPage } from '../../settings/audit/files';
import { callerRoute, REFUSED, type ApiDeps, type ApiRoute } from '../apiRoute';
import { auditAnswer, auditQuery, verificationAnswer } from '../auditSchemas';
import type { Caller } from '../auth';

/** `/v1/audit`: all records for admins of the platform, those of a pipeline for its owners. */
export const AUDIT_ROUTES: readonly ApiRoute[] = [
  callerRoute(SERVER_QUESTIONS.audit.route, {
    summary: 'Changes and refusals, newest first; for admins of the platform, and by pipeline for its owners',
    ...{ answer: auditAnswer, query: auditQuery, also: { 404: REFUSED[404] } },
    run: ({ deps, caller, query }) => readAuditPage(deps, caller, query()),
  }),
  callerRoute(SERVER_QUESTIONS.verifyAudit.route, {
    summary: 'Verifies the chains of the audit; for admins',
    ...{ answer: verificationAnswer, also: { 404: REFUSED[404] } },
    run: async ({ deps, caller }) => {
      const audit = requireAudit(deps);
      await requireAuditor(deps, caller, undefined);
      return audit.verify();
    },
  }),
];

/** @throws ConveyorError `not-permitted`, `unknown-pipeline`; `not-found` without an audit */
export async function readAuditPage(
  deps: ApiDeps,
  caller: Caller,
  { before, ...query }: z.output<typeof auditQuery>,
): Promise<AuditPage> {
  const audit = requireAudit(deps);
  await requireAuditor(deps, caller, query.pipeline);
  return audit.read({ ...query, before: parseCursor(before) });
}

function requireAudit({ audit }: ApiDeps): NonNullable<ApiDeps['audit']> {
  if (audit !== undefined) return audit;
  throw conveyorError('not-found', { what: 'audit: conveyor.config.yaml of the server has no audit section' });
}

/**
 * Requires an admin of the platform; for the records of a pipeline, one of its owners is enough.
 * @throws ConveyorError `not-permitted`, `unknown-pipeline`
 */
async function requireAuditor(
  { config, client }: Pick<ApiDeps, 'config' | 'client'>,
  { principal: actor, groups: joins }: Caller,
  pipeline: string | undefined,
): Promise<void> {
  const facts = { policy: config.policy, groups: withMember(config.groups, actor, joins) };
  const decision = await decideAudit(client, facts, { who: { principal: actor, door: 'api' }, pipeline });
  if (decision.allowed) return;
  throw conveyorError('not-permitted', { actor, pipeline: pipeline ?? 'the audit', why: decision.why });
}

/** `12,7`: the position before which each chain is read. */
function parseCursor(text: string | undefined): { readonly changes: number; readonly refusals: number } | undefined {
  if (text === undefined) return undefined;
  const [changes = 0, refusals = 0] = text.split(',').map(Number);
  return { changes, refusals };
}
