import { ticketProtocol, type Ticket } from '../protocol/tickets';
import { demand, demandEqual, demandRefusal, inspectValue, type ConformCheck } from './check';
import type { Conversation, Reachable } from './conversation';

/** A service of tickets under test. */
export interface TicketSubject extends Reachable {
  /** The prefix of all ticket keys of a check; no other tickets have it. */
  readonly keys: string;
  /** The assignee of the tickets. */
  readonly assignee: string;
}

/** The calls of the suite, each under a new idempotency key unless one is given. */
class TrialTickets {
  private count = 0;

  constructor(
    readonly subject: TicketSubject,
    private readonly talk: Conversation,
  ) {}

  key(name: string): string {
    return `${this.subject.keys}/${name}`;
  }

  async open(name: string, more: Partial<Ticket> = {}, call = this.nextCall()): Promise<string> {
    const asked = { protocol: ticketProtocol, method: 'openTicket', request: this.ticket(name, more) } as const;
    return (await this.talk.ask({ ...asked, context: this.context(name), key: call })).ticket;
  }

  async update(name: string, more: Partial<Ticket> = {}): Promise<string> {
    const asked = { protocol: ticketProtocol, method: 'updateTicket', request: this.ticket(name, more) } as const;
    return (await this.talk.ask({ ...asked, context: this.context(name), key: this.nextCall() })).state;
  }

  /** Without an idempotency key if `call` is null. */
  close(name: string, call: string | null = this.nextCall()): Promise<object> {
    const request = { key: this.key(name), pipeline: 'conform', reason: 'the suite is done with it' };
    const asked = { protocol: ticketProtocol, method: 'closeTicket', request } as const;
    return this.talk.ask({ ...asked, context: this.context(name), key: call ?? undefined });
  }

  private ticket(name: string, more: Partial<Ticket>): Ticket {
    const assignees = [this.subject.assignee];
    const text = {
      title: `a trial of the suite (${name})`,
      body: 'It is closed at once.',
      assignees,
      escalated: false,
    };
    return { key: this.key(name), pipeline: 'conform', ...text, ...more };
  }

  private context(name: string) {
    return { pipeline: 'conform', release: 0, deployId: this.key(name), actor: 'service:conveyor', config: {} };
  }

  private nextCall(): string {
    this.count += 1;
    return `${this.subject.keys}/call/${this.count}`;
  }
}

const ticketCheck = (
  title: string,
  method: keyof typeof ticketProtocol,
  advice: string,
  story: (trial: TrialTickets) => Promise<void>,
): ConformCheck<TicketSubject> => ({
  ...{ title, method, advice },
  run: async (subject, talk) => {
    const trial = new TrialTickets(subject, talk);
    await story(trial);
    // No person needs the tickets of a suite.
    for (const name of ['one', 'two']) await trial.close(name);
  },
});

/** The obligations of every service of tickets. */
export const TICKET_CHECKS: readonly ConformCheck<TicketSubject>[] = [
  ticketCheck(
    'gives each key a ticket of its own',
    'openTicket',
    'answer another `ticket` for another `key`',
    async (trial) => {
      const [one, two] = [await trial.open('one'), await trial.open('two')];
      demand(one !== two, `both are called ${inspectValue(one)}, expected two tickets`);
    },
  ),
  ticketCheck(
    'opens no second ticket for a key that it knows, whatever the call and the text',
    'openTicket',
    'look the `key` up before you open one, and write it down together with the ticket',
    async (trial) => {
      const first = await trial.open('one');
      demandEqual(await trial.open('one'), first, 'the ticket of the same key');
      demandEqual(await trial.open('one', { title: 'another text' }), first, 'the ticket of the same key');
    },
  ),
  ticketCheck(
    'answers a call that comes twice as it did, and opens one ticket',
    'openTicket',
    'keep the answer of each `Idempotency-Key`',
    async (trial) => {
      const call = `${trial.subject.keys}/twice`;
      const both = await Promise.all([trial.open('one', {}, call), trial.open('one', {}, call)]);
      demandEqual(both[1], both[0], 'the second answer');
    },
  ),
  ticketCheck(
    'says of a ticket that is open that it is, also once it has escalated',
    'updateTicket',
    'answer `state: "open"` until a person closes the ticket',
    async (trial) => {
      await trial.open('one');
      demandEqual(await trial.update('one', { title: 'another text' }), 'open', 'the state');
      demandEqual(await trial.update('one', { escalated: true }), 'open', 'the state');
    },
  ),
  ticketCheck(
    'says of a ticket that is closed that it is, and does not open it by an update',
    'updateTicket',
    'answer `state: "closed"`, and leave it closed',
    async (trial) => {
      await trial.open('one');
      await trial.close('one');
      demandEqual(await trial.update('one'), 'closed', 'the state');
      demandEqual(await trial.update('one', { escalated: true }), 'closed', 'the state after another update');
    },
  ),
  ticketCheck(
    'opens a ticket again that was closed, under its name',
    'openTicket',
    'openTicket with a known `key` reopens its ticket, even one that a person closed',
    async (trial) => {
      const first = await trial.open('one');
      await trial.close('one');
      demandEqual(await trial.open('one'), first, 'the ticket of the same key');
      demandEqual(await trial.update('one'), 'open', 'the state');
    },
  ),
  ticketCheck(
    'closes a ticket twice as it does once, and takes the end of one that it never had',
    'closeTicket',
    'answer `{}` for a ticket that is closed, and for a `key` that you do not know',
    async (trial) => {
      await trial.open('one');
      await trial.close('one');
      demandEqual(await trial.close('one'), {}, 'the answer to the second');
      demandEqual(await trial.close('never-opened'), {}, 'the answer about a key that was never opened');
    },
  ),
  ticketCheck(
    'says of a ticket that it does not know that it is closed',
    'updateTicket',
    'answer `state: "closed"` for a `key` that you do not know, and open nothing',
    async (trial) => demandEqual(await trial.update('never-opened'), 'closed', 'the state'),
  ),
  ticketCheck(
    'refuses a call that changes something without an idempotency key',
    'closeTicket',
    'answer 400 without the header `Idempotency-Key`',
    async (trial) => void (await demandRefusal(trial.close('one', null), 'a call without an idempotency key')),
  ),
];
