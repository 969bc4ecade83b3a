import { z } from 'zod';
import { NAME } from '../domain/ids';
import { specSchema } from '../domain/spec/pipelineDocument';
import { releaseRequest, rerunRequest, startedAnswer } from './schemas';

/** What changes a pipeline itself, or brings it something, and what is answered. */

/** As a pipeline keeps it, and `GET …/spec` answers it: durations are ms, and what a file left out is filled in. */
export const applyRequest = specSchema;

export const appliedAnswer = z.object({
  created: z.boolean(),
  previous: z.looseObject({ pipeline: z.string() }).nullable().describe('the spec that it replaced'),
  continued: z
    .object({ after: z.number().int(), books: z.boolean() })
    .optional()
    .describe('its workflow had ended: the release after which its numbers go on, and whether its books were there'),
});

export const pushRequest = z.strictObject({
  action: z.string().regex(NAME).describe('the deploy that is pushed'),
  artifacts: releaseRequest.shape.artifacts,
  reason: z.string().trim().min(1).optional().describe('why; it goes on record, and is needed'),
  skipBake: z.boolean().optional().describe('judge the phases while they are updated, but do not let them bake'),
  idempotencyKey: rerunRequest.shape.idempotencyKey,
});

export const pushedAnswer = startedAnswer.extend({
  approvals: z.number().int().optional().describe('so many other owners have to approve it first'),
});

export const submitRequest = releaseRequest.omit({ trigger: true });

export const submittedAnswer = z.object({
  id: z.string().nullable().describe('null while other inputs have no value, and where a person starts releases'),
  number: z.number().int().nullable(),
  duplicate: z.boolean(),
});

export const lookAnswer = z.object({ look: z.enum(['looks', 'busy', 'nobody', 'unsupported']) });
