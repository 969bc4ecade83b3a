import { z } from 'zod';
import { AUDIT_OUTCOMES } from '../domain/audit/record';
import { NAME } from '../domain/ids';
import { REQUEST_LIMITS } from '../domain/limits';

export const auditQuery = z.strictObject({
  pipeline: z.string().regex(NAME).optional(),
  actor: z.string().min(1).max(256).optional(),
  since: z.iso
    .datetime({ offset: true, local: false })
    .optional()
    .transform((at) => at && new Date(at).toISOString()),
  limit: z.coerce.number().int().min(1).max(REQUEST_LIMITS.rows.max).default(100),
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
  before: z
    .string()
    .regex(/^\d{1,16},\d{1,16}$/)
    .optional()
    .describe('`next` of the previous page: changes, a comma, refusals'),
});

const linkAnswer = z.object({ seq: z.number().int(), hash: z.string() });

export const auditAnswer = z.object({
  records: z.array(
    z.looseObject({
      ...{ seq: z.number().int(), at: z.string(), server: z.string(), prev: z.string(), hash: z.string() },
      ...{ actor: z.string().nullable(), door: z.string(), operation: z.string(), target: z.string() },
      ...{ reason: z.string().nullable(), outcome: z.enum(AUDIT_OUTCOMES) },
      permitted: z
        .string()
        .nullable()
        .optional()
        .describe('the rule that allowed it; missing in records from before there were rules'),
      ...{ result: z.string().nullable(), before: z.string().nullable(), after: z.string().nullable() },
    }),
  ),
  next: z
    .object({ changes: z.number().int(), refusals: z.number().int() })
    .nullable()
    .describe('where older records begin; null when there are none'),
});

export const verificationAnswer = z.array(
  z.object({
    ...{ chain: z.enum(['changes', 'refusals']), file: z.string(), records: z.number().int() },
    last: linkAnswer.nullable().describe('the last valid record'),
    hasEnds: z.boolean().describe('whether the note of the ends of the chains exists'),
    broken: z
      .object({ seq: z.number().int(), file: z.string(), line: z.number().int(), why: z.string() })
      .nullable()
      .describe('the first place at which the chain is broken'),
  }),
);
