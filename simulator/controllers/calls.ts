import { callExtension, type ServiceEndpoint } from '../../sdk/client';
import type { Fetch } from '../../sdk/request';
import { taskControllerProtocol, type TaskControlRequest } from '../../sdk/protocol/taskController';
import { pickFault } from '../httpFaults';
import type { Simulation } from '../simulation';
import { prepareCall } from '../twine/controllerCalls';
import type { ControlState } from '../twine/controlState';

/** The result of a call, and how many simulated ms of faults delayed it. */
interface CallOutcome {
  readonly ack: readonly string[] | null;
  readonly trouble: string;
  readonly delayMs: number;
}

export interface Network {
  /** The controllers that come with the world. */
  readonly inside: Fetch;
  /** All others. */
  readonly outside: Fetch;
}

type Now = () => number | Promise<number>;

/** The real time that a controller has to answer. The world waits for it, so only the world's own time counts. In real ms. */
const CONTROLLER_TIMEOUT_MS = 60_000;

/**
 * Calls the controllers that the world waits for. The world stops meanwhile, so a run depends on their answers and not
 * on their speed. Only time on the world's own clock counts.
 */
export async function callControllers(simulation: Simulation, network: Network, now: Now): Promise<void> {
  const { fleet, world } = simulation;
  const calls = [...fleet.asking].map(async (job) => {
    const [asked, from] = [callUnderWay(simulation, job), await now()];
    const outcome = asked && (await callWithFaults(simulation, asked, network, CONTROLLER_TIMEOUT_MS));
    return { job, asked, outcome, tookMs: (await now()) - from };
  });
  for (const { job, asked, outcome, tookMs } of await Promise.all(calls)) {
    fleet.asking.delete(job);
    if (!asked || !outcome) continue;
    expireAt(simulation, job, asked);
    arrive(simulation, job, asked, outcome, world.now + tookMs);
  }
}

/**
 * Calls the controllers for which only their own jobs wait, about the world as it is now. An answer is an event of the
 * moment at which it arrives.
 * @returns the calls under way, each with the job's name once its answer is in the world.
 */
export function callElsewhere(simulation: Simulation, network: Network, now: Now): Promise<string>[] {
  const { fleet, due } = simulation;
  for (const [name, at] of due) {
    const job = fleet.jobs.get(name);
    if (job) prepareCall(simulation, job, at);
  }
  due.clear();
  return [...fleet.asking].map(async (job) => {
    fleet.asking.delete(job);
    const asked = callUnderWay(simulation, job);
    if (!asked) return job;
    expireAt(simulation, job, asked);
    // An answer after the deadline is of no use, so the call ends then.
    const limitMs = Math.max(1, Math.ceil(simulation.world.scaled(asked.control.deadlineMs)));
    const outcome = await callWithFaults(simulation, asked, network, limitMs);
    arrive(simulation, job, asked, outcome, Math.max(await now(), simulation.world.now));
    return job;
  });
}

/** A call with the values at its start: all of them may have changed by the time of its answer. */
interface PendingCall {
  readonly control: ControlState;
  readonly request: TaskControlRequest;
  readonly askedAt: number;
}

function callUnderWay({ fleet }: Simulation, job: string): PendingCall | undefined {
  const control = fleet.jobs.get(job)?.control;
  const request = control?.call?.request;
  return control && request ? { control, request, askedAt: control.askedAt } : undefined;
}

/** Records at the deadline that there was no answer; later answers find that. */
function expireAt({ world }: Simulation, job: string, { control, request, askedAt }: PendingCall): void {
  const trouble = `none within ${control.deadlineMs} ms`;
  const sequence = request.sequenceNumber;
  world.at(askedAt + world.scaled(control.deadlineMs), {
    ...{ kind: 'control-answered', job, sequence, askedAt, ack: null, trouble },
  });
}

function arrive(
  { world }: Simulation,
  job: string,
  asked: PendingCall,
  { ack, trouble, delayMs }: CallOutcome,
  at: number,
): void {
  const { request, askedAt } = asked;
  const sequence = request.sequenceNumber;
  world.at(at + world.scaled(delayMs), { kind: 'control-answered', job, sequence, askedAt, ack, trouble });
}

async function callWithFaults(
  simulation: Simulation,
  { control, request }: PendingCall,
  network: Network,
  limitMs: number,
): Promise<CallOutcome> {
  const fault = pickFault(simulation, control.kind, 'process');
  const delayMs = fault?.mode === 'delay' ? fault.delayMs : 0;
  const failed = (trouble: string): CallOutcome => ({ ack: null, trouble, delayMs });
  if (fault?.mode === 'error') return failed('503 an injected fault');
  if (fault?.mode === 'down') return failed('nobody answers');
  try {
    if (fault?.mode === 'duplicate') await callController(control, request, network, limitMs);
    const { ack } = await callController(control, request, network, limitMs);
    if (fault?.mode === 'lose-reply') return failed('the connection was lost before the answer');
    if (fault?.mode === 'garbage') return failed('the answer is not JSON');
    return { ack, trouble: '', delayMs };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

const callController = (
  control: ControlState,
  request: TaskControlRequest,
  { inside, outside }: Network,
  timeoutMs: number,
) =>
  callExtension({
    service: toControllerEndpoint(control, timeoutMs),
    protocol: taskControllerProtocol,
    method: 'process',
    request,
    context: null,
    fetch: control.url === null ? inside : outside,
  });

const toControllerEndpoint = ({ kind: name, url }: ControlState, timeoutMs: number): ServiceEndpoint => ({
  ...{ name, timeoutMs, url: url ?? `http://simulator/task-controllers/${name}` },
});
