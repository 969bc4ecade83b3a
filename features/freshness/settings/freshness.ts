import { z } from 'zod';
import { DEFAULT_FRESHNESS, type FreshnessPolicy } from '../domain/policy';
import { conveyorError } from '../../../domain/errors';
import { TICKET_LIMITS } from '../../../domain/limits';
import { PRINCIPAL } from '../../../domain/principals';
import { duration } from '../../../domain/spec/scalars';

/** The key of conveyor.config.yaml that this file handles. */
export const freshnessFields = {
  freshness: z
    .strictObject({
      ticketAfter: duration,
      highTraffic: duration,
      escalateAfter: duration,
      highTrafficLabels: z.record(z.string().min(1), z.string()),
      tickets: z.string(),
      managers: z
        .record(z.string(), z.string().regex(PRINCIPAL, { error: 'expected a principal such as user:maria' }))
        .refine((managers) => Object.keys(managers).length <= TICKET_LIMITS.managers.max, {
          error: `at most ${TICKET_LIMITS.managers.max} groups have managers`,
        }),
    })
    .partial()
    .default({}),
};

interface FreshnessConfig {
  readonly freshness: z.output<typeof freshnessFields.freshness>;
}

/** @throws ConveyorError `config-invalid` */
export function toFreshness(
  { freshness }: FreshnessConfig,
  extensions: readonly { readonly kind: string; readonly name: string }[],
  file: string,
): { readonly freshness: FreshnessPolicy } {
  const { tickets = null, managers = {} } = freshness;
  const isThere = extensions.some(({ kind, name }) => kind === 'tickets' && name === tickets);
  const detail = `freshness.tickets: there is no extension ${tickets} of kind tickets`;
  if (tickets !== null && !isThere) throw conveyorError('config-invalid', { file, detail });
  const { ticketAfterMs, highTraffic, escalateAfterMs } = DEFAULT_FRESHNESS;
  const policy = {
    ticketAfterMs: freshness.ticketAfter ?? ticketAfterMs,
    highTraffic: {
      labels: freshness.highTrafficLabels ?? highTraffic.labels,
      afterMs: freshness.highTraffic ?? highTraffic.afterMs,
    },
    escalateAfterMs: freshness.escalateAfter ?? escalateAfterMs,
    ...{ tickets, managers },
  };
  return { freshness: policy };
}
