import { z } from 'zod';
import { BUG_LIMITS, REQUEST_LIMITS } from '../domain/limits';

/** What is reported to be bad, as it comes in over HTTP and is answered. */

const revision = z.string().trim().min(1).max(BUG_LIMITS.revision.max);
const reason = z
  .string()
  .trim()
  .min(1)
  .max(REQUEST_LIMITS.reason.max)
  .describe('why; it is recorded, and shown where a release is refused');

export const reportBugRequest = z.strictObject({
  target: z
    .string()
    .trim()
    .min(1)
    .max(BUG_LIMITS.target.max)
    .describe('what has the bug, as the dependency graph names it'),
  from: revision.describe('the first revision that has it'),
  to: revision.nullable().default(null).describe('the first that has it no more; null while there is none'),
  reason,
});

export const closeBugRequest = z.strictObject({
  to: revision.nullable().default(null).describe('the first revision with the fix; null where it was no bug'),
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
  closed: z.object({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
  search: z
    .object({
      at: z.string(),
      problem: z.string().nullable().describe('why nobody knows what contains it'),
      asked: z.number().int(),
      ...{ affected: z.number().int(), releases: z.array(hit) },
      ...{ exposed: z.number().int(), deployed: z.array(hit) },
    })
    .nullable()
    .describe('what contains it; null until the first search has ended'),
});

export const bugsAnswer = z.array(bugAnswer);
