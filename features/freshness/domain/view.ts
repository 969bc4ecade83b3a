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
  // Tens of thousands are judged at once, and spreading one object into another takes four times as long as a literal.
  const judge = (state: FreshnessView['state'], days: number | null, dueAt: string | null): FreshnessView => {
    return { id, kind: 'pipeline', owners, traffic, because, deployedAt, ticket: null, state, days, dueAt };
  };
  if (deployedAt === null) return judge('never', null, null);
  const atMs = Date.parse(deployedAt);
  const ageMs = Math.max(0, nowMs - atMs);
  const days = Math.floor(ageMs / DAY_MS);
  const at = (ms: number): string => formatTime(atMs + ms);
  const staleMs = staleAfterMs(traffic, policy);
  if (ageMs >= policy.escalateAfterMs) return judge('overdue', days, null);
  if (ageMs >= staleMs) return judge('stale', days, at(policy.escalateAfterMs));
  return judge('fresh', days, at(staleMs));
}

function isHighTraffic(labels: PipelineSummary['labels'], { highTraffic }: FreshnessPolicy): boolean {
  const wanted = Object.entries(highTraffic.labels);
  return wanted.length > 0 && wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

/** A service is never overdue before it is stale. */
const staleAfterMs = (traffic: FreshnessView['traffic'], policy: FreshnessPolicy): number =>
  Math.min(policy.escalateAfterMs, traffic === 'high' ? policy.highTraffic.afterMs : policy.ticketAfterMs);

/** The longest beyond its limit first, and those without a deploy last; by name where that is equal. Each is looked at once. */
export function sortMostOverdueFirst(views: readonly FreshnessView[], policy: FreshnessPolicy): FreshnessView[] {
  const ranked = views.map((view) => ({ view, rank: computeOverdueRank(view, policy) }));
  // Two without a deploy have no difference: Infinity less Infinity is no number.
  ranked.sort((a, b) => b.rank - a.rank || a.view.id.localeCompare(b.view.id));
  return ranked.map(({ view }) => view);
}

const computeOverdueRank = ({ deployedAt, traffic }: FreshnessView, policy: FreshnessPolicy): number =>
  deployedAt === null ? -Infinity : -Date.parse(deployedAt) - staleAfterMs(traffic, policy);
