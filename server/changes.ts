import { z } from 'zod';
import { NAME } from '../domain/ids';
import { keptSpec, specSchema } from '../domain/spec/pipelineDocument';
import { releaseRequest, rerunRequest, startedAnswer } from './schemas';

/** Schemas of requests that change a pipeline or submit artifacts to it, and of their responses. */

/** A spec as a pipeline keeps it and `GET …/spec` returns it: durations are in ms, and defaults are filled in. */
export const applyRequest = specSchema;

export const appliedAnswer = z.object({
  created: z.boolean(),
  previous: z.looseObject({ pipeline: z.string() }).nullable().describe('the replaced spec'),
  continued: z
    .object({ after: z.number().int(), books: z.boolean() })
    .optional()
    .describe(
      'its workflow had ended: the release after which its numbers continue, and whether its records were there',
    ),
  configNotes: z
    .array(z.string())
    .optional()
    .describe(
      'configs of deploys that were not checked, or that their push type refuses and the pipeline had before; of an import: the facts about offers that it does not bring',
    ),
});

export const pushRequest = z.strictObject({
  action: z.string().regex(NAME).describe('the deploy that is pushed'),
  artifacts: releaseRequest.shape.artifacts,
  reason: z.string().trim().min(1).optional().describe('why; required and recorded'),
  skipBake: z.boolean().optional().describe('judge the phases while they are updated, but do not let them bake'),
  idempotencyKey: rerunRequest.shape.idempotencyKey,
});

export const pushedAnswer = startedAnswer.extend({
  approvals: z.number().int().optional().describe('the number of other owners who have to approve it first'),
});

export const submitRequest = releaseRequest.omit({ trigger: true, reason: true });

export const submittedAnswer = z.object({
  id: z.string().nullable().describe('null while other inputs have no value, or if a person starts releases'),
  number: z.number().int().nullable(),
  duplicate: z.boolean(),
});

export const lookAnswer = z.object({ look: z.enum(['looks', 'busy', 'nobody', 'unsupported']) });

export const canRequest = z.strictObject({
  who: z.string().min(1).max(256).describe('a principal such as user:alice; for start-child, the parent pipeline'),
  verb: z.string().min(1).max(64).describe('an operation, as docs/reference/access-matrix.md lists them'),
  what: z
    .string()
    .max(1_024)
    .default('')
    .describe('an id such as kvstore/12/deploy, or what a pipeline would use, such as mutex/region-x'),
  spec: keptSpec.optional().describe('for create and apply: the spec that would be applied'),
});

export const canAnswer = z.object({
  allowed: z.boolean(),
  by: z.string().nullable().describe('the rule that allows it, by its place in the configuration of the server'),
  through: z.string().nullable().describe('the group whose membership allows it'),
  why: z.string(),
});
