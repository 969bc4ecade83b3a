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
import { budgetOfJob, jobSize } from '../twine/job';
import { countVersions } from '../twine/jobs';
import { beginRemoval, ownVersion } from '../twine/removals';
import { prefetchVersion, roomRefusal } from '../twine/swaps';
import { regionDown } from '../twine/tasks';
import { shiftTraffic } from '../twine/traffic';
import { acceptUpdate, commandUpdate, countOutdatedTasks, unitProgress } from '../twine/updates';
import type { FleetJudge } from './judge';
import { listConfiguredJobs, configProblems } from './twineConfig';
import { checkFence, findConfiguredJob, findJob, refuseBusy, refuseInvalid, toTarget } from './twineTargets';

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
    removeUnits: (request, call) => removeUnits(simulation, request, call),
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
    version: ownVersion(simulation, job),
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
    refuseInvalid(simulation, id, targets);
    for (const target of fresh) {
      const noRoom = roomRefusal(target.job);
      if (noRoom !== null) throw new ExtensionError('container-too-small', noRoom, { status: 409 });
      refuseBusy(simulation, id, target);
    }
    checkFence(simulation, targets, urgency, call);
    acceptUpdate(simulation, { id, urgency, wholeUnit, targets: fresh });
    return { answer, effect: true };
  });
}

/** Like an update, a removal is accepted as a whole or not at all. */
function removeUnits(simulation: Simulation, request: MethodRequest<'removeUnits'>, call: MutatingCall) {
  return simulation.once(TWINE, 'removeUnits', request, call, () => {
    const { updateId: id, units } = request;
    const jobs = units.map((unit, index) => findConfiguredJob(simulation, unit, call, `units.${index}`));
    const targets = jobs.map((job) => ({ job }));
    const known = simulation.fleet.updates.get(id)?.units;
    const fresh = targets.filter(({ job }) => !known?.has(job.name));
    if (fresh.length === 0) return { answer: { accepted: units }, effect: false };
    refuseInvalid(simulation, id, targets);
    for (const target of fresh) refuseBusy(simulation, id, target);
    checkFence(simulation, targets, 'normal', call);
    const removed = fresh.map(({ job }) => job);
    beginRemoval(simulation, id, removed);
    return { answer: { accepted: units }, effect: true };
  });
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

function findUpdate(simulation: Simulation, id: string): FleetUpdate {
  const update = simulation.fleet.updates.get(id);
  if (update) return update;
  throw new ExtensionError('unknown-update', `updateId: no update ${id}`, { status: 404 });
}
