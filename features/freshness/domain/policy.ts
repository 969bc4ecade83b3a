import { DAY_MS } from '../../../domain/milliseconds';
import type { Principal } from '../../../domain/principals';

/** The rules for stale services (Conveyor §2.1): `freshness` of conveyor.config.yaml. */
export interface FreshnessPolicy {
  /** A service is stale after this time since its last deploy, … */
  readonly ticketAfterMs: number;
  /** … earlier if its pipeline has all of these labels, … */
  readonly highTraffic: { readonly labels: Readonly<Record<string, string>>; readonly afterMs: number };
  /** … and overdue after this time. */
  readonly escalateAfterMs: number;
  /** The extension of kind `tickets` that opens tickets for owners; null if there are no tickets. */
  readonly tickets: string | null;
  /** The manager of each group, by its name without `group:`. */
  readonly managers: Readonly<Record<string, Principal>>;
}

export const DEFAULT_FRESHNESS: FreshnessPolicy = {
  ticketAfterMs: 42 * DAY_MS,
  highTraffic: { labels: { traffic: 'high' }, afterMs: 30 * DAY_MS },
  escalateAfterMs: 63 * DAY_MS,
  tickets: null,
  managers: {},
};
