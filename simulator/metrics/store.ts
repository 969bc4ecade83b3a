import type { Series } from '../../sdk/protocol/dataSource';
import { isSubscriberUnit, subscriberSeries, type MeasuredValue } from '../configerator/metrics';
import { ExtensionError } from '../../sdk/server';
import { nameAtIndex } from '../twine/fleet';
import { formatIdentifier, parseIdentifier, walkPastTasks, RUNNING, type Job } from '../twine/job';
import { listReportedSeries } from './reported';
import {
  hostValueAt,
  isMetric,
  METRICS,
  STEP_MS,
  metricValueAt,
  type MetricName,
  type MetricWorld,
  type Task,
} from './series';

export interface MetricQuery {
  readonly metric: string;
  readonly selector: {
    readonly unit: string;
    /** Identifiers; all tasks of the unit if left out. */
    readonly tasks?: readonly string[] | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  };
  /** ms since the epoch. */
  readonly start: number;
  readonly end: number;
  /** ms between two points; never less than the world's own step. */
  readonly step: number;
}

/** The most points in an answer. */
const MAX_POINTS = 5_000_000;

/**
 * The series of the tasks that ran at some moment of (start, end], with one point at each multiple of the step at which
 * the task was up. The future is unknown. A failed start shows in `system.crashes` only.
 */
export function queryMetrics(world: MetricWorld, now: number, query: MetricQuery): Series[] {
  const { metric, selector, start } = query;
  if (!isMetric(metric))
    throw new ExtensionError('unknown-metric', `metric: there is no ${metric}; there are ${METRICS.join(', ')}`);
  const job = world.fleet.jobs.get(selector.unit);
  if (job === undefined && isSubscriberUnit(selector.unit)) return querySubscribers(world, now, { ...query, metric });
  if (job === undefined)
    throw new ExtensionError('unknown-unit', `selector.unit: no job ${selector.unit}`, { status: 404 });
  const { end, step } = alignGrid(world, now, query);
  const tasks = selector.tasks ? findNamedTasks(job, selector.tasks) : all(job, start, end);
  refuseTooMany(tasks.length, { start, end, step });
  return tasks.flatMap((task) => {
    const labels = buildTaskLabels(world, job, task);
    if (Object.entries(selector.labels ?? {}).some(([key, value]) => labels[key] !== value)) return [];
    const points = sampleTaskPoints(world, job, metric, task, { start, end, step });
    return points.length > 0 ? [{ labels, points }] : [];
  });
}

/** Series of hosts by their version of the configuration; the hosts need not be tasks. */
function querySubscribers(
  world: MetricWorld,
  now: number,
  query: MetricQuery & { readonly metric: MetricName },
): Series[] {
  const { metric, selector, start } = query;
  const grid = { start, ...alignGrid(world, now, query) };
  refuseTooMany(selector.tasks?.length ?? 0, grid);
  const valueOf: MeasuredValue = (of, acted) => {
    const { groups, hosts } = world.configerator.state;
    const job = world.fleet.jobs.get(groups[hosts.group[acted.host] ?? 0]?.job ?? '');
    if (job === undefined) return hostValueAt(world, of, acted);
    const task = taskAt(job, hosts.slot[acted.host] ?? 0, acted.at);
    return task && metricValueAt(world, job, of, task, acted.at);
  };
  const simulated = subscriberSeries(world, metric, selector.tasks, grid, valueOf);
  return [...simulated, ...listReportedSeries(world.reported, metric, selector.tasks ?? [], grid)];
}

function alignGrid(
  world: MetricWorld,
  now: number,
  query: MetricQuery,
): { readonly end: number; readonly step: number } {
  const own = STEP_MS / world.speed;
  return { end: Math.min(query.end, now), step: own * Math.max(1, Math.floor(query.step / own + 1e-9)) };
}

function refuseTooMany(tasks: number, { start, end, step }: { start: number; end: number; step: number }): void {
  if (tasks * Math.max(0, (end - start) / step) > MAX_POINTS)
    throw new ExtensionError(
      'too-much',
      `end: that is more than ${MAX_POINTS} points; ask for less or for larger steps`,
    );
}

/** The task that ran in a slot at a time. */
function taskAt(job: Job, slot: number, at: number): Task | undefined {
  if (slot < job.size && job.tasks.state[slot] === RUNNING && (job.tasks.startedAt[slot] ?? 0) <= at)
    return presentTask(job, slot);
  for (const index of walkPastTasks(job, slot)) {
    const task = pastTask(job, index);
    if (task.from <= at && at <= task.to && !task.crashed) return task;
  }
  return undefined;
}

/** The labels that the fleet adds to the metrics of a task. */
function buildTaskLabels(world: MetricWorld, job: Job, task: Task): Record<string, string> {
  const version = nameAtIndex(world.fleet, task.version) ?? '';
  const { name, region } = job;
  return { task: formatIdentifier(name, task.slot, task.start), slot: String(task.slot), version, job: name, region };
}

function sampleTaskPoints(
  world: MetricWorld,
  job: Job,
  metric: MetricName,
  task: Task,
  grid: { readonly start: number; readonly end: number; readonly step: number },
): [number, number][] {
  const { start, end, step } = grid;
  if (task.crashed) {
    const at = Math.ceil(task.to / step) * step;
    return metric === 'system.crashes' && at > start && at <= end
      ? [[at, metricValueAt(world, job, metric, task, at)]]
      : [];
  }
  const points: [number, number][] = [];
  const last = Math.floor(Math.min(end, task.to) / step);
  for (let k = Math.max(Math.floor(start / step) + 1, Math.ceil(task.from / step)); k <= last; k += 1)
    points.push([k * step, metricValueAt(world, job, metric, task, k * step)]);
  return points;
}

function findNamedTasks(job: Job, identifiers: readonly string[]): Task[] {
  return identifiers.flatMap((identifier) => {
    const id = parseIdentifier(job.name, identifier);
    return (id && find(job, id.slot, id.start)) ?? [];
  });
}

function find(job: Job, slot: number, start: number): Task | undefined {
  const { tasks, past } = job;
  if (slot < job.size && tasks.starts[slot] === start && tasks.state[slot] === RUNNING) return presentTask(job, slot);
  for (const index of walkPastTasks(job, slot)) if (past.start[index] === start) return pastTask(job, index);
  return undefined;
}

function all(job: Job, start: number, end: number): Task[] {
  const found: Task[] = [];
  for (let index = 0; index < job.past.slot.length; index += 1) {
    const task = pastTask(job, index);
    // A failed start is reported at the next point of the grid, thus after its end.
    if (task.from <= end && (task.to > start || task.crashed)) found.push(task);
  }
  for (let slot = 0; slot < job.size; slot += 1)
    if (job.tasks.state[slot] === RUNNING && (job.tasks.startedAt[slot] ?? 0) <= end)
      found.push(presentTask(job, slot));
  return found;
}

function presentTask({ tasks }: Job, slot: number): Task {
  const [start, version, from] = [tasks.starts[slot] ?? 0, tasks.version[slot] ?? 0, tasks.startedAt[slot] ?? 0];
  return { slot, start, version, from, to: Infinity, crashed: false };
}

function pastTask({ past }: Job, index: number): Task {
  const at = (column: readonly number[]): number => column[index] ?? 0;
  const crashed = past.crashed[index] ?? false;
  return {
    slot: at(past.slot),
    start: at(past.start),
    version: at(past.version),
    from: at(past.from),
    to: at(past.to),
    crashed,
  };
}
