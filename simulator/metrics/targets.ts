import { indicesOf, withReverts } from '../twine/choose';
import type { TwineFleet } from '../twine/fleet';
import { hasTask, identifierOf, pastOf, RUNNING, UPDATING, type Job } from '../twine/job';
import { isMachineUp } from '../twine/tasks';

/** The tasks of a job by identifier, as health checks want them (moving targets). */
export interface TargetTasks {
  readonly fresh: string[];
  /** How many the updates touched, also those that are down or being updated. */
  readonly updated: number;
  readonly control: string[];
  readonly before: string[];
}

export interface TargetRequest {
  /** With none given, `fresh` is all tasks. */
  readonly updatedBy: readonly string[];
  /** Update ids whose tasks belong to no group: running canaries. */
  readonly exclude: readonly string[];
  /** ms: the stretch before the deploy that may be compared with. */
  readonly baseline: { readonly start: number; readonly end: number };
  readonly now: number;
  /** ms between two points of a series. */
  readonly stepMs: number;
}

/** The side that is compared with needs no more tasks than this to be known well. */
const MAX_REFERENCE = 2000;

/**
 * - `fresh`: the tasks that these updates started, or that were started since in a slot that they touched (version and
 *   update id stay with the slot through moves and restarts); one identifier a slot. A task that is down counts, so that
 *   its silence is noticed; one whose machine is down or that is still being updated does not.
 * - `control`: the other tasks of the job that run.
 * - `before`: what the slots of `fresh` ran during the baseline.
 */
export function resolveTargets(fleet: TwineFleet, job: Job, request: TargetRequest): TargetTasks {
  const updates = indicesOf(fleet, request.updatedBy);
  const reserved = indicesOf(fleet, withReverts(fleet, request.exclude));
  const isFresh = freshBy(request, updates);
  const { tasks } = job;
  const found = { fresh: [] as string[], control: [] as string[], before: [] as string[], updated: 0 };
  for (let slot = 0; slot < job.size; slot += 1) {
    const update = tasks.update[slot] ?? 0;
    if (reserved.has(update) || !hasTask(job, slot)) continue;
    const running = tasks.state[slot] === RUNNING;
    if (updates.has(update)) found.updated += 1;
    if (!isFresh(update)) {
      if (running) found.control.push(identifierOf(job.name, slot, tasks.starts[slot] ?? 0));
    } else if (tasks.state[slot] !== UPDATING && (running || isMachineUp({ fleet }, job, slot))) {
      const start = freshStart(job, slot, request, isFresh);
      if (start === undefined) continue;
      found.fresh.push(identifierOf(job.name, slot, start));
      found.before.push(...earlierTasks(job, slot, request, updates));
    }
  }
  return { ...found, control: sample(found.control), before: sample(found.before) };
}

/**
 * The same as it was at an earlier time: whoever tries a check on a past deploy asks for that. Only what ran then is
 * known, not what was down.
 */
export function resolvePastTargets(fleet: TwineFleet, job: Job, request: TargetRequest): TargetTasks {
  const updates = indicesOf(fleet, request.updatedBy);
  const reserved = indicesOf(fleet, withReverts(fleet, request.exclude));
  const isFresh = freshBy(request, updates);
  const found = { fresh: [] as string[], control: [] as string[], before: [] as string[] };
  for (let slot = 0; slot < job.size; slot += 1) {
    const task = ranAt(job, slot, request.now);
    if (task === undefined || reserved.has(task.update)) continue;
    found[isFresh(task.update) ? 'fresh' : 'control'].push(identifierOf(job.name, slot, task.start));
    if (isFresh(task.update)) found.before.push(...earlierTasks(job, slot, request, updates));
  }
  const { fresh, control, before } = found;
  return { fresh, updated: fresh.length, control: sample(control), before: sample(before) };
}

/** Updates that the fleet does not know brought nothing; only when none is given everything is meant. */
const freshBy =
  ({ updatedBy }: TargetRequest, updates: ReadonlySet<number>) =>
  (update: number): boolean =>
    updatedBy.length === 0 || updates.has(update);

/** What ran in a slot at a time, and which update had brought it. */
function ranAt(job: Job, slot: number, at: number): { update: number; start: number } | undefined {
  const { tasks, past } = job;
  if (tasks.state[slot] === RUNNING && (tasks.startedAt[slot] ?? 0) <= at)
    return { update: tasks.update[slot] ?? 0, start: tasks.starts[slot] ?? 0 };
  for (const index of pastOf(job, slot))
    if ((past.from[index] ?? 0) <= at && at <= (past.to[index] ?? 0) && !past.crashed[index])
      return { update: past.update[index] ?? 0, start: past.start[index] ?? 0 };
  return undefined;
}

/** The start whose task stands for a slot: the present one, or while that has reported nothing yet the one before it. */
function freshStart(
  job: Job,
  slot: number,
  request: TargetRequest,
  isFresh: (update: number) => boolean,
): number | undefined {
  const { tasks, past } = job;
  const present = tasks.state[slot] === RUNNING ? tasks.starts[slot] : undefined;
  const lastPoint = Math.floor(request.now / request.stepMs) * request.stepMs;
  if (present !== undefined && (tasks.startedAt[slot] ?? 0) <= lastPoint) return present;
  const [latest] = pastOf(job, slot);
  return latest !== undefined && isFresh(past.update[latest] ?? 0) ? past.start[latest] : present;
}

/** What ran in a slot during the baseline and was not started by the updates. */
function earlierTasks(job: Job, slot: number, { baseline }: TargetRequest, updates: ReadonlySet<number>): string[] {
  const { past, tasks } = job;
  const found: string[] = [];
  const add = (update: number, start: number, from: number, to: number): void => {
    if (!updates.has(update) && from < baseline.end && to > baseline.start)
      found.push(identifierOf(job.name, slot, start));
  };
  if (tasks.state[slot] === RUNNING)
    add(tasks.update[slot] ?? 0, tasks.starts[slot] ?? 0, tasks.startedAt[slot] ?? 0, Infinity);
  for (const index of pastOf(job, slot)) {
    const to = past.to[index] ?? 0;
    if (to < baseline.start) break;
    add(past.update[index] ?? 0, past.start[index] ?? 0, past.from[index] ?? 0, to);
  }
  return found;
}

/** Evenly spread over the slots, the same ones each time. */
function sample(identifiers: readonly string[]): string[] {
  if (identifiers.length <= MAX_REFERENCE) return [...identifiers];
  const stride = identifiers.length / MAX_REFERENCE;
  return Array.from({ length: MAX_REFERENCE }, (_, index) => identifiers[Math.floor(index * stride)] ?? '');
}
