import { z } from 'zod';
import { artifactSchema, emptySchema, type Protocol } from './common';
import { RUN_RULES, START_RULES } from './contradictions/others';

/**
 * The address to which a service reports that a run has ended: `POST url` with `Authorization: Bearer <key>` and no body, once or more often, early
 * or late. The report makes Conveyor call `getRunProgress` at once, and only that answer counts; a service that never reports is asked at intervals.
 * A repeated `startRun` may have another callback, and is still the same request.
 */
const callbackSchema = z.object({ url: z.string(), key: z.string() });
/** The `callback` of `startRun`, for `runEnded` (docs/reference/protocols.md#startrun). */
export type RunCallback = z.infer<typeof callbackSchema>;

/**
 * The action service protocol (docs/reference/protocols.md#action-service; Conveyor §5.1, `startRun` and `getRunProgress`). `cancelRun` is called
 * until it is answered, also for runs that are over and for those that never began: neither is an error.
 */
export const actionServiceProtocol = {
  startRun: {
    request: z.object({
      runId: z.string(),
      pipeline: z.string(),
      release: z.number().int(),
      action: z.string(),
      attempt: z.number().int(),
      inputs: z.array(artifactSchema),
      with: z.record(z.string(), z.unknown()),
      callback: callbackSchema
        .optional()
        .describe('Where to say that the run has ended: POST with the key as bearer token'),
    }),
    response: z.object({ runId: z.string() }),
    contradictions: START_RULES,
    mutates: true,
  },
  getRunProgress: {
    request: z.object({ runId: z.string() }),
    response: z.object({
      state: z.enum(['running', 'succeeded', 'failed']),
      progress: z.number().min(0).max(1).optional(),
      message: z.string().optional(),
      url: z.string().optional(),
      outputs: z.array(artifactSchema).optional(),
    }),
    contradictions: RUN_RULES,
    mutates: false,
  },
  cancelRun: { request: z.object({ runId: z.string() }), response: emptySchema, mutates: true },
} as const satisfies Protocol;
/** The methods of an action service (docs/reference/protocols.md#action-service). */
export type ActionServiceProtocol = typeof actionServiceProtocol;
