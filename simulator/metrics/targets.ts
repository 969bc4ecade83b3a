import { findUpdateIndices, withReverts } from '../twine/choose';
import type { TwineFleet } from '../twine/fleet';
import { hasTask, formatIdentifier, walkPastTasks, RUNNING, UPDATING, type Job } from '../twine/job';
import { isMachineUp } from '../twine/tasks';

/** The tasks of a job by identifier, in the groups that health checks need (moving targets). */
export interface TargetTasks {
  readonly fresh: string[];
  /** The number of tasks that the updates touched, including those that are down or being updated. */
  readonly updated: number;
  readonly control: string[];
  readonly before: string[];
}

export interface TargetRequest {
  /** If none is given, `fresh` is all tasks. */
  readonly updatedBy: readonly string[];
  /** Update ids whose tasks belong to no group: running canaries. */
  readonly exclude: readonly string[];
  /** ms: the period before the deploy that a check may compare with. */
  readonly baseline: { readonly start: number; readonly end: number };
  readonly now: number;
  /** ms between two points of a series. */
  readonly stepMs: number;
}

/** The reference side of a comparison is known well enough from this many tasks. */
const MAX_REFERENCE = 2000;

/**
 * - `fresh`: the tasks that these updates started, or that started later in a slot that they touched (version and
 *   update id stay with the slot through moves and restarts); one identifier per slot. A task that is down counts, so
 *   that its silence is noticed. A task on a machine that is down, or one that is still being updated, does not.
 * - `control`: the other running tasks of the job.
 * - `before`: the tasks that ran in the slots of `fresh` during the baseline.
 */
export function resolveTargets(fleet: TwineFleet, job: Job, request: TargetRequest): TargetTasks {
  const updates = findUpdateIndices(fleet, request.updatedBy);
  const reserved = findUpdateIndices(fleet, withReverts(fleet, request.exclude));
  const isFresh = freshBy(request, updates);
  const { tasks } = job;
  const found = { fresh: [] as string[], control: [] as string[], before: [] as string[], updated: 0 };
  for (let slot = 0; slot < job.size; slot += 1) {
    const update = tasks.update[slot] ?? 0;
    if (reserved.has(update) || !hasTask(job, slot)) continue;
    const running = tasks.state[slot] === RUNNING;
    if (updates.has(update)) found.updated += 1;
    if (!isFresh(update)) {
      if (running) found.control.push(formatIdentifier(job.name, slot, tasks.starts[slot] ?? 0));
    } else if (tasks.state[slot] !== UPDATING && (running || isMachineUp({ fleet }, job, slot))) {
      const start = freshStart(job, slot, request, isFresh);
      if (start === undefined) continue;
      found.fresh.push(formatIdentifier(job.name, slot, start));
      found.before.push(...earlierTasks(job, slot, request, updates));
    }
  }
  return { ...found, control: sample(found.control), before: sample(found.before) };
}

/**
 * The same at an earlier time, for a check that is tried on a past deploy. Only the tasks that ran then are known, not
 * those that were down.
 */
export function resolvePastTargets(fleet: TwineFleet, job: Job, request: TargetRequest): TargetTasks {
  const updates = findUpdateIndices(fleet, request.updatedBy);
  const reserved = findUpdateIndices(fleet, withReverts(fleet, request.exclude));
  const isFresh = freshBy(request, updates);
  const found = { fresh: [] as string[], control: [] as string[], before: [] as string[] };
  for (let slot = 0; slot < job.size; slot += 1) {
    const task = ranAt(job, slot, request.now);
    if (task === undefined || reserved.has(task.update)) continue;
    found[isFresh(task.update) ? 'fresh' : 'control'].push(formatIdentifier(job.name, slot, task.start));
    if (isFresh(task.update)) found.before.push(...earlierTasks(job, slot, request, updates));
  }
  const { fresh, control, before } = found;
  return { fresh, updated: fresh.length, control: sample(control), before: sample(before) };
}

/** Updates that the fleet does not know changed nothing; `fresh` is all tasks only if no update is given. */
const freshBy =
  ({ updatedBy }: TargetRequest, updates: ReadonlySet<number>) =>
  (update: number): boolean =>
    updatedBy.length === 0 || updates.has(update);

/** The task that ran in a slot at a time, and the update that started it. */
function ranAt(job: Job, slot: number, at: number): { update: number; start: number } | undefined {
  const { tasks, past } = job;
  if (tasks.state[slot] === RUNNING && (tasks.startedAt[slot] ?? 0) <= at)
    return { update: tasks.update[slot] ?? 0, start: tasks.starts[slot] ?? 0 };
  for (const index of walkPastTasks(job, slot))
    if ((past.from[index] ?? 0) <= at && at <= (past.to[index] ?? 0) && !past.crashed[index])
      return { update: past.update[index] ?? 0, start: past.start[index] ?? 0 };
  return undefined;
}

/** The start whose task represents a slot: the present one or, until it has reported something, the one before. */
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
  const [latest] = walkPastTasks(job, slot);
  return latest !== undefined && isFresh(past.update[latest] ?? 0) ? past.start[latest] : present;
}

/** The tasks that ran in a slot during the baseline and were not started by the updates. */
function earlierTasks(job: Job, slot: number, { baseline }: TargetRequest, updates: ReadonlySet<number>): string[] {
  const { past, tasks } = job;
  const found: string[] = [];
  const add = (update: number, start: number, from: number, to: number): void => {
    if (!updates.has(update) && from < baseline.end && to > baseline.start)
      found.push(formatIdentifier(job.name, slot, start));
  };
  if (tasks.state[slot] === RUNNING)
    add(tasks.update[slot] ?? 0, tasks.starts[slot] ?? 0, tasks.startedAt[slot] ?? 0, Infinity);
  for (const index of walkPastTasks(job, slot)) {
    const to = past.to[index] ?? 0;
    if (to < baseline.start) break;
    add(past.update[index] ?? 0, past.start[index] ?? 0, past.from[index] ?? 0, to);
  }
  return found;
}

/** An even sample over the slots, the same each time. */
function sample(identifiers: readonly string[]): string[] {
  if (identifiers.length <= MAX_REFERENCE) return [...identifiers];
  const stride = identifiers.length / MAX_REFERENCE;
  return Array.from({ length: MAX_REFERENCE }, (_, index) => identifiers[Math.floor(index * stride)] ?? '');
}
