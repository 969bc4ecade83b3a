import { auditChanges } from '../../../../domain/audit/record';
import { requireBug } from '../../domain/bug';
import type { OperationRows } from '../../../../client/operations/row';

export const BUG_OPERATIONS = {
  reportBug: {
    route: 'POST /v1/bugs',
    request: (report) => ({ body: report }),
    access: 'report-bug',
    permit: async (gate, report, actor) => {
      gate.toBugs('report-bug', actor);
      return [report, actor];
    },
    audit: ({ target, reason, from, to }, actor) => ({
      ...{ actor, target, reason, ...auditChanges({}, { from, ...(to === null ? {} : { to }) }) },
      came: ({ id }) => ({ result: id }),
    }),
  },
  closeBug: {
    route: 'POST /v1/bugs/{n}/close',
    request: ({ id, to, reason }) => ({ params: { n: requireBug(id) }, body: { to, reason } }),
    access: 'close-bug',
    permit: async (gate, close, actor) => {
      gate.toBugs('close-bug', actor);
      return [close, actor];
    },
    audit: ({ id, to, reason }, actor) => ({
      ...{ actor, target: id, reason, ...auditChanges({}, to === null ? {} : { to }) },
      came: () => ({ result: to === null ? 'it was not a bug' : `fixed in ${to}` }),
    }),
  },
  listBugs: { route: 'GET /v1/bugs', access: 'read' },
} as const satisfies Partial<OperationRows>;
