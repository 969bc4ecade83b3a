import type { Hono } from 'hono';
import { z } from 'zod';
import { ExtensionError, serveTickets } from '../../sdk/server';
import { body, parseInput } from '../controlInput';
import type { Simulation } from '../simulation';

const TRACKER = 'tickets';

/** The tracker of the simulated world: `OPS-1`, `OPS-2`, … in the order of opening. */
export const ticketService = (simulation: Simulation): Hono =>
  serveTickets(TRACKER, {
    openTicket: (asked, by) =>
      simulation.once(TRACKER, 'openTicket', asked, by, () => {
        const { tickets } = simulation.state;
        const known = tickets.get(asked.key);
        const ticket = known?.ticket ?? `OPS-${tickets.size + 1}`;
        const openedAt = known?.openedAt ?? simulation.world.now;
        tickets.set(asked.key, { ...asked, ticket, openedAt, closedBy: null, reason: null });
        return { answer: { ticket }, effect: true };
      }),
    updateTicket: (asked, by) =>
      simulation.once(TRACKER, 'updateTicket', asked, by, () => {
        const known = simulation.state.tickets.get(asked.key);
        if (known === undefined) return { answer: { state: 'closed' as const }, effect: false };
        simulation.state.tickets.set(asked.key, { ...known, ...asked });
        return { answer: { state: known.closedBy === null ? ('open' as const) : ('closed' as const) }, effect: true };
      }),
    closeTicket: (asked, by) =>
      simulation.once(TRACKER, 'closeTicket', asked, by, () => {
        const known = simulation.state.tickets.get(asked.key);
        if (known === undefined || known.closedBy !== null) return { answer: {}, effect: false };
        simulation.state.tickets.set(asked.key, { ...known, closedBy: 'conveyor', reason: asked.reason });
        return { answer: {}, effect: true };
      }),
  });

/** `GET /control/tickets` lists them; `POST /control/tickets/close` closes one as a person does. */
export function addTicketRoutes(app: Hono, simulation: Simulation): void {
  app.get('/tickets', (c) => c.json([...simulation.state.tickets.values()]));
  app.post('/tickets/close', async (c) => {
    const { ticket } = parseInput(z.strictObject({ ticket: z.string().min(1) }), await body(c.req.raw));
    const { tickets } = simulation.state;
    const known = [...tickets.values()].find((one) => one.ticket === ticket);
    if (known === undefined) throw new ExtensionError('unknown-ticket', `there is no ${ticket}`, { status: 404 });
    tickets.set(known.key, { ...known, closedBy: 'a person' });
    return c.json({ ticket });
  });
}
