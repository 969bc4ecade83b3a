import type { Hono } from 'hono';
import type { RequestOf } from '../../sdk/protocol/common';
import type { PushTypeProtocol, Target } from '../../sdk/protocol/pushType';
import { ExtensionError, servePushType, type Call, type MutatingCall } from '../../sdk/server';
import type { UpdateVerb } from '../events';
import { STEP_MS } from '../metrics/series';
import { resolvePastTargets, resolveTargets } from '../metrics/targets';
import type { Simulation } from '../simulation';
import { indexOf, type Update } from '../twine/fleet';
import { sizeOf, type Job } from '../twine/job';
import { countVersions } from '../twine/jobs';
import { prefetch, roomRefusal } from '../twine/swaps';
import { regionDown } from '../twine/tasks';
import { shiftTraffic } from '../twine/traffic';
import { acceptUpdate, busyWith, commandUpdate, outdatedOf, progressOf, type UpdateTarget } from '../twine/updates';
import type { FleetJudge } from './judge';
import { configuredJobs, configProblems } from './twineConfig';

/** Name of this push type in the ledger and in HTTP faults. */
const TWINE = 'twine';

type Request<M extends keyof PushTypeProtocol> = RequestOf<PushTypeProtocol[M]>;

/** The standard push type `twine`: units are jobs, `config: { jobs: [name, …] }` says which. */
export function twinePushType(simulation: Simulation, judge: FleetJudge): Hono {
  return servePushType(TWINE, {
    validateConfig: (_, { context }) => ({ problems: configProblems(simulation.fleet, context.config) }),
    fetchDeployUnits: (_, call) => fetchDeployUnits(simulation, call),
    needsPush: ({ targets }, call) => ({ units: targets.map((target) => needsPush(simulation, target, call)) }),
    executeUpdates: (request, call) => executeUpdates(simulation, request, call),
    trackUpdates: ({ updateId }) => {
      const { units } = findUpdate(simulation, updateId);
      return { units: [...units.values()].map((unit) => progressOf(simulation, unit)) };
    },
    pauseUpdates: (request, call) => command(simulation, 'pause', request, call),
    resumeUpdates: (request, call) => command(simulation, 'resume', request, call),
    cancelUpdates: (request, call) => command(simulation, 'cancel', request, call),
    runHealthChecks: (request, call) => judge(judgeRequest(simulation, request), call),
    shiftTraffic: ({ units, percent, toVersion }, call) =>
      simulation.once(TWINE, 'shiftTraffic', { units, percent, toVersion }, call, () => {
        const jobs = units.map((unit, index) => findJob(simulation, unit, `units.${index}`));
        return { answer: {}, effect: shiftTraffic(simulation, jobs, toVersion, percent) };
      }),
    prefetch: (request, call) =>
      simulation.once(TWINE, 'prefetch', request, call, () => {
        const targets = request.targets.map((target, index) =>
          toTarget(simulation, target, call, `targets.${index}`, true),
        );
        const news = targets.filter(({ job, version }) =>
          prefetch(simulation, job, indexOf(simulation.fleet, version)),
        );
        return { answer: {}, effect: news.length > 0 };
      }),
  });
}

function fetchDeployUnits(simulation: Simulation, { context }: Call) {
  const problems = configProblems(simulation.fleet, context.config);
  const [first] = problems;
  if (first) throw new ExtensionError('invalid-config', `${first.path}: ${first.message}`);
  const jobs = configuredJobs(context.config).map((name) => findJob(simulation, name, 'config.jobs'));
  const units = jobs.map((job) => ({
    id: job.name,
    labels: { ...job.labels, region: job.region },
    size: sizeOf(job),
    version: simulation.fleet.names[job.version] ?? null,
    mixed: countVersions(simulation, job).size > 1,
    available: !regionDown(simulation, job.region),
  }));
  return { service: jobs[0]?.service ?? '', units };
}

function needsPush(simulation: Simulation, target: Target, call: Call) {
  const wanted = toTarget(simulation, target, call, 'targets', true);
  return { id: target.unit, size: sizeOf(wanted.job), outdated: outdatedOf(simulation, wanted) };
}

/** All targets are checked before the first is begun: an update is accepted as a whole or not at all. */
function executeUpdates(simulation: Simulation, request: Request<'executeUpdates'>, call: MutatingCall) {
  return simulation.once(TWINE, 'executeUpdates', request, call, () => {
    const { updateId: id, urgency, wholeUnit } = request;
    const targets = request.targets.map((target, index) =>
      toTarget(simulation, target, call, `targets.${index}`, wholeUnit),
    );
    const answer = { accepted: targets.map(({ job }) => job.name) };
    if (simulation.fleet.updates.has(id)) return { answer, effect: false };
    if (simulation.fleet.cancelled.has(id))
      throw new ExtensionError('cancelled', `${id} was cancelled`, { status: 409 });
    if (new Set(answer.accepted).size < targets.length)
      throw new ExtensionError('invalid-request', 'targets: a unit is named twice');
    for (const target of targets) {
      const noRoom = roomRefusal(target.job);
      if (noRoom !== null) throw new ExtensionError('container-too-small', noRoom, { status: 409 });
      const other = busyWith(simulation.fleet, id, target);
      if (other !== null)
        throw new ExtensionError('unit-busy', `${target.job.name} is being updated by ${other}`, { status: 409 });
    }
    acceptUpdate(simulation, { id, urgency, wholeUnit, targets });
    return { answer, effect: true };
  });
}

/** An update that is not known has nothing to pause; cancelled before it arrives, it will never begin. */
function command(
  simulation: Simulation,
  verb: UpdateVerb,
  request: Request<'pauseUpdates'>,
  call: MutatingCall,
): Record<string, never> {
  return simulation.once(TWINE, `${verb}Updates`, request, call, () => {
    const { updates, cancelled } = simulation.fleet;
    const update = updates.get(request.updateId);
    if (update) return { answer: {}, effect: commandUpdate(simulation, update, verb, request.units) };
    if (verb !== 'cancel' || request.units !== undefined) return { answer: {}, effect: false };
    cancelled.add(request.updateId);
    return { answer: {}, effect: true };
  });
}

function judgeRequest(simulation: Simulation, request: Request<'runHealthChecks'>): Parameters<FleetJudge>[0] {
  const { checks, baseline, now } = request;
  const { units, updatedBy, exclude = [] } = request.targets;
  const stepMs = STEP_MS / simulation.speed;
  const resolve = now < simulation.world.now - stepMs ? resolvePastTargets : resolveTargets;
  const targets = units.map((unit, index) => {
    const job = findJob(simulation, unit, `targets.units.${index}`);
    return { id: unit, ...resolve(simulation.fleet, job, { updatedBy, exclude, baseline, now, stepMs }) };
  });
  return { targets, checks, baseline, now };
}

function findJob(simulation: Simulation, name: string, field: string): Job {
  const job = simulation.fleet.jobs.get(name);
  if (job) return job;
  throw new ExtensionError('unknown-unit', `${field}: no job ${name}`, { status: 404 });
}

function findUpdate(simulation: Simulation, id: string): Update {
  const update = simulation.fleet.updates.get(id);
  if (update) return update;
  throw new ExtensionError('unknown-update', `updateId: no update ${id}`, { status: 404 });
}

/** A target as the scheduler takes it. Without an amount a whole-unit update means all tasks. */
function toTarget(simulation: Simulation, target: Target, call: Call, field: string, all: boolean): UpdateTarget {
  const { unit, version, amount, updatedBy, exclude } = target;
  const job = findJob(simulation, unit, `${field}.unit`);
  const configured = configuredJobs(call.context.config);
  if (configured.length > 0 && !configured.includes(unit))
    throw new ExtensionError('unknown-unit', `${field}.unit: ${unit} is not one of config.jobs`, { status: 404 });
  if (amount === undefined && updatedBy === undefined && !all)
    throw new ExtensionError('invalid-request', `${field}.amount: needed unless updatedBy says which tasks`);
  return { job, version, amount: amount ?? { all: true }, updatedBy, exclude };
}
