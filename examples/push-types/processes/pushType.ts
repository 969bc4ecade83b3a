import type { Hono } from 'hono';
import {
  ExtensionError,
  servePushType,
  type Call,
  type JudgeRequest,
  type JudgeResponse,
  type Target,
} from '../../../sdk';
import { busyWith, deployOf, progressOf, slotsOf, unfinished, unitOf, withReverts } from './choose';
import type { Fleet } from './fleet';
import type { UnitUpdate } from './memory';
import { healthTasks } from './targets';

/** `judgeTargets` or `remoteJudge` of the sdk, with a data source. */
export type Judge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;

/** A push type for processes on this machine. Calls write down what is wanted and answer; `Fleet.step` does it. */
export const processesPushType = (fleet: Fleet, judge: Judge): Hono =>
  servePushType('processes', {
    validateConfig: (_, { context }) => ({ problems: configProblems(fleet, context.config) }),

    fetchDeployUnits: (_, { context }) => ({
      service: fleet.file.service,
      units: configuredUnits(context.config).map((id) => {
        const { slots, version } = unitOf(fleet.state, known(fleet, id));
        const mixed = new Set(slots.map((slot) => slot.version)).size > 1;
        return { id, labels: fleet.file.units[id]?.labels ?? {}, size: slots.length, version, mixed, available: true };
      }),
    }),

    needsPush: ({ targets }) => ({
      units: targets.map((target) => {
        const size = unitOf(fleet.state, known(fleet, target.unit)).slots.length;
        return { id: target.unit, size, outdated: slotsOf(fleet.state, target).length };
      }),
    }),

    executeUpdates: (request, { key, context }) =>
      fleet.memory.once('executeUpdates', request, key, () => {
        const { updateId, targets, wholeUnit } = request;
        const accepted = targets.map(({ unit }) => unit);
        if (fleet.state.updates[updateId]) return { accepted };
        // All or nothing: whatever is wrong is found before the first is begun.
        if (fleet.state.cancelled.includes(updateId)) throw refusal('cancelled', `${updateId} was cancelled`);
        if (new Set(accepted).size < accepted.length) throw refusal('invalid-request', 'a unit is named twice');
        for (const target of targets) refuseTarget(fleet, updateId, target, configuredUnits(context.config));
        const [updatedBy, exclude] = (['updatedBy', 'exclude'] as const).map((field) => [
          ...new Set(targets.flatMap((target) => target[field] ?? [])),
        ]) as [string[], string[]];
        const units = Object.fromEntries(
          targets.map((target) => [target.unit, accept(fleet, updateId, target, wholeUnit)]),
        );
        fleet.state.updates[updateId] = { updatedBy, exclude, units };
        return { accepted };
      }),

    trackUpdates: ({ updateId }) => {
      const update = fleet.state.updates[updateId];
      if (!update) throw new ExtensionError('unknown-update', `no update ${updateId}`, { status: 404 });
      return { units: Object.keys(update.units).map((unit) => progressOf(fleet.state, unit, updateId)) };
    },

    pauseUpdates: (request, { key }) => command(fleet, 'pauseUpdates', request, key, ['active'], 'paused'),
    resumeUpdates: (request, { key }) => command(fleet, 'resumeUpdates', request, key, ['paused'], 'active'),
    cancelUpdates: (request, { key }) => command(fleet, 'cancelUpdates', request, key, ['active', 'paused'], 'ended'),

    runHealthChecks: ({ targets, checks, baseline, now }, call) => {
      const tasks = targets.units.map((unit) => healthTasks(fleet.state, known(fleet, unit), targets, baseline));
      return judge({ targets: tasks, checks, baseline, now }, call);
    },
  });

/** Takes an update of a unit on. An earlier one of the same deploy ends where it is. */
function accept(fleet: Fleet, id: string, target: Target, wholeUnit: boolean): UnitUpdate {
  const { state } = fleet;
  const unit = unitOf(state, target.unit);
  for (const earlier of unfinished(state, target.unit)) {
    const update = state.updates[earlier]?.units[target.unit];
    if (update && deployOf(earlier) === deployOf(id))
      Object.assign(update, { state: 'ended', reason: `superseded by ${id}` });
  }
  const slots = slotsOf(state, target);
  // What is on its way to the version already is this update's from now on.
  for (const slot of slots.map((index) => unit.slots[index]))
    if (slot?.state === 'updating' && slot.version === target.version) slot.update = id;
  const undone = withReverts(state, target.updatedBy ?? []);
  if (wholeUnit || undone.has(unit.update ?? '')) [unit.version, unit.update] = [target.version, id];
  return { version: target.version, slots, state: 'active' };
}

/** An update that is not known has nothing to pause; cancelled before it comes, it will never begin. */
function command(
  fleet: Fleet,
  method: string,
  request: { readonly updateId: string; readonly units?: readonly string[] | undefined },
  key: string,
  from: readonly UnitUpdate['state'][],
  to: UnitUpdate['state'],
): Record<string, never> {
  return fleet.memory.once(method, request, key, () => {
    const update = fleet.state.updates[request.updateId];
    if (!update && to === 'ended' && !request.units) fleet.state.cancelled.push(request.updateId);
    for (const [name, unit] of Object.entries(update?.units ?? {})) {
      if (!from.includes(unit.state) || !(request.units?.includes(name) ?? true)) continue;
      Object.assign(unit, { state: to, reason: to === 'active' ? undefined : `${to} on request` });
    }
    return {};
  });
}

function refuseTarget(fleet: Fleet, id: string, target: Target, configured: readonly string[]): void {
  const unit = known(fleet, target.unit);
  if (!configured.includes(unit)) throw refusal('unknown-unit', `${unit} is not one of config.units`);
  if (!fleet.copies.hasVersion(target.version))
    throw refusal('unknown-version', `there is no version ${target.version}`);
  const other = busyWith(fleet.state, id, target);
  if (other !== undefined) throw refusal('unit-busy', `${unit} is being updated by ${other}`);
}

function configProblems(fleet: Fleet, config: Readonly<Record<string, unknown>>) {
  const units = configuredUnits(config);
  const unknown = units.filter((unit) => !fleet.file.units[unit]);
  if (units.length === 0) return [{ path: 'config.units', message: 'expected a list of units' }];
  return unknown.map((unit) => ({ path: 'config.units', message: `there is no unit ${unit}` }));
}

const configuredUnits = (config: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(config['units']) ? config['units'].map(String) : [];

function known(fleet: Fleet, unit: string): string {
  if (fleet.file.units[unit]) return unit;
  throw new ExtensionError('unknown-unit', `there is no unit ${unit}`, { status: 404 });
}

const refusal = (code: string, message: string): ExtensionError => new ExtensionError(code, message, { status: 409 });
