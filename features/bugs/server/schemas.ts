import { z } from 'zod';
import { reportOfAdvisory, type BugReport } from '../domain/bug';
import { BUG_LIMITS, REQUEST_LIMITS } from '../../../domain/limits';
import { advisorySchema, publishedAdvisory } from '../sdk/advisory';

/** Schemas of bug reports, in requests and responses. */

const revision = z.string().trim().min(1).max(BUG_LIMITS.revision.max);
const reason = z
  .string()
  .trim()
  .min(1)
  .max(REQUEST_LIMITS.reason.max)
  .describe('why; it is recorded, and shown where a release is refused');

export const reportBugRequest = z
  .strictObject({
    target: z
      .string()
      .trim()
      .min(1)
      .max(BUG_LIMITS.target.max)
      .optional()
      .describe('the target with the bug, as the dependency graph names it; required without advisory'),
    from: revision.optional().describe('the first revision that has it; required without advisory'),
    to: revision.nullable().default(null).describe('the first fixed revision; null while there is none'),
    advisory: publishedAdvisory
      .optional()
      .describe('a record in the OSV format, which names the affected versions itself'),
    reason,
  })
  .superRefine(({ target, from, advisory }, context) => {
    if (advisory !== undefined) return;
    if (target === undefined)
      context.addIssue({ code: 'custom', path: ['target'], message: 'required without advisory' });
    if (from === undefined) context.addIssue({ code: 'custom', path: ['from'], message: 'required without advisory' });
  });

/** Other fields of an advisory's versions are ignored. */
export const toBugReport = ({
  target = '',
  from = '',
  to,
  advisory,
  reason: why,
}: z.output<typeof reportBugRequest>): BugReport =>
  advisory === undefined ? { target, from, to, reason: why } : reportOfAdvisory(advisory, why);

export const closeBugRequest = z.strictObject({
  to: revision.nullable().default(null).describe('the first revision with the fix; null if it was not a bug'),
  reason,
});

const hit = z.object({
  release: z.string(),
  owners: z.array(z.string()),
  artifact: z.string(),
  path: z.string().describe('the chain of dependencies'),
});

export const bugAnswer = z.object({
  ...{ id: z.string(), target: z.string(), from: z.string(), to: z.string().nullable(), reason: z.string() },
  ...{ reportedBy: z.string(), at: z.string() },
  advisory: advisorySchema.optional().describe('the advisory, if the bug is one; target is then its id'),
  closed: z.object({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
  search: z
    .object({
      at: z.string(),
      problem: z.string().nullable().describe('why the search failed'),
      asked: z.number().int(),
      ...{ affected: z.number().int(), releases: z.array(hit) },
      ...{ exposed: z.number().int(), deployed: z.array(hit) },
      unread: z
        .object({ count: z.number().int(), why: z.string() })
        .optional()
        .describe('SBOMs that cannot be read, and why the first cannot'),
      namedOnly: z
        .number()
        .int()
        .optional()
        .describe('components of SBOMs without a readable package URL, which are compared by name at most'),
    })
    .nullable()
    .describe('what contains it; null until the first search has ended'),
});

export const bugsAnswer = z.array(bugAnswer);
