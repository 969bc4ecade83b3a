import { conveyorError } from '../../../domain/errors';
import type { TicketRound } from '../domain/round';
import { textDigest, ticketKey, whyTicketNameConflicts, type OpenTicket, type TicketText } from '../domain/ticket';
import { rootCause } from '../../../domain/rootCause';
import { withShownUrls } from '../../../domain/redactUrl';
import { formatTime } from '../../../domain/text';
import type { ExtensionRef } from '../../../settings/extensions';
import { keysFor } from '../../../settings/notifications';
import type { Registry } from '../../../settings/registry';
import { signatureHeaders } from '../../../settings/signature';
import { callExtension } from '../../../sdk/client';
import type { Fetch } from '../../../sdk/request';
import type { RequestOf } from '../../../sdk/protocol/common';
import { ticketProtocol, type Ticket, type TicketProtocol } from '../../../sdk/protocol/tickets';
import type { Clock } from '../../../activities/clock';

export interface ServicePorts {
  readonly registry: Pick<Registry, 'notifications'>;
  readonly clock: Clock;
  readonly fetch?: Fetch;
}

/** Every method throws the errors of `callExtension`. A repetition within one run is the same call. */
export interface TicketService {
  /** @returns the service's own name for it. */
  open(ticket: OpenTicket, text: TicketText): Promise<string>;
  update(ticket: OpenTicket, text: TicketText): Promise<'open' | 'closed'>;
  close(ticket: OpenTicket, reason: string): Promise<void>;
}

/** A service of tickets for one run, over its protocol or as a webhook. */
export function createTicketService(
  ports: ServicePorts,
  service: ExtensionRef,
  { at, open }: Pick<TicketRound, 'at' | 'open'>,
): TicketService {
  const named = new Map(open.flatMap((one) => (one.ticket === null ? [] : [[one.ticket, ticketKey(one)] as const])));
  const port = service.isWebhook ? webhookPort(ports, service) : portOver(ports, service);
  const callKey = (ticket: OpenTicket, what: string) => `${ticketKey(ticket)}/${what}/${at}`;
  return {
    open: async (ticket, text) => {
      const key = callKey(ticket, `open/${textDigest(text)}`);
      const answered = (await port.openTicket(key, ticketRequest(ticket, text))).ticket;
      const lie = whyTicketNameConflicts(named, ticket, answered);
      if (lie !== undefined) {
        const where = { service: service.name, method: 'openTicket', field: 'ticket' };
        throw conveyorError('extension-protocol', { ...where, detail: lie });
      }
      named.set(answered, ticketKey(ticket));
      return answered;
    },
    update: async (ticket, text) => {
      const key = callKey(ticket, `update/${textDigest(text)}`);
      return (await port.updateTicket(key, ticketRequest(ticket, text))).state;
    },
    close: async (ticket, reason) => {
      const request = { key: ticketKey(ticket), pipeline: ticket.pipeline, reason };
      await port.closeTicket(callKey(ticket, 'close'), request);
    },
  };
}

const ticketRequest = (ticket: OpenTicket, { assignees, ...text }: TicketText): Ticket => ({
  ...{ key: ticketKey(ticket), pipeline: ticket.pipeline, assignees: [...assignees] },
  ...text,
});

/** Its methods, each under an idempotency key. */
interface TicketPort {
  openTicket(key: string, request: Ticket): Promise<{ readonly ticket: string }>;
  updateTicket(key: string, request: Ticket): Promise<{ readonly state: 'open' | 'closed' }>;
  closeTicket(key: string, request: CloseTicketRequest): Promise<object>;
}
type CloseTicketRequest = RequestOf<TicketProtocol['closeTicket']>;

function portOver({ fetch }: ServicePorts, service: ExtensionRef): TicketPort {
  const common = (key: string, { key: ticket, pipeline }: CloseTicketRequest | Ticket) => ({
    ...{ service, protocol: ticketProtocol, key },
    context: { pipeline, release: 0, deployId: ticket, actor: 'service:conveyor', config: {} },
    ...(fetch === undefined ? {} : { fetch }),
  });
  return {
    openTicket: (key, request) => callExtension({ ...common(key, request), method: 'openTicket', request }),
    updateTicket: (key, request) => callExtension({ ...common(key, request), method: 'updateTicket', request }),
    closeTicket: (key, request) => callExtension({ ...common(key, request), method: 'closeTicket', request }),
  };
}

/** The request that an event makes, by its type. */
const EVENTS: Readonly<Record<keyof TicketProtocol, string>> = {
  openTicket: 'dev.conveyor.ticket.open',
  updateTicket: 'dev.conveyor.ticket.update',
  closeTicket: 'dev.conveyor.ticket.close',
};

/** A webhook's tickets are named by their keys, and it does not report which of them people close. */
function webhookPort(ports: ServicePorts, service: ExtensionRef): TicketPort {
  const send = async (method: keyof TicketProtocol, id: string, data: CloseTicketRequest | Ticket): Promise<void> => {
    const atMs = await ports.clock.now();
    const event = { specversion: '1.0', id, source: '/conveyor/freshness', type: EVENTS[method] };
    const about = { subject: data.pipeline, time: formatTime(atMs), datacontenttype: 'application/json', data };
    await postEvent(ports, service, method, { id, atMs, body: JSON.stringify({ ...event, ...about }) });
  };
  return {
    openTicket: async (key, request) => {
      await send('openTicket', key, request);
      return { ticket: request.key };
    },
    updateTicket: async (key, request) => {
      await send('updateTicket', key, request);
      return { state: 'open' };
    },
    closeTicket: async (key, request) => {
      await send('closeTicket', key, request);
      return {};
    },
  };
}

/** @throws ConveyorError `extension-rejected`, `extension-unavailable` */
async function postEvent(
  { registry, fetch: ask = fetch }: ServicePorts,
  { name, url, token, timeoutMs }: ExtensionRef,
  method: string,
  message: { readonly id: string; readonly atMs: number; readonly body: string },
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...signatureHeaders(keysFor(registry.notifications, new URL(url)), message),
  };
  const request = new Request(url, { method: 'POST', redirect: 'manual', headers, body: message.body, signal });
  const unavailable = (detail: string) => conveyorError('extension-unavailable', { service: name, method, detail });
  const { status, body } = await ask(request, { signal }).catch((error: unknown) => {
    throw unavailable(signal.aborted ? `no answer within ${timeoutMs} ms` : withShownUrls(rootCause(error)));
  });
  await body?.cancel();
  if (status >= 200 && status < 300) return;
  if (status >= 500 || status === 408 || status === 429) throw unavailable(`it answered with status ${status}`);
  throw conveyorError('extension-rejected', { service: name, method, status, detail: 'a webhook answers 2xx' });
}
