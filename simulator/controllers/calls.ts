import { callExtension, type Fetch, type ServiceEndpoint } from '../../sdk/client';
import { taskControllerProtocol, type TaskControlRequest } from '../../sdk/protocol/taskController';
import { pickFault } from '../httpFaults';
import type { Simulation } from '../simulation';
import type { Control } from '../twine/control';

/** What came of a call, and how many simulated ms it took. */
interface Outcome {
  readonly ack: readonly string[] | null;
  readonly trouble: string;
  readonly tookMs: number;
}

export interface Network {
  /** The controllers that come with the world. */
  readonly inside: Fetch;
  readonly outside: Fetch;
}

/** Real ms for which the world stands still for a controller elsewhere. */
const LONGEST_WAIT_MS = 2000;
const SHORTEST_WAIT_MS = 100;
/** One of the world's own is as fast as it is; only simulated time counts. */
const INSIDE_WAIT_MS = 60_000;

/**
 * Calls the controllers that the schedulers wait for. The world stands still meanwhile: an answer belongs to the moment of
 * the question, whenever it arrives, so that a run depends on what controllers answer and not on how fast.
 */
export async function callControllers(simulation: Simulation, network: Network): Promise<void> {
  const { fleet, world } = simulation;
  const calls = [...fleet.asking].map(async (name) => ({ name, outcome: await callOf(simulation, name, network) }));
  for (const { name, outcome } of await Promise.all(calls)) {
    fleet.asking.delete(name);
    const sequence = fleet.jobs.get(name)?.control?.call?.request.sequenceNumber;
    if (outcome === null || sequence === undefined) continue;
    const { ack, trouble, tookMs } = outcome;
    world.after(tookMs, { kind: 'control-answered', job: name, sequence, ack, trouble });
  }
}

async function callOf(simulation: Simulation, name: string, network: Network): Promise<Outcome | null> {
  const control = simulation.fleet.jobs.get(name)?.control;
  const request = control?.call?.request;
  if (!control || request === undefined) return null;
  const fault = pickFault(simulation, control.kind, 'process');
  const tookMs = fault?.mode === 'delay' ? Math.min(fault.delayMs, control.deadlineMs) : 0;
  const failed = (trouble: string): Outcome => ({ ack: null, trouble, tookMs: Math.max(tookMs, 0) });
  if (fault?.mode === 'error') return failed('503 an injected fault');
  if (fault?.mode === 'down') return failed('nobody answers');
  try {
    if (fault?.mode === 'duplicate') await ask(simulation, control, request, network);
    const { ack } = await ask(simulation, control, request, network);
    if (fault?.mode === 'lose-reply') return failed('the connection was lost before the answer');
    if (fault?.mode === 'garbage') return failed('the answer is not JSON');
    if (tookMs >= control.deadlineMs) return failed(`none within ${control.deadlineMs} ms`);
    return { ack, trouble: '', tookMs };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

const ask = (simulation: Simulation, control: Control, request: TaskControlRequest, { inside, outside }: Network) =>
  callExtension({
    service: endpointOf(simulation, control),
    protocol: taskControllerProtocol,
    method: 'process',
    request,
    context: null,
    fetch: control.url === null ? inside : outside,
  });

function endpointOf({ world }: Simulation, { kind: name, url, deadlineMs }: Control): ServiceEndpoint {
  if (url === null) return { name, url: `http://simulator/task-controllers/${name}`, timeoutMs: INSIDE_WAIT_MS };
  const timeoutMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, world.scaled(deadlineMs)));
  return { name, url, timeoutMs };
}
