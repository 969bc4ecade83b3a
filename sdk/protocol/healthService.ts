import { z } from 'zod';
import { healthCheckInRequest } from '../../domain/spec/health';
import { backtestMethod } from './backtest';
import type { Protocol } from './common';
import { pushTypeProtocol } from './pushType';

/** The Health Check Service (health.md): what `runHealthChecks` takes, with targets resolved to task identifiers. */
export const unitTasksSchema = z.object({
  id: z.string(),
  fresh: z.array(z.string()),
  control: z.array(z.string()),
  before: z.array(z.string()),
});

export const healthServiceProtocol = {
  evaluate: {
    request: pushTypeProtocol.runHealthChecks.request.extend({
      targets: z.array(unitTasksSchema),
      checks: z.array(healthCheckInRequest),
      /** Least lookback of checks that do not say theirs; Conveyor always writes it out. */
      intervalMs: z.number().positive().optional(),
      /** The data source of checks that name none: the store of the fleet that the targets belong to. */
      source: z.string().optional(),
    }),
    response: pushTypeProtocol.runHealthChecks.response,
    mutates: false,
  },
  backtest: backtestMethod,
} as const satisfies Protocol;
