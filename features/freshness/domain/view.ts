import { DAY_MS } from '../../../domain/milliseconds';
import { formatTime } from '../../../domain/text';
import type { PipelineSummary } from '../../../domain/views';
import type { FreshnessPolicy } from './policy';

/** The freshness of a pipeline, in days since its last deploy. */
export interface FreshnessView {
  readonly id: string;
  readonly kind: 'pipeline';
  readonly owners: readonly string[];
  /** `never`: none of its versions is in production, so nothing there can be stale. */
  readonly state: 'fresh' | 'stale' | 'overdue' | 'never';
  readonly traffic: 'high' | 'low';
  readonly deployedAt: string | null;
  /** Whole days since then. */
  readonly days: number | null;
  /** The time at which its state gets worse: stale, then overdue; null if it does not. */
  readonly dueAt: string | null;
  /** The reason why it cannot deploy, which does not stop the clock. */
  readonly because: 'held' | 'frozen' | null;
  /** From the last daily run; null if there is no ticket. */
  readonly ticket: TicketView | null;
}

/**
 * `waits`: its service has not answered yet. `resting`: a person closed it, and it will be opened again when it
 * escalates.
 */
export interface TicketView {
  /** The service's name for it; null while it waits. */
  readonly name: string | null;
  readonly state: 'waits' | 'open' | 'escalated' | 'resting';
}

export function judgeFreshness(pipeline: PipelineSummary, policy: FreshnessPolicy, nowMs: number): FreshnessView {
  const { id, owners, labels, deployedAt = null } = pipeline;
  const traffic = isHighTraffic(labels, policy) ? 'high' : 'low';
  const because = pipeline.state === 'active' ? null : pipeline.state;
  const common = { id, kind: 'pipeline', owners, traffic, because, deployedAt, ticket: null } as const;
  if (deployedAt === null) return { ...common, state: 'never', days: null, dueAt: null };
  const atMs = Date.parse(deployedAt);
  const ageMs = Math.max(0, nowMs - atMs);
  const days = Math.floor(ageMs / DAY_MS);
  const at = (ms: number): string => formatTime(atMs + ms);
  const staleMs = staleAfterMs(traffic, policy);
  if (ageMs >= policy.escalateAfterMs) return { ...common, state: 'overdue', days, dueAt: null };
  if (ageMs >= staleMs) return { ...common, state: 'stale', days, dueAt: at(policy.escalateAfterMs) };
  return { ...common, state: 'fresh', days, dueAt: at(staleMs) };
}

function isHighTraffic(labels: PipelineSummary['labels'], { highTraffic }: FreshnessPolicy): boolean {
  const wanted = Object.entries(highTraffic.labels);
  return wanted.length > 0 && wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

/** A service is never overdue before it is stale. */
const staleAfterMs = (traffic: FreshnessView['traffic'], policy: FreshnessPolicy): number =>
  Math.min(policy.escalateAfterMs, traffic === 'high' ? policy.highTraffic.afterMs : policy.ticketAfterMs);

/** The larger, the longer it has exceeded its limit; only for sorting. */
export function computeOverdueRank({ deployedAt, traffic }: FreshnessView, policy: FreshnessPolicy): number {
  return deployedAt === null ? -Infinity : -Date.parse(deployedAt) - staleAfterMs(traffic, policy);
}
