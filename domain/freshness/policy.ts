import { DAY_MS } from '../milliseconds';
import type { Principal } from '../principals';

/** When a service that nobody deploys is stale (Conveyor §2.1): `freshness` of conveyor.config.yaml. */
export interface FreshnessPolicy {
  /** It is stale so long after its last deploy, … */
  readonly ticketAfterMs: number;
  /** … earlier if its pipeline has all of these labels, … */
  readonly highTraffic: { readonly labels: Readonly<Record<string, string>>; readonly afterMs: number };
  /** … and overdue so long after it. */
  readonly escalateAfterMs: number;
  /** The extension of kind `tickets` whose tickets owners get; null: nobody gets any. */
  readonly tickets: string | null;
  /** Who manages a group, by its name without `group:`. */
  readonly managers: Readonly<Record<string, Principal>>;
}

export const DEFAULT_FRESHNESS: FreshnessPolicy = {
  ticketAfterMs: 42 * DAY_MS,
  highTraffic: { labels: { traffic: 'high' }, afterMs: 30 * DAY_MS },
  escalateAfterMs: 63 * DAY_MS,
  tickets: null,
  managers: {},
};
