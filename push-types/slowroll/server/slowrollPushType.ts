import type { Hono } from 'hono';
import {
  ExtensionError,
  servePushType,
  type Call,
  type Implementation,
  type JudgeRequest,
  type JudgeResponse,
  type PushTypeProtocol,
  type ServeOptions,
  type Target,
} from '../../../sdk';
import { updateCommands } from '../../../sdk/updates';
import { acceptSlowRemoval, acceptSlowUpdate, countLacking, findUnitPlace, type IsSticky } from './acceptDecision';
import { listCohorts } from './cohorts';
import { describePlace } from './countHosts';
import { PackageTroubleError, type PackageStore } from './packageStore';
import type { SlowrollFleet } from './slowrollFleet';
import { settleUpdates, trackDecision, type FailureShare } from './trackDecision';

/** `judgeTargets` or `remoteJudge` of the sdk, with a data source. */
export type SlowrollJudge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;

export interface SlowrollPushTypeOptions extends ServeOptions {
  readonly store: PackageStore;
  readonly judge: SlowrollJudge;
  readonly isSticky: IsSticky;
  readonly failures: FailureShare;
}

/** The push type for hosts that poll. Calls decide and answer; hosts do the work when they ask. */
export function slowrollPushType(fleet: SlowrollFleet, options: SlowrollPushTypeOptions): Hono {
  const { token, maxBodyBytes } = options;
  const serving = { ...(token !== undefined && { token }), ...(maxBodyBytes !== undefined && { maxBodyBytes }) };
  return servePushType('slowroll', { ...implementLooks(fleet, options), ...implementChanges(fleet, options) }, serving);
}

type SlowrollMethods = Implementation<PushTypeProtocol>;
type SlowrollLooks = 'validateConfig' | 'fetchDeployUnits' | 'needsPush' | 'trackUpdates' | 'runHealthChecks';
type ConfigFields = Readonly<Record<string, unknown>>;

/** The methods that change nothing. */
const implementLooks = (
  fleet: SlowrollFleet,
  { store, judge, isSticky, failures }: SlowrollPushTypeOptions,
): Pick<SlowrollMethods, SlowrollLooks> => ({
  validateConfig: async ({ version, artifacts }, { context }) => {
    const problems = findUnitProblems(fleet, context.config);
    const [unit] = readNamedUnits(context.config);
    if (problems.length > 0 || unit === undefined || version === undefined) return { problems };
    return { problems: await findPackageRefusals(store, findUnitPlace(fleet, unit).packageName, version, artifacts) };
  },

  fetchDeployUnits: (_, { context }) => {
    const places = readNamedUnits(context.config).map((unit) => findUnitPlace(fleet, unit));
    return {
      service: places[0]?.packageName ?? '',
      units: places.map((place) => ({
        ...{ id: place.unit, ...describePlace(fleet, place) },
        labels: { region: fleet.options.regions[place.region] ?? '', package: place.packageName },
      })),
    };
  },

  needsPush: ({ targets }, { context }) => ({
    units: targets.map((target) => ({ id: target.unit, ...countLacking(fleet, target, context, isSticky) })),
  }),

  trackUpdates: ({ updateId, units: only }) => {
    const update = fleet.state.updates[updateId];
    if (!update) throw new ExtensionError('unknown-update', `there is no update ${updateId}`, { status: 404 });
    settleUpdates(fleet, failures);
    const units = Object.keys(update.units).filter((unit) => only?.includes(unit) ?? true);
    return {
      units: units.flatMap((unit) => {
        const decision = fleet.state.decisions?.[unit]?.find((one) => one.update === updateId);
        return decision === undefined ? [] : [trackDecision(fleet, findUnitPlace(fleet, unit), decision)];
      }),
    };
  },

  runHealthChecks: ({ targets, checks, baseline, now }, call) => {
    const tasks = targets.units.map((unit) => listCohorts(fleet, findUnitPlace(fleet, unit), targets));
    return judge({ targets: tasks, checks, baseline, now }, call);
  },
});

/** The methods that decide. */
const implementChanges = (
  fleet: SlowrollFleet,
  { store, isSticky }: SlowrollPushTypeOptions,
): Omit<SlowrollMethods, SlowrollLooks> => {
  const hasVersion = (packageName: string, version: string) => store.find(packageName, version) !== undefined;
  const held = (context: Call['context']) => ({
    service: findUnitPlace(fleet, readNamedUnits(context.config)[0] ?? '').packageName,
    fence: context.fence,
  });
  return {
    executeUpdates: async (request, { key, context }) => {
      if (!fleet.state.updates[request.updateId])
        for (const target of request.targets) await learnTarget(fleet, store, target);
      return fleet.memory.once('executeUpdates', request, key, () => {
        const accepted = request.targets.map(({ unit }) => checkNamed(fleet, unit, context.config));
        acceptSlowUpdate(fleet, request, { context, held: held(context), isSticky, hasVersion });
        return { accepted };
      });
    },

    ...wrapCommands(fleet),

    removeUnits: (request, { key, context }) =>
      fleet.memory.once('removeUnits', request, key, () => {
        const accepted = request.units.map((unit) => checkNamed(fleet, unit, context.config));
        acceptSlowRemoval(fleet, request, held(context));
        return { accepted };
      }),
  };
};

/** The commands of the sdk; what hosts get may be another then. */
function wrapCommands(fleet: SlowrollFleet): ReturnType<typeof updateCommands> {
  const { pauseUpdates, resumeUpdates, cancelUpdates } = updateCommands(fleet.memory);
  const wrap =
    (command: typeof pauseUpdates): typeof pauseUpdates =>
    (request, call) => {
      const answer = command(request, call);
      fleet.touch();
      return answer;
    };
  return { pauseUpdates: wrap(pauseUpdates), resumeUpdates: wrap(resumeUpdates), cancelUpdates: wrap(cancelUpdates) };
}

/** A unit by its name. @throws ExtensionError if the settings or the pipeline do not name it */
function checkNamed(fleet: SlowrollFleet, unit: string, config: ConfigFields): string {
  if (fleet.units.has(unit) && readNamedUnits(config).includes(unit)) return unit;
  throw new ExtensionError('unknown-unit', `there is no unit ${unit} here, or not in config.units`, { status: 404 });
}

const readNamedUnits = (config: ConfigFields): string[] =>
  Array.isArray(config['units']) ? config['units'].map(String) : [];

function findUnitProblems(fleet: SlowrollFleet, config: ConfigFields): { path: string; message: string }[] {
  const units = readNamedUnits(config);
  const problem = (message: string) => ({ path: 'config.units', message });
  if (units.length === 0) return [problem('expected a list of units')];
  const names = [...fleet.units.keys()].join(', ');
  const packages = new Set(units.map((unit) => fleet.units.get(unit)?.packageName ?? unit));
  return [
    ...units
      .filter((unit) => !fleet.units.has(unit))
      .map((unit) => problem(`there is no unit ${unit}; there are ${names}`)),
    ...(packages.size > 1 ? [problem('expected units of one package: a deploy brings one version')] : []),
  ];
}

async function findPackageRefusals(
  store: PackageStore,
  packageName: string,
  version: string,
  artifacts: Target['artifacts'] | undefined,
) {
  try {
    await store.learn(packageName, version, findGiven(version, artifacts));
    return [];
  } catch (error) {
    if (error instanceof PackageTroubleError) return [{ path: 'version', message: error.message }];
    throw error;
  }
}

/** Reads the package of a version that is new. A known one may be gone from its place: hosts that have it keep it. */
async function learnTarget(fleet: SlowrollFleet, store: PackageStore, target: Target): Promise<void> {
  const packageName = fleet.units.get(target.unit)?.packageName;
  if (packageName === undefined) return;
  try {
    await store.learn(packageName, target.version, findGiven(target.version, target.artifacts));
  } catch (error) {
    if (!(error instanceof PackageTroubleError)) throw error;
    throw new ExtensionError('unknown-version', error.message, { status: 404 });
  }
}

const findGiven = (version: string, artifacts: Target['artifacts'] = []): string | undefined =>
  artifacts.find((artifact) => artifact.version === version)?.digest;
