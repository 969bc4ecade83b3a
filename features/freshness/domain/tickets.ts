import { TICKET_LIMITS } from '../../../domain/limits';
import { WEEK_MS } from '../../../domain/milliseconds';
import { withReason } from '../../../domain/text';
import type { PipelineSummary } from '../../../domain/views';
import type { FreshnessPolicy } from './policy';
import { judgeFreshness, sortMostOverdueFirst, type FreshnessView } from './view';
import { textDigest, ticketText, type OpenTicket, type TicketText } from './ticket';

/** The step that is due for one ticket. */
export type TicketStep =
  | { readonly kind: 'keep'; readonly ticket: OpenTicket }
  /** May repeat: a key has only one ticket. */
  | { readonly kind: 'open'; readonly ticket: OpenTicket; readonly text: TicketText }
  | { readonly kind: 'update'; readonly ticket: OpenTicket; readonly text: TicketText; readonly escalates: boolean }
  | { readonly kind: 'close'; readonly ticket: OpenTicket; readonly reason: string };

/**
 * The time for which lists may lack a pipeline while its history continues in another. After that, the pipeline counts
 * as gone.
 */
const GONE_MS = WEEK_MS;

/**
 * Adds the tickets that are due now: one for each stale pipeline, the worst first, as far as there is room. They are recorded here before any
 * service is asked, so that every opened ticket will also be closed.
 */
export function withDue(
  open: readonly OpenTicket[],
  pipelines: readonly PipelineSummary[],
  policy: FreshnessPolicy,
  nowMs: number,
): { readonly open: readonly OpenTicket[]; readonly unticketed: number } {
  const has = new Set(open.map(({ pipeline }) => pipeline));
  const stale = pipelines
    .filter((pipeline) => !pipeline.ended && !has.has(pipeline.id))
    .map((pipeline) => judgeFreshness(pipeline, policy, nowMs))
    .filter(isOld);
  const due = sortMostOverdueFirst(stale, policy);
  const room = Math.max(0, TICKET_LIMITS.open.max - open.length);
  return { open: [...open, ...due.slice(0, room).map(newTicket)], unticketed: Math.max(0, due.length - room) };
}

/** A deploy or the end of its pipeline closes a ticket. If lists lack its pipeline for a while, it stays. */
export function ticketStep(
  ticket: OpenTicket,
  pipeline: PipelineSummary | undefined,
  policy: FreshnessPolicy,
  nowMs: number,
): TicketStep {
  const close = (reason: string): TicketStep => ({ kind: 'close', ticket, reason });
  const { missingSinceMs, ...found } = ticket;
  if (pipeline === undefined) {
    const sinceMs = missingSinceMs ?? nowMs;
    if (nowMs - sinceMs >= GONE_MS) return close('its pipeline is gone');
    return { kind: 'keep', ticket: { ...ticket, missingSinceMs: sinceMs } };
  }
  if (pipeline.ended) return close(describeEnd(pipeline));
  const view = judgeFreshness(pipeline, policy, nowMs);
  if (view.deployedAt !== ticket.deployedAt) return close(describeLastDeploy(view));
  if (!isOld(view)) return close('it may be older by now than when the ticket was opened');
  return ticketChange(found, view, ticketText(view, pipeline.stopped, policy));
}

/**
 * The ticket after the service took the step; undefined if it is closed. `answered` is the service's name for the
 * ticket.
 */
export function afterStep(
  step: TicketStep,
  answered: { readonly ticket?: string; readonly closedByHand?: true } = {},
): OpenTicket | undefined {
  if (step.kind === 'close') return undefined;
  if (step.kind === 'keep') return step.ticket;
  const { closedByHand: _, ...ticket } = step.ticket;
  const state = step.text.escalated ? 'overdue' : 'stale';
  return { ...ticket, state, digest: textDigest(step.text), ...answered };
}

/** An owner may close a ticket, which then rests. But that does not keep it from escalating to a manager. */
export const reopens = (step: TicketStep, state: 'open' | 'closed'): boolean =>
  step.kind === 'update' && step.escalates && state === 'closed';

function ticketChange(ticket: OpenTicket, view: FreshnessView, text: TicketText): TicketStep {
  if (ticket.ticket === null) return { kind: 'open', ticket, text };
  const escalates = view.state === 'overdue' && ticket.state !== 'overdue';
  if (ticket.digest === textDigest(text) || (ticket.closedByHand && !escalates)) return { kind: 'keep', ticket };
  return { kind: 'update', ticket, text, escalates };
}

const isOld = ({ state }: FreshnessView): boolean => state === 'stale' || state === 'overdue';

const newTicket = ({ id, deployedAt }: FreshnessView): OpenTicket => ({
  ...{ pipeline: id, deployedAt: deployedAt ?? '', ticket: null, state: 'stale', digest: null },
});

const describeEnd = ({ stopped }: PipelineSummary): string =>
  stopped ? `its pipeline has ended (${withReason(stopped.actor, stopped.reason)})` : 'its pipeline has ended';

const describeLastDeploy = ({ deployedAt }: FreshnessView): string =>
  deployedAt === null ? 'nobody knows of a deploy of it any more' : `it was deployed at ${deployedAt}`;
