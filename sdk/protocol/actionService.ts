import { z } from 'zod';
import { artifactSchema, emptySchema, type Protocol } from './common';

/**
 * The action service protocol (protocols.md; Conveyor §5.1, `startRun` and `getRunProgress`). `cancelRun` is asked until it is
 * answered, also of runs that are over and of those that were never begun: neither is an error.
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
    }),
    response: z.object({ runId: z.string() }),
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
    mutates: false,
  },
  cancelRun: { request: z.object({ runId: z.string() }), response: emptySchema, mutates: true },
} as const satisfies Protocol;
export type ActionServiceProtocol = typeof actionServiceProtocol;
