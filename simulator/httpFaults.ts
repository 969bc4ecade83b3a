import type { Context, Hono } from 'hono';
import type { Simulation } from './simulation';
import type { HttpFault } from './httpFault';

/** The answer of a failing service. */
const FAULT_BODY = { error: { code: 'fault', message: 'an injected fault', retryable: true } };

const GARBAGE = '<html>502 Bad Gateway';
const NO_RESPONSE = 'nobody answers';
const LOST = 'the connection was lost before the answer';

/** Thrown from the app in place of an answer, as by a network. */
export class LostReplyError extends Error {
  override readonly name = 'LostReplyError';
}

/**
 * Serves a call through the faults that apply to it. `down` breaks the connection before anything happens; `lose-reply`
 * breaks it after the effect; `duplicate` delivers the request twice and returns the second answer.
 */
export async function throughFaults(
  simulation: Simulation,
  inner: Hono,
  c: Context,
  sleep: (ms: number) => Promise<void>,
): Promise<Response> {
  const [service = '', method = ''] = c.req.path.split('/').slice(-2);
  const request = c.req.raw;
  const fault = pickFault(simulation, service, method);
  switch (fault?.mode) {
    case undefined:
      return inner.fetch(request);
    case 'down':
      throw breakConnection(c, NO_RESPONSE);
    case 'error':
      return c.json(FAULT_BODY, 503);
    case 'delay':
      await sleep(simulation.world.scaled(fault?.delayMs ?? 0));
      return inner.fetch(request);
    case 'lose-reply':
      await inner.fetch(request);
      throw breakConnection(c, LOST);
    case 'duplicate':
      await inner.fetch(request.clone());
      return inner.fetch(request);
    case 'garbage':
      await inner.fetch(request);
      return new Response(GARBAGE, { headers: { 'content-type': 'application/json' } });
  }
}

/** How a push type of the world waits for a source in this process, and its deadline in ms. */
export interface InsideWait {
  readonly sleep: (ms: number) => Promise<void>;
  readonly deadlineMs: number;
}

/** The source's answer. The call only reads, so a duplicate has no effect. */
export async function askInside<T>(
  simulation: Simulation,
  service: string,
  method: string,
  answer: () => T,
  { sleep, deadlineMs }: InsideWait,
): Promise<T> {
  const fault = pickFault(simulation, service, method);
  switch (fault?.mode) {
    case 'down':
      throw new LostReplyError(NO_RESPONSE);
    case 'error':
      throw new Error(FAULT_BODY.error.message);
    case 'delay': {
      const delayMs = simulation.world.scaled(fault?.delayMs ?? 0);
      await sleep(Math.min(delayMs, deadlineMs));
      // The caller's own deadline is on the wall clock, and the world may have another clock.
      if (delayMs >= deadlineMs) throw new Error(`the data source did not answer within ${deadlineMs} ms`);
      return answer();
    }
    case 'lose-reply':
      throw new LostReplyError(LOST);
    case 'garbage':
      // As over the network, the reader has to detect it.
      return GARBAGE as unknown as T;
    default:
      return answer();
  }
}

/** The fault that hits a call, if one does. */
export function pickFault(simulation: Simulation, service: string, method: string): HttpFault | undefined {
  const { httpFaults } = simulation.state;
  const { now } = simulation.world;
  for (const [id, fault] of httpFaults) {
    if (fault.untilMs !== undefined && now >= fault.untilMs) httpFaults.delete(id);
    if (!httpFaults.has(id)) continue;
    if (fault.service !== service || (fault.method !== undefined && fault.method !== method)) continue;
    if (fault.rate < 1 && simulation.world.random(`http/${id}`) >= fault.rate) continue;
    if (fault.forMs !== undefined) fault.untilMs ??= now + simulation.world.scaled(fault.forMs);
    if (fault.left !== null) fault.left -= 1;
    if (fault.left === 0) httpFaults.delete(id);
    return fault;
  }
  return undefined;
}

/** Over a socket the peer sees a reset; in the same process the call rejects. */
function breakConnection(c: Context, text: string): LostReplyError {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { destroy(): void } } };
  incoming?.socket?.destroy();
  return new LostReplyError(text);
}
