import { z } from 'zod';
import { DEFAULT_FRESHNESS, type FreshnessPolicy } from '../domain/freshness/policy';
import { duration } from '../domain/spec/scalars';

/** The key of conveyor.config.yaml that this file is about. */
export const freshnessFields = {
  freshness: z
    .strictObject({
      ticketAfter: duration,
      highTraffic: duration,
      escalateAfter: duration,
      highTrafficLabels: z.record(z.string().min(1), z.string()),
    })
    .partial()
    .default({}),
};

interface FreshnessConfig {
  readonly freshness: z.output<typeof freshnessFields.freshness>;
}

export function toFreshness({ freshness }: FreshnessConfig): FreshnessPolicy {
  const { ticketAfterMs, highTraffic, escalateAfterMs } = DEFAULT_FRESHNESS;
  return {
    ticketAfterMs: freshness.ticketAfter ?? ticketAfterMs,
    highTraffic: {
      labels: freshness.highTrafficLabels ?? highTraffic.labels,
      afterMs: freshness.highTraffic ?? highTraffic.afterMs,
    },
    escalateAfterMs: freshness.escalateAfter ?? escalateAfterMs,
  };
}
