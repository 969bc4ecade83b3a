import { hash } from '../../../domain/hash';
import { TICKET_LIMITS } from '../../../domain/limits';
import { DAY_MS } from '../../../domain/milliseconds';
import { isGroup, type Principal } from '../../../domain/principals';
import { cutText } from '../../../domain/size';
import { joinWords, plural, withReason } from '../../../domain/text';
import type { PipelineSummary, PipelineStopView } from '../../../domain/views';
import type { FreshnessPolicy } from './policy';
import type { FreshnessView } from './view';

/** An open or planned ticket, as one daily run leaves it to the next. */
export interface OpenTicket {
  readonly pipeline: string;
  /** The deploy since which it is stale: a pipeline has one ticket for each time that it becomes stale. */
  readonly deployedAt: string;
  /** The service's name for it; null until the service has answered. */
  readonly ticket: string | null;
  readonly state: 'stale' | 'overdue';
  /** The digest of the text that its service received last. */
  readonly digest: number | null;
  /** The service reported that a person closed it. It rests until it escalates. */
  readonly closedByHand?: true;
  /** The time since which its pipeline is missing from lists; ms since the epoch. */
  readonly missingSinceMs?: number;
}

/** The text for a service of tickets. */
export interface TicketText {
  readonly title: string;
  readonly body: string;
  /** Principals; the service maps them to its own users. */
  readonly assignees: readonly Principal[];
  readonly escalated: boolean;
}

/** `freshness/kvstore/2026-10-01T09:00:00.000Z`: the same each time that it is opened. */
export const ticketKey = ({ pipeline, deployedAt }: Pick<OpenTicket, 'pipeline' | 'deployedAt'>): string =>
  `freshness/${pipeline}/${deployedAt}`;

/** One key has one ticket, and one ticket one key; `named` are the keys of the known tickets. Undefined if that holds. */
export function whyTicketNameConflicts(
  named: ReadonlyMap<string, string>,
  ticket: OpenTicket,
  answered: string,
): string | undefined {
  if (ticket.ticket !== null && ticket.ticket !== answered) return `${answered}, and before it was ${ticket.ticket}`;
  const other = named.get(answered);
  return other === undefined || other === ticketKey(ticket) ? undefined : `${answered} is the ticket of ${other}`;
}

export const textDigest = (text: TicketText): number => hash(JSON.stringify(text));

/** The text leaves out the number of days, which grows each day, so it changes only with other facts. */
export function ticketText(
  view: FreshnessView,
  stopped: PipelineSummary['stopped'],
  policy: FreshnessPolicy,
): TicketText {
  const { id, owners, state, deployedAt, dueAt, traffic } = view;
  const isOverdue = state === 'overdue';
  const managers = isOverdue ? listManagers(owners, policy) : [];
  const afterMs = traffic === 'high' ? policy.highTraffic.afterMs : policy.ticketAfterMs;
  const lines = [
    `Services${traffic === 'high' ? ' with high traffic' : ''} have to be deployed every ${plural(Math.round(afterMs / DAY_MS), 'day')} at least. The pipeline ${id} brought something new into production last at ${deployedAt ?? ''}.`,
    ...formatStopLines(view, stopped),
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

function formatStopLines({ id, because }: FreshnessView, stopped: PipelineStopView | undefined): readonly string[] {
  if (because === null) return [];
  const by = stopped ? withReason(` by ${stopped.actor} since ${stopped.at}`, stopped.reason) : '';
  const verb = because === 'held' ? 'unhold' : 'unfreeze';
  return [`It is ${because}${by}. That stops no clock; this ends it: conveyor ${verb} ${id} --reason "…"`];
}

function overdueLine(owners: readonly Principal[], managers: readonly Principal[], policy: FreshnessPolicy): string {
  const since = `Nothing was deployed for ${plural(Math.round(policy.escalateAfterMs / DAY_MS), 'day')}`;
  if (managers.length === 0) return `${since}, and the configuration names no manager of ${joinWords(owners, 'or')}.`;
  return `${since}, so this went from ${joinWords(owners, 'and')} to ${joinWords(managers, 'and')}.`;
}

/** The managers of the groups that own it; an owner that is not a group has none. */
const listManagers = (owners: readonly Principal[], { managers }: FreshnessPolicy): readonly Principal[] => [
  ...new Set(
    owners.filter(isGroup).flatMap((owner) => {
      const group = owner.slice('group:'.length);
      const manager = Object.hasOwn(managers, group) ? managers[group] : undefined;
      return manager === undefined ? [] : [manager];
    }),
  ),
];
