import { WEEK_MS } from '../../../domain/milliseconds';
import { formatTime } from '../../../domain/text';
import type { PipelineSummary } from '../../../domain/views';
import type { FreshnessPolicy } from './policy';
import type { TicketRound } from './round';
import { judgeFreshness, sortMostOverdueFirst, type FreshnessView } from './view';
import type { OpenTicket } from './ticket';

/** The last daily run, if there was one. */
export interface TicketsReport {
  readonly at: string;
  /** The reason why its service took nothing; null if it answered. */
  readonly problem: string | null;
  readonly open: number;
  /** The number of unanswered requests, then of refused ones, and the first reasons. */
  readonly late: number;
  readonly refused: number;
  readonly said: readonly string[];
  /** Pipelines that wait for a ticket, because the maximum number is open. */
  readonly unticketed: number;
}

/** The output of `conveyor freshness -o json`. */
export interface FreshnessReport {
  readonly at: string;
  /** The share of deployed pipelines whose last deploy is at most a week old; null if there are none. */
  readonly weekly: number | null;
  /** Null if no daily run has ended yet, or if there are no tickets. */
  readonly tickets: TicketsReport | null;
  /** Worst first; those without any deploy come last. */
  readonly pipelines: readonly FreshnessView[];
}

/** Pipelines that have ended are left out. */
export function freshnessReport(
  pipelines: readonly PipelineSummary[],
  policy: FreshnessPolicy,
  nowMs: number,
  round: TicketRound | null = null,
): FreshnessReport {
  const tickets = new Map(round?.open.map((ticket) => [ticket.pipeline, ticket]));
  const views = pipelines
    .filter(({ ended }) => !ended)
    .map((pipeline) => withTicket(judgeFreshness(pipeline, policy, nowMs), tickets.get(pipeline.id)));
  const deployed = views.flatMap(({ deployedAt }) => (deployedAt === null ? [] : [Date.parse(deployedAt)]));
  const young = deployed.filter((atMs) => nowMs - atMs <= WEEK_MS).length;
  return {
    at: formatTime(nowMs),
    weekly: deployed.length === 0 ? null : young / deployed.length,
    tickets: round && ticketsReport(round),
    pipelines: sortMostOverdueFirst(views, policy),
  };
}

/** A ticket for an earlier deploy is about to be closed. */
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
