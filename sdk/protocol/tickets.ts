import { z } from 'zod';
import { TICKET_LIMITS } from '../../domain/limits';
import { emptySchema, type Protocol } from './common';

/** Conveyor's name for a ticket, and the tracker's name for people. */
const keySchema = z.string().min(1).max(TICKET_LIMITS.key.max);
const ticketName = z.string().min(1).max(TICKET_LIMITS.ticket.max);

/** The desired content of a ticket. */
const ticketSchema = z.object({
  key: keySchema,
  pipeline: z.string(),
  title: z.string().max(300),
  /** Plain text in lines. */
  body: z.string().max(TICKET_LIMITS.text.max),
  /** Principals such as `group:storage`. */
  assignees: z.array(z.string()).max(TICKET_LIMITS.assignees.max),
  /** Whether it goes to the managers of the owners. */
  escalated: z.boolean(),
});
/** The request of `openTicket` and `updateTicket` (docs/reference/protocols.md#openticket). */
export type Ticket = z.infer<typeof ticketSchema>;

/**
 * The protocol of services that keep tickets for people (docs/reference/protocols.md#tickets; Push4Push, Conveyor
 * §2.1). Tickets are identified by Conveyor's key, so that a lost answer loses no ticket.
 */
export const ticketProtocol = {
  openTicket: { request: ticketSchema, response: z.object({ ticket: ticketName }), mutates: true },
  updateTicket: { request: ticketSchema, response: z.object({ state: z.enum(['open', 'closed']) }), mutates: true },
  closeTicket: {
    request: z.object({ key: keySchema, pipeline: z.string(), reason: z.string().max(2_000) }),
    response: emptySchema,
    mutates: true,
  },
} as const satisfies Protocol;
/** The methods of a service of tickets (docs/reference/protocols.md#tickets). */
export type TicketProtocol = typeof ticketProtocol;
