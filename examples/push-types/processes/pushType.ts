import type { Hono } from 'hono';
import { ExtensionError, servePushType, type Call, type JudgeRequest, type JudgeResponse } from '../../../sdk';
import {
  acceptRemoval,
  acceptUpdate,
  healthTasks,
  describeUnit,
  progressOf,
  slotsOf,
  unitOf,
  updateCommands,
} from '../../../sdk/updates';
import type { Fleet } from './fleet';

/** `judgeTargets` or `remoteJudge` of the sdk, with a data source. */
export type Judge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;

/** A push type for processes on this machine. Calls read, or record the desired state and answer; `Fleet.step` does the work. */
export const processesPushType = (fleet: Fleet, judge: Judge): Hono =>
  servePushType('processes', {
    validateConfig: (_, { context }) => {
      const units = configuredUnits(context.config);
      const problem = (message: string) => ({ path: 'config.units', message });
      if (units.length === 0) return { problems: [problem('expected a list of units')] };
      const unknown = units.filter((unit) => !fleet.file.units[unit]);
      return { problems: unknown.map((unit) => problem(`there is no unit ${unit}`)) };
    },

    // `version` is the one on which added copies start; a revert returns to its value before the first update. A removed unit has none.
    fetchDeployUnits: (_, { context }) => ({
      service: fleet.file.service,
      units: configuredUnits(context.config).map((id) => {
        const labels = fleet.file.units[id]?.labels ?? {};
        return { id, labels, ...describeUnit(fleet.state, known(fleet, id)), available: true };
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
        const accepted = request.targets.map(({ unit }) => known(fleet, unit, configuredUnits(context.config)));
        acceptUpdate(fleet, request, { service: fleet.file.service, fence: context.fence });
        return { accepted };
      }),

    trackUpdates: ({ updateId }) => {
      const update = fleet.state.updates[updateId];
      if (!update) throw new ExtensionError('unknown-update', `there is no update ${updateId}`, { status: 404 });
      return { units: Object.keys(update.units).map((unit) => progressOf(fleet.state, unit, updateId)) };
    },

    ...updateCommands(fleet.memory),

    removeUnits: (request, { key, context }) =>
      fleet.memory.once('removeUnits', request, key, () => {
        const accepted = request.units.map((unit) => known(fleet, unit, configuredUnits(context.config)));
        acceptRemoval(fleet, request, { service: fleet.file.service, fence: context.fence });
        return { accepted };
      }),

    runHealthChecks: ({ targets, checks, baseline, now }, call) => {
      const tasks = targets.units.map((unit) => healthTasks(fleet.state, known(fleet, unit), targets, baseline));
      return judge({ targets: tasks, checks, baseline, now }, call);
    },
  });

const configuredUnits = (config: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(config['units']) ? config['units'].map(String) : [];

/** A unit by its name; unknown units are refused, and so are those that the pipeline's config does not name. */
function known(fleet: Fleet, unit: string, configured: readonly string[] = [unit]): string {
  if (fleet.file.units[unit] && configured.includes(unit)) return unit;
  throw new ExtensionError('unknown-unit', `there is no unit ${unit} here, or not in config.units`, { status: 404 });
}
