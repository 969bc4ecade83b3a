import { WEEK_MS } from '../milliseconds';
import { formatTime } from '../text';
import type { PipelineSummary } from '../views';
import type { FreshnessPolicy } from './policy';
import type { TicketRound } from './round';
import { badness, freshnessOf, type FreshnessView } from './view';
import type { OpenTicket } from './ticket';

/** The last daily run, where there was one. */
export interface TicketsReport {
  readonly at: string;
  /** Why its service took nothing; null where it answered. */
  readonly problem: string | null;
  readonly open: number;
  /** What the service did not answer, or refused; and the first reasons. */
  readonly late: number;
  readonly refused: number;
  readonly said: readonly string[];
  /** Pipelines that wait for a ticket, since as many are open as may be. */
  readonly unticketed: number;
}

/** `conveyor freshness -o json` */
export interface FreshnessReport {
  readonly at: string;
  /** The share of pipelines with a deploy whose last is at most a week old; null where there is none. */
  readonly weekly: number | null;
  /** Null where no daily run has ended yet, or nobody keeps tickets. */
  readonly tickets: TicketsReport | null;
  /** Worst first; those that never deployed at the end. */
  readonly pipelines: readonly FreshnessView[];
}

/** Pipelines that have ended are out. */
export function freshnessReport(
  pipelines: readonly PipelineSummary[],
  policy: FreshnessPolicy,
  nowMs: number,
  round: TicketRound | null = null,
): FreshnessReport {
  const tickets = new Map(round?.open.map((ticket) => [ticket.pipeline, ticket]));
  const views = pipelines
    .filter(({ ended }) => !ended)
    .map((pipeline) => withTicket(freshnessOf(pipeline, policy, nowMs), tickets.get(pipeline.id)));
  const deployed = views.flatMap(({ deployedAt }) => (deployedAt === null ? [] : [Date.parse(deployedAt)]));
  const young = deployed.filter((atMs) => nowMs - atMs <= WEEK_MS).length;
  return {
    at: formatTime(nowMs),
    weekly: deployed.length === 0 ? null : young / deployed.length,
    tickets: round && ticketsReport(round),
    pipelines: views.sort((a, b) => badness(b, policy) - badness(a, policy) || a.id.localeCompare(b.id)),
  };
}

/** One of an earlier deploy is about to be closed. */
function withTicket(view: FreshnessView, ticket: OpenTicket | undefined): FreshnessView {
  if (ticket?.deployedAt !== view.deployedAt) return view;
  const { ticket: name, state, closedByHand } = ticket;
  if (name === null) return { ...view, ticket: { name, state: 'waits' } };
  if (closedByHand) return { ...view, ticket: { name, state: 'resting' } };
  return { ...view, ticket: { name, state: state === 'overdue' ? 'escalated' : 'open' } };
}

const ticketsReport = ({ at, problem, open, late, refused, said, unticketed }: TicketRound): TicketsReport => ({
  ...{ at, problem, open: open.length, late, refused, said, unticketed },
});
