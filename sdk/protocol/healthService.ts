import { z } from 'zod';
import { SPEC_LIMITS } from '../../domain/limits';
import { healthCheckInRequest } from '../../domain/spec/health';
import { backtestMethod } from './backtest';
import { MIB, type Protocol } from './common';
import { HEALTH_RULES } from './contradictions/pushType';
import { pushTypeProtocol } from './pushType';

/** The tasks of a unit to judge, by their identifiers in metrics (docs/reference/protocols.md#health-check-service). */
export const unitTasksSchema = z.object({
  id: z.string(),
  fresh: z.array(z.string()),
  updated: z.number().int().nonnegative().optional(),
  control: z.array(z.string()),
  before: z.array(z.string()),
});

const haveOwnNames = (checks: readonly { readonly name: string }[]): boolean =>
  new Set(checks.map(({ name }) => name)).size === checks.length;

/** The methods of the Health Check Service (docs/reference/protocols.md#health-check-service). */
export const healthServiceProtocol = {
  evaluate: {
    request: pushTypeProtocol.runHealthChecks.request.extend({
      targets: z.array(unitTasksSchema),
      checks: z
        .array(healthCheckInRequest)
        .max(SPEC_LIMITS.healthChecks.max)
        .refine(haveOwnNames, { error: 'two checks have the same name' }),
      /** The least lookback of checks without their own; Conveyor always sets it. */
      intervalMs: z
        .number()
        .positive()
        .max(SPEC_LIMITS.lookback.max * 60_000)
        .optional(),
      /** The data source for checks that name none: the store of the fleet of the targets. */
      source: z.string().optional(),
    }),
    response: pushTypeProtocol.runHealthChecks.response,
    contradictions: HEALTH_RULES,
    maxAnswerBytes: 64 * MIB,
    mutates: false,
  },
  backtest: backtestMethod,
} as const satisfies Protocol;
