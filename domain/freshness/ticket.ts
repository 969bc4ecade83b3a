import { hash } from '../hash';
import { TICKET_LIMITS } from '../limits';
import { DAY_MS } from '../milliseconds';
import { isGroup, type Principal } from '../principals';
import { cutText } from '../size';
import { listed, plural, withReason } from '../text';
import type { PipelineSummary, Stopped } from '../views';
import type { FreshnessPolicy } from './policy';
import type { FreshnessView } from './view';

/** A ticket that is open, or is to be, as one daily run leaves it to the next. */
export interface OpenTicket {
  readonly pipeline: string;
  /** The deploy since which it is stale: there is one ticket for each time that a pipeline grows old. */
  readonly deployedAt: string;
  /** What its service calls it; null while that has not answered. */
  readonly ticket: string | null;
  readonly state: 'stale' | 'overdue';
  /** Of the text that its service was given last. */
  readonly digest: number | null;
  /** Its service said so. It rests until it escalates. */
  readonly closedByHand?: true;
  /** Since when no list has its pipeline; ms since the epoch. */
  readonly missingSinceMs?: number;
}

/** What a service of tickets is given. */
export interface TicketText {
  readonly title: string;
  readonly body: string;
  /** Principals; who they are elsewhere the service knows. */
  readonly assignees: readonly Principal[];
  readonly escalated: boolean;
}

/** `freshness/kvstore/2026-10-01T09:00:00.000Z`: the same whoever opens it again. */
export const ticketKey = ({ pipeline, deployedAt }: Pick<OpenTicket, 'pipeline' | 'deployedAt'>): string =>
  `freshness/${pipeline}/${deployedAt}`;

/** One key has one ticket, and one ticket one key; `named` are the keys of the known tickets. Undefined if that holds. */
export function whyNotItsName(
  named: ReadonlyMap<string, string>,
  ticket: OpenTicket,
  answered: string,
): string | undefined {
  if (ticket.ticket !== null && ticket.ticket !== answered) return `${answered}, and before it was ${ticket.ticket}`;
  const other = named.get(answered);
  return other === undefined || other === ticketKey(ticket) ? undefined : `${answered} is the ticket of ${other}`;
}

export const textDigest = (text: TicketText): number => hash(JSON.stringify(text));

/** Days that have passed go up each day and are none of it: it changes when something else does. */
export function ticketText(
  view: FreshnessView,
  stopped: PipelineSummary['stopped'],
  policy: FreshnessPolicy,
): TicketText {
  const { id, owners, state, deployedAt, dueAt, traffic } = view;
  const isOverdue = state === 'overdue';
  const managers = isOverdue ? managersOf(owners, policy) : [];
  const afterMs = traffic === 'high' ? policy.highTraffic.afterMs : policy.ticketAfterMs;
  const lines = [
    `Services${traffic === 'high' ? ' with high traffic' : ''} have to be deployed every ${plural(Math.round(afterMs / DAY_MS), 'day')} at least. The pipeline ${id} brought something new into production last at ${deployedAt ?? ''}.`,
    ...stoppedLines(view, stopped),
    isOverdue ? overdueLine(owners, managers, policy) : `It escalates at ${dueAt ?? ''}.`,
    `A deploy that succeeds closes this ticket within a day: conveyor release ${id}`,
  ];
  return {
    title: `${id} was last deployed on ${(deployedAt ?? '').slice(0, 10)}`,
    body: cutText(lines.join('\n'), TICKET_LIMITS.text.max),
    assignees: managers.length > 0 ? managers : owners,
    escalated: isOverdue,
  };
}

function stoppedLines({ id, because }: FreshnessView, stopped: Stopped | undefined): readonly string[] {
  if (because === null) return [];
  const by = stopped ? withReason(` by ${stopped.actor} since ${stopped.at}`, stopped.reason) : '';
  const verb = because === 'held' ? 'unhold' : 'unfreeze';
  return [`It is ${because}${by}. That stops no clock; this ends it: conveyor ${verb} ${id} --reason "…"`];
}

function overdueLine(owners: readonly Principal[], managers: readonly Principal[], policy: FreshnessPolicy): string {
  const since = `Nothing was deployed for ${plural(Math.round(policy.escalateAfterMs / DAY_MS), 'day')}`;
  if (managers.length === 0) return `${since}, and the configuration names no manager of ${listed(owners, 'or')}.`;
  return `${since}, so this went from ${listed(owners, 'and')} to ${listed(managers, 'and')}.`;
}

/** The managers of the groups that own it; an owner who is no group has none. */
const managersOf = (owners: readonly Principal[], { managers }: FreshnessPolicy): readonly Principal[] => [
  ...new Set(
    owners.filter(isGroup).flatMap((owner) => {
      const group = owner.slice('group:'.length);
      const manager = Object.hasOwn(managers, group) ? managers[group] : undefined;
      return manager === undefined ? [] : [manager];
    }),
  ),
];
