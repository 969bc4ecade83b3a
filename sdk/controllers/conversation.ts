import type { TaskControlAnswer, TaskControlRequest, TaskOp } from '../protocol/taskController';

/** The basis of a decision: the operations that wait in one job, and the tasks of all jobs that are down or may go down at any moment. */
export interface Situation {
  /** Operations that wait for approval: at most one per task, and none for a task that is in flight. */
  readonly pending: readonly TaskOp[];
  /** Tasks with an approved operation that is not over, of all jobs that have called the controller. */
  readonly inFlight: ReadonlySet<string>;
  /** Tasks that do not run, for any reason; tasks in flight are among them while they are down. */
  readonly unhealthy: ReadonlySet<string>;
}

/** A pure decision: which of `pending` may begin now. */
export type Decide = (situation: Situation) => readonly TaskOp[];

/** The action for tasks whose machine is about to be maintained, for which the cluster manager requests both a move and a stop. */
export type OnMaintenance = 'move' | 'stop' | 'ride-out';

/** A controller's memory of one job: plain data, so that it can be saved. */
interface JobMemory {
  readonly sequenceNumber: number;
  readonly ack: readonly string[];
  readonly inFlight: readonly TaskOp[];
  readonly unhealthy: readonly string[];
}

/** By job handle. */
export type ControllerMemory = ReadonlyMap<string, JobMemory>;

/** A controller that keeps its memory for the life of the process: call it with each request and a decision. */
export function conversation(
  onMaintenance: OnMaintenance = 'move',
): (request: TaskControlRequest, decide: Decide) => TaskControlAnswer {
  let memory: ControllerMemory = new Map();
  return (request, decide) => {
    const answered = answer(memory, request, decide, onMaintenance);
    memory = answered.memory;
    return { ack: [...answered.ack] };
  };
}

/**
 * One call of the task controller protocol, as a pure step. A repeated number gets the same answer again, whatever has
 * changed since. An approved operation stays in flight until it is `completed`, or requested again: then the answer
 * that approved it was lost. A job's tasks also count while other jobs call, as of the job's own last call. An earlier
 * number comes from a cluster manager that restarted, or was delayed on its way: it approves nothing, and tasks in
 * flight count as unhealthy until the next call names the unhealthy ones.
 */
export function answer(
  memory: ControllerMemory,
  request: TaskControlRequest,
  decide: Decide,
  onMaintenance: OnMaintenance = 'move',
): { readonly memory: ControllerMemory; readonly ack: readonly string[] } {
  const { jobHandle, sequenceNumber, allUnhealthyTasks } = request;
  const known = memory.get(jobHandle) ?? { sequenceNumber: 0, ack: [], inFlight: [], unhealthy: [] };
  if (sequenceNumber === known.sequenceNumber) return { memory, ack: known.ack };
  const jobs = new Map(memory);
  if (sequenceNumber < known.sequenceNumber) {
    const unhealthy = [...known.unhealthy, ...known.inFlight.map(({ task }) => task), ...allUnhealthyTasks];
    return { memory: jobs.set(jobHandle, { sequenceNumber, ack: [], inFlight: [], unhealthy }), ack: [] };
  }
  const now = { sequenceNumber, inFlight: stillInFlight(known.inFlight, request), unhealthy: allUnhealthyTasks };
  const approved = approve(jobs.set(jobHandle, { ...now, ack: [] }), request, decide, onMaintenance);
  const begun = new Set(approved.map(({ task }) => task));
  const inFlight = [...now.inFlight.filter(({ task }) => !begun.has(task)), ...approved];
  const ack = approved.map(({ id }) => id);
  return { memory: jobs.set(jobHandle, { ...now, ack, inFlight }), ack };
}

function approve(
  memory: ControllerMemory,
  { request }: TaskControlRequest,
  decide: Decide,
  onMaintenance: OnMaintenance,
): readonly TaskOp[] {
  const jobs = [...memory.values()];
  const inFlight = new Set(jobs.flatMap((job) => job.inFlight.map(({ task }) => task)));
  const unhealthy = new Set(jobs.flatMap((job) => job.unhealthy));
  const pending = onePerTask(request, onMaintenance).filter(({ task }) => !inFlight.has(task));
  return [
    ...request.filter((op) => replaces(op) && inFlight.has(op.task)),
    ...decide({ pending, inFlight, unhealthy }),
  ];
}

function stillInFlight(inFlight: readonly TaskOp[], { request, completed }: TaskControlRequest): readonly TaskOp[] {
  const over = new Set([...completed, ...request].map(({ id }) => id));
  return inFlight.filter(({ id }) => !over.has(id));
}

/** A task that is already away loses nothing by a newer update, such as a revert, that replaces the present one. */
const replaces = ({ kind }: TaskOp): boolean => kind === 'update' || kind === 'restart';

/** Picks among several operations of a task the one that cannot wait: maintenance has a deadline. */
function onePerTask(ops: readonly TaskOp[], onMaintenance: OnMaintenance): TaskOp[] {
  const kinds = new Map<string, Set<TaskOp['kind']>>();
  for (const { task, kind } of ops) kinds.set(task, (kinds.get(task) ?? new Set()).add(kind));
  const wanted = new Map<string, TaskOp>();
  for (const op of ops) {
    const isMaintenance = kinds.get(op.task)?.has('move') === true && kinds.get(op.task)?.has('stop') === true;
    if (isMaintenance && (op.kind === 'move' || op.kind === 'stop') && op.kind !== onMaintenance) continue;
    if (!wanted.has(op.task) || !replaces(op)) wanted.set(op.task, op);
  }
  return [...wanted.values()];
}
