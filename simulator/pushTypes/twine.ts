import type { Hono } from 'hono';
import { unitsPage } from '../../sdk/pages';
import type { RequestOf } from '../../sdk/protocol/common';
import type { PushTypeProtocol, Target } from '../../sdk/protocol/pushType';
import { ExtensionError, servePushType, type Call, type MutatingCall } from '../../sdk/server';
import type { UpdateVerb } from '../events';
import { STEP_MS } from '../metrics/series';
import { resolvePastTargets, resolveTargets } from '../metrics/targets';
import type { Simulation } from '../simulation';
import { internName, type FleetUpdate } from '../twine/fleet';
import { budgetOfJob, jobSize, type Job } from '../twine/job';
import { countVersions } from '../twine/jobs';
import { prefetchVersion, roomRefusal } from '../twine/swaps';
import { regionDown } from '../twine/tasks';
import { shiftTraffic } from '../twine/traffic';
import {
  acceptUpdate,
  busyWith,
  commandUpdate,
  countOutdatedTasks,
  unitProgress,
  type UpdateTarget,
} from '../twine/updates';
import type { FleetJudge } from './judge';
import { listConfiguredJobs, configProblems, isConfigured } from './twineConfig';

/** Name of this push type in the ledger and in HTTP faults. */
const TWINE = 'twine';

type MethodRequest<M extends keyof PushTypeProtocol> = RequestOf<PushTypeProtocol[M]>;

/** The standard push type `twine`: units are jobs, and `config: { jobs: [name, …] }` names them. */
export function twinePushType(simulation: Simulation, judge: FleetJudge): Hono {
  return servePushType(TWINE, {
    validateConfig: (_, { context }) => ({
      problems: configProblems(simulation.fleet, context.config).map(({ path, message }) => ({ path, message })),
    }),
    fetchDeployUnits: (request, call) => fetchDeployUnits(simulation, request, call),
    needsPush: ({ targets }, call) => ({ units: targets.map((target) => needsPush(simulation, target, call)) }),
    executeUpdates: (request, call) => executeUpdates(simulation, request, call),
    trackUpdates: ({ updateId, units: names }) => {
      const { units } = findUpdate(simulation, updateId);
      const asked = names ? names.flatMap((name) => units.get(name) ?? []) : [...units.values()];
      return { units: asked.map((unit) => unitProgress(simulation, unit)) };
    },
    pauseUpdates: (request, call) => commandOne(simulation, 'pause', request, call),
    resumeUpdates: (request, call) => commandOne(simulation, 'resume', request, call),
    cancelUpdates: (request, call) => commandOne(simulation, 'cancel', request, call),
    runHealthChecks: (request, call) => judge(judgeRequest(simulation, request), call),
    shiftTraffic: ({ units, percent, toVersion }, call) =>
      simulation.once(TWINE, 'shiftTraffic', { units, percent, toVersion }, call, () => {
        const { deployId: deploy } = call.context;
        const jobs = units.map((unit, index) => findJob(simulation, unit, `units.${index}`));
        return { answer: {}, effect: shiftTraffic(simulation, jobs, { version: toVersion, percent, deploy }) };
      }),
    prefetch: (request, call) =>
      simulation.once(TWINE, 'prefetch', request, call, () => {
        const targets = request.targets.map((target, index) =>
          toTarget(simulation, target, call, `targets.${index}`, true),
        );
        const news = targets.filter(({ job, version }) =>
          prefetchVersion(simulation, job, internName(simulation.fleet, version)),
        );
        return { answer: {}, effect: news.length > 0 };
      }),
  });
}

function fetchDeployUnits(simulation: Simulation, request: MethodRequest<'fetchDeployUnits'>, { context }: Call) {
  const names = listConfiguredJobs(simulation.fleet, context.config);
  const jobs = names.flatMap((name) => simulation.fleet.jobs.get(name) ?? []);
  const problems = configProblems(simulation.fleet, context.config);
  // A job that is gone must not fail the others.
  const first = problems.find(({ code }) => code !== undefined) ?? (jobs.length > 0 ? undefined : problems[0]);
  if (first) throw new ExtensionError(first.code ?? 'invalid-config', `${first.path}: ${first.message}`);
  const units = jobs.map((job) => ({
    id: job.name,
    labels: { ...job.labels, region: job.region },
    size: jobSize(job),
    version: simulation.fleet.names[job.version] ?? null,
    mixed: countVersions(simulation, job).size > 1,
    available: !regionDown(simulation, job.region),
  }));
  return { service: jobs[0]?.service ?? '', ...unitsPage(request, units) };
}

function needsPush(simulation: Simulation, target: Target, call: Call) {
  const wanted = toTarget(simulation, target, call, 'targets', true);
  const { job } = wanted;
  return { id: target.unit, size: jobSize(job), ...countOutdatedTasks(simulation, wanted), budget: budgetOfJob(job) };
}

/** Checks all targets before it begins the first: an update is accepted as a whole or not at all. */
function executeUpdates(simulation: Simulation, request: MethodRequest<'executeUpdates'>, call: MutatingCall) {
  return simulation.once(TWINE, 'executeUpdates', request, call, () => {
    const { updateId: id, urgency, wholeUnit } = request;
    const targets = request.targets.map((target, index) =>
      toTarget(simulation, target, call, `targets.${index}`, wholeUnit),
    );
    const answer = { accepted: targets.map(({ job }) => job.name) };
    const known = simulation.fleet.updates.get(id)?.units;
    const fresh = targets.filter(({ job }) => !known?.has(job.name));
    if (known && fresh.length === 0) return { answer, effect: false };
    if (simulation.fleet.cancelled.has(id))
      throw new ExtensionError('cancelled', `${id} was cancelled`, { status: 409 });
    if (new Set(answer.accepted).size < targets.length)
      throw new ExtensionError('invalid-request', 'targets: a unit is named twice');
    for (const target of fresh) {
      const noRoom = roomRefusal(target.job);
      if (noRoom !== null) throw new ExtensionError('container-too-small', noRoom, { status: 409 });
      const other = busyWith(simulation.fleet, id, target);
      if (other !== null)
        throw new ExtensionError('unit-busy', `${target.job.name} is being updated by ${other}`, { status: 409 });
    }
    checkFence(simulation, targets, urgency, call);
    acceptUpdate(simulation, { id, urgency, wholeUnit, targets: fresh });
    return { answer, effect: true };
  });
}

/** A caller that lost a service to another deploy without knowing it may not update there; it may undo its own updates. */
function checkFence({ state }: Simulation, targets: readonly UpdateTarget[], urgency: string, call: Call): void {
  const { fence } = call.context;
  if (fence === undefined || urgency === 'revert') return;
  for (const service of new Set(targets.map(({ job }) => job.service))) {
    if (fence < (state.fences.get(service) ?? 0))
      throw new ExtensionError('stale-fence', `another deploy holds ${service} by now`, { status: 409 });
    state.fences.set(service, fence);
  }
}

/** An unknown update cannot be paused; one cancelled before it arrives will never begin. */
function commandOne(
  simulation: Simulation,
  verb: UpdateVerb,
  request: MethodRequest<'pauseUpdates'>,
  call: MutatingCall,
): Record<string, never> {
  return simulation.once(TWINE, `${verb}Updates`, request, call, () => {
    const { updates, cancelled } = simulation.fleet;
    const update = updates.get(request.updateId);
    // Later parts of that update do not begin either.
    if (update && verb === 'cancel' && request.units === undefined) cancelled.add(request.updateId);
    if (update) return { answer: {}, effect: commandUpdate(simulation, update, verb, request.units) };
    if (verb !== 'cancel' || request.units !== undefined) return { answer: {}, effect: false };
    cancelled.add(request.updateId);
    return { answer: {}, effect: true };
  });
}

function judgeRequest(simulation: Simulation, request: MethodRequest<'runHealthChecks'>): Parameters<FleetJudge>[0] {
  const { checks, baseline, now } = request;
  const { units, updatedBy, exclude = [] } = request.targets;
  const stepMs = STEP_MS / simulation.speed;
  const resolve = now < simulation.world.now - stepMs ? resolvePastTargets : resolveTargets;
  const targets = units.map((unit) => {
    const job = simulation.fleet.jobs.get(unit);
    // A unit that is gone has no tasks to judge.
    if (job === undefined) return { id: unit, fresh: [], control: [], before: [] };
    return { id: unit, ...resolve(simulation.fleet, job, { updatedBy, exclude, baseline, now, stepMs }) };
  });
  return { targets, checks, baseline, now };
}

function findJob(simulation: Simulation, name: string, field: string): Job {
  const job = simulation.fleet.jobs.get(name);
  if (job) return job;
  throw new ExtensionError('unknown-unit', `${field}: no job ${name}`, { status: 404 });
}

function findUpdate(simulation: Simulation, id: string): FleetUpdate {
  const update = simulation.fleet.updates.get(id);
  if (update) return update;
  throw new ExtensionError('unknown-update', `updateId: no update ${id}`, { status: 404 });
}

/** A target in the scheduler's form. Without an amount, a whole-unit update takes all tasks. */
function toTarget(simulation: Simulation, target: Target, call: Call, field: string, all: boolean): UpdateTarget {
  const { unit, version, amount, updatedBy, exclude } = target;
  const job = findJob(simulation, unit, `${field}.unit`);
  if (!isConfigured(call.context.config, job))
    throw new ExtensionError('unknown-unit', `${field}.unit: ${unit} is not one of config.jobs`, { status: 404 });
  if (amount === undefined && updatedBy === undefined && !all)
    throw new ExtensionError('invalid-request', `${field}.amount: needed unless updatedBy says which tasks`);
  return { job, version, amount: amount ?? { all: true }, updatedBy, exclude };
}
