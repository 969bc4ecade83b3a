import type { Hono } from 'hono';
import {
  ExtensionError,
  servePushType,
  type HealthTargets,
  type JudgeRequest,
  type JudgeResponse,
  type UnitTasks,
} from '../../../sdk';
import {
  acceptUpdate,
  progressOf,
  reservedSlots,
  slotsOf,
  unitOf,
  updateCommands,
  type Slot,
} from '../../../sdk/updates';
import { unitName, type GateConfig, type GateFleet } from './fleet';

/** `judgeTargets` of the sdk, with a data source. */
type Judge = (request: Omit<JudgeRequest, 'query'>) => Promise<JudgeResponse>;
type Config = Readonly<Record<string, unknown>>;

/** A push type for projects of the gatekeeper: each rule is a unit, and an update brings slices of its users to a version of the project. */
export const gatekeeperPushType = (fleet: GateFleet, judge: Judge): Hono =>
  servePushType('gatekeeper', {
    validateConfig: async (_, { context }) => {
      const problems = problemsOf(context.config);
      if (problems.length > 0) return { problems };
      return { problems: await presentProblems(fleet, context.config) };
    },

    fetchDeployUnits: async (_, { context }) => {
      const config = await prepared(fleet, context.config);
      fleet.refuseUnmixable(config);
      const units = config.rules.map((rule) => {
        const id = unitName(config.project, rule);
        const { slots, version } = unitOf(fleet.memory.state, id);
        const mixed = new Set(slots.map((slot) => slot.version)).size > 1;
        const labels = { project: config.project, rule };
        return { id, labels, size: slots.length, version, mixed, available: true };
      });
      return { service: config.project, units };
    },

    needsPush: async ({ targets }, { context }) => {
      const config = await prepared(fleet, context.config);
      const { state } = fleet.memory;
      return {
        units: targets.map((target) => {
          const size = unitOf(state, known(config, target.unit)).slots.length;
          return { id: target.unit, size, outdated: slotsOf(state, target).length };
        }),
      };
    },

    executeUpdates: async (request, { key, context }) => {
      const versions = request.targets.map(({ version }) => version);
      const config = await prepared(fleet, context.config, [...new Set(versions)]);
      return fleet.memory.once('executeUpdates', request, key, () => {
        const accepted = request.targets.map(({ unit }) => known(config, unit));
        const isKnown = fleet.memory.state.updates[request.updateId] !== undefined;
        if (request.urgency === 'normal' && !isKnown)
          fleet.refuseOutdated(config.project, request.updateId, context.fence);
        acceptUpdate(fleet.updatable(config), request);
        return { accepted };
      });
    },

    trackUpdates: ({ updateId, units }) => {
      const update = fleet.memory.state.updates[updateId];
      if (!update) throw new ExtensionError('unknown-update', `there is no update ${updateId}`, { status: 404 });
      const asked = Object.keys(update.units).filter((unit) => units?.includes(unit) ?? true);
      return { units: asked.map((unit) => progressOf(fleet.memory.state, unit, updateId)) };
    },

    ...updateCommands(fleet.memory),

    runHealthChecks: async ({ targets, checks, baseline, now }, { context }) => {
      const config = await prepared(fleet, context.config);
      const tasks = targets.units.map((unit) => healthTasks(fleet, known(config, unit), targets));
      return judge({ targets: tasks, checks, baseline, now });
    },
  });

/** `fresh` is the updated slices, `control` the other slices of the rule; a slice has the same name before and after. */
function healthTasks(fleet: GateFleet, id: string, { updatedBy, exclude = [] }: HealthTargets): UnitTasks {
  const { state } = fleet.memory;
  const reserved = reservedSlots(state, id, exclude);
  const slots = unitOf(state, id).slots.map((slot, index) => ({ slot, index, task: `${id}/${index}` }));
  const there = slots.filter(({ slot, index }) => !reserved(slot, index));
  const isInside = ({ update }: Slot): boolean => updatedBy.length === 0 || updatedBy.includes(update ?? '');
  const inside = there.filter(({ slot }) => isInside(slot)).map(({ task }) => task);
  const outside = there.filter(({ slot }) => !isInside(slot)).map(({ task }) => task);
  const updated = updatedBy.length === 0 ? 0 : inside.length;
  return { id, fresh: inside, updated, control: outside, before: inside };
}

/** The form of the names of projects and rules. */
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function problemsOf({ project, rules }: Config): { path: string; message: string }[] {
  const problem = (path: string, message: string) => [{ path, message }];
  if (typeof project !== 'string' || !NAME.test(project))
    return problem('config.project', 'expected the name of a project');
  const names = Array.isArray(rules) ? rules : [];
  if (names.length === 0) return problem('config.rules', 'expected the names of its rules, in their order');
  const wrong = names.findIndex((name, at) => typeof name !== 'string' || !NAME.test(name) || names.indexOf(name) < at);
  return wrong < 0 ? [] : problem(`config.rules.${wrong}`, 'expected a name, each once');
}

async function presentProblems(fleet: GateFleet, config: Config): Promise<{ path: string; message: string }[]> {
  try {
    fleet.refuseUnmixable(await prepared(fleet, config));
    return [];
  } catch (error) {
    if (error instanceof ExtensionError && !error.retryable) return [{ path: 'config.rules', message: error.message }];
    throw error;
  }
}

async function prepared(fleet: GateFleet, config: Config, versions: readonly string[] = []): Promise<GateConfig> {
  const [problem] = problemsOf(config);
  if (problem) throw new ExtensionError('invalid-config', `${problem.path}: ${problem.message}`);
  const checked = config as unknown as GateConfig;
  await fleet.prepare(checked, versions);
  return checked;
}

function known({ project, rules }: GateConfig, unit: string): string {
  if (rules.some((rule) => unitName(project, rule) === unit)) return unit;
  throw new ExtensionError('unknown-unit', `there is no rule ${unit} in config.rules`, { status: 404 });
}
