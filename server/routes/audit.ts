import { decideAudit } from '../../client/about';
import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { conveyorError } from '../../domain/errors';
import { withMember } from '../../domain/principals';
import { callerRoute, REFUSED, type ApiDeps, type ApiRoute } from '../apiRoute';
import { auditAnswer, auditQuery, verificationAnswer } from '../auditSchemas';
import type { Caller } from '../auth';

/** `/v1/audit`: all records for admins of the platform, those of a pipeline for its owners. */
export const AUDIT_ROUTES: readonly ApiRoute[] = [
  callerRoute(SERVER_QUESTIONS.audit.route, {
    summary: 'Changes and refusals, newest first; for admins of the platform, and by pipeline for its owners',
    ...{ answer: auditAnswer, query: auditQuery, also: { 404: REFUSED[404] } },
    run: async ({ deps, caller, query: readQuery }) => {
      const audit = requireAudit(deps);
      const { before, ...query } = readQuery();
      await requireReader(deps, caller, query.pipeline);
      return audit.read({ ...query, before: parseCursor(before) });
    },
  }),
  callerRoute(SERVER_QUESTIONS.verifyAudit.route, {
    summary: 'Verifies the chains of the audit; for admins',
    ...{ answer: verificationAnswer, also: { 404: REFUSED[404] } },
    run: async ({ deps, caller }) => {
      const audit = requireAudit(deps);
      await requireReader(deps, caller, undefined);
      return audit.verify();
    },
  }),
];

function requireAudit({ audit }: ApiDeps): NonNullable<ApiDeps['audit']> {
  if (audit !== undefined) return audit;
  throw conveyorError('not-found', { what: 'audit: conveyor.config.yaml of the server has no audit section' });
}

/** @throws ConveyorError `not-permitted`, `unknown-pipeline` */
async function requireReader(
  { config, client }: ApiDeps,
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
