import { DAY_MS } from '../milliseconds';
import { formatTime } from '../text';
import type { PipelineSummary } from '../views';
import type { FreshnessPolicy } from './policy';

/** How a pipeline stands with the days since its last deploy. */
export interface FreshnessView {
  readonly id: string;
  readonly kind: 'pipeline';
  readonly owners: readonly string[];
  /** `never`: nothing of it is in production, so that nothing there is stale. */
  readonly state: 'fresh' | 'stale' | 'overdue' | 'never';
  readonly traffic: 'high' | 'low';
  readonly deployedAt: string | null;
  /** Whole days since then. */
  readonly days: number | null;
  /** When it becomes worse: stale, then overdue; null where it does not. */
  readonly dueAt: string | null;
  /** What keeps it from deploying. It stops no clock. */
  readonly because: 'held' | 'frozen' | null;
  /** As of the last daily run; null where there is none. */
  readonly ticket: TicketView | null;
}

/** `waits`: its service has not answered yet. `resting`: somebody closed it, and it is opened again as it escalates. */
export interface TicketView {
  /** What its service calls it; null while it waits. */
  readonly name: string | null;
  readonly state: 'waits' | 'open' | 'escalated' | 'resting';
}

export function freshnessOf(pipeline: PipelineSummary, policy: FreshnessPolicy, nowMs: number): FreshnessView {
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

/** Nothing is overdue before it is stale. */
const staleAfterMs = (traffic: FreshnessView['traffic'], policy: FreshnessPolicy): number =>
  Math.min(policy.escalateAfterMs, traffic === 'high' ? policy.highTraffic.afterMs : policy.ticketAfterMs);

/** By how much it is over its time; negative while it is not. */
export function badness({ deployedAt, traffic }: FreshnessView, policy: FreshnessPolicy): number {
  return deployedAt === null ? -Infinity : -Date.parse(deployedAt) - staleAfterMs(traffic, policy);
}
