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
} from '../../sdk';
import {
  acceptRemoval,
  acceptUpdate,
  countLacking,
  deployOf,
  describeUnit,
  healthTasks,
  trackUpdate,
  unitOf,
  updateCommands,
  type Slot,
} from '../../sdk/updates';
import type { HostFleet } from './fleet';
import { PackageError, type Packages } from './packages';

/** `judgeTargets` or `remoteJudge` of the sdk, with a data source. */
export type HostsJudge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;

export interface HostsPushTypeOptions extends ServeOptions {
  readonly service: string;
  readonly packages: Packages;
  readonly judge: HostsJudge;
  /** The labels of a unit. */
  readonly labels: (unit: string) => Readonly<Record<string, string>>;
  readonly canShift: boolean;
}

/** The push type for hosts over SSH. Calls read, or record the desired state and answer; `HostFleet.step` does the work. */
export function hostsPushType(fleet: HostFleet, options: HostsPushTypeOptions): Hono {
  const { token, maxBodyBytes } = options;
  const serving = { ...(token !== undefined && { token }), ...(maxBodyBytes !== undefined && { maxBodyBytes }) };
  return servePushType('hosts', { ...answerLooks(fleet, options), ...answerChanges(fleet, options) }, serving);
}

type HostsMethods = Implementation<PushTypeProtocol>;
type LookMethods = 'validateConfig' | 'fetchDeployUnits' | 'needsPush' | 'trackUpdates' | 'runHealthChecks';

/** The methods that change nothing. */
const answerLooks = (
  fleet: HostFleet,
  { service, packages, judge, labels }: HostsPushTypeOptions,
): Pick<HostsMethods, LookMethods> => ({
  validateConfig: async ({ version, artifacts }, { context }) => ({
    problems: [
      ...findConfigProblems(fleet, context.config),
      ...(version === undefined ? [] : await findPackageProblems(packages, version, artifacts)),
    ],
  }),

  fetchDeployUnits: (_, { context }) => ({
    service,
    units: readConfigUnits(context.config).map((id) => {
      const slots = listSlots(fleet, id);
      const { version, ...rest } = describeUnit(fleet.state, id);
      const available = slots.length === 0 || slots.some(({ isUnreachable }) => !isUnreachable);
      return { id, labels: labels(id), ...rest, version: version || null, available };
    }),
  }),

  needsPush: ({ targets }) => ({
    units: targets.map((target) => countLacking(fleet.state, { ...target, unit: checkUnit(fleet, target.unit) })),
  }),

  trackUpdates: (request) => trackUpdate(fleet.state, request),

  runHealthChecks: ({ targets, checks, baseline, now }, call) => {
    const tasks = targets.units.map((unit) => healthTasks(fleet.state, checkUnit(fleet, unit), targets, baseline));
    return judge({ targets: tasks, checks, baseline, now }, call);
  },
});

/** The methods that change the desired state. */
const answerChanges = (
  fleet: HostFleet,
  { service, packages, canShift }: HostsPushTypeOptions,
): Omit<HostsMethods, LookMethods> => ({
  executeUpdates: async (request, { key, context }) => {
    if (!fleet.state.updates[request.updateId])
      for (const target of request.targets) await learnVersion(fleet, packages, target);
    return fleet.memory.once('executeUpdates', request, key, () => {
      const accepted = request.targets.map(({ unit }) => checkUnit(fleet, unit, context.config));
      const copies = { hasVersion: (version: string) => isKnownVersion(fleet, packages, version) };
      acceptUpdate({ state: fleet.state, copies }, request, { service, fence: context.fence });
      endShifts(fleet, request.updateId, accepted);
      return { accepted };
    });
  },

  ...updateCommands(fleet.memory),

  removeUnits: (request, { key, context }) =>
    fleet.memory.once('removeUnits', request, key, () => {
      const accepted = request.units.map((unit) => checkUnit(fleet, unit, context.config));
      acceptRemoval(fleet, request, { service, fence: context.fence });
      return { accepted };
    }),

  prefetch: async ({ targets }) => {
    for (const target of targets) await learnVersion(fleet, packages, target);
    for (const { version } of targets) void packages.get(version).catch(() => undefined);
    return {};
  },

  ...(canShift && { shiftTraffic: answerShift(fleet) }),
});

/** Answers once the weights are set. */
const answerShift =
  (fleet: HostFleet): NonNullable<HostsMethods['shiftTraffic']> =>
  async (request, { key, context }) => {
    const { units, percent, toVersion } = request;
    fleet.memory.once('shiftTraffic', request, key, () => {
      for (const unit of units) checkUnit(fleet, unit);
      const traffic = (fleet.state.traffic ??= {});
      for (const unit of units) traffic[unit] = { version: toVersion, percent, deploy: context.deployId };
      return {};
    });
    await Promise.all(units.map((unit) => fleet.weigh(unit)));
    return {};
  };

/** A unit by its name. @throws ExtensionError if the inventory or the pipeline does not name it, and, to be tried again, if no host has answered yet */
function checkUnit(fleet: HostFleet, unit: string, config?: Readonly<Record<string, unknown>>): string {
  if (fleet.isReady(unit) && (config === undefined || readConfigUnits(config).includes(unit))) return unit;
  if (fleet.isListed(unit) && !fleet.isReady(unit))
    throw new ExtensionError('not-ready', `no host of ${unit} has answered yet`, { retryable: true });
  throw new ExtensionError('unknown-unit', `there is no unit ${unit} here, or not in config.units`, { status: 404 });
}

const listSlots = (fleet: HostFleet, unit: string): readonly Slot[] =>
  unitOf(fleet.state, checkUnit(fleet, unit)).slots.filter(({ gone }) => !gone);

/** A share that an earlier deploy has set does not hold for this one. */
function endShifts({ state }: HostFleet, updateId: string, units: readonly string[]): void {
  for (const unit of units) {
    const share = state.traffic?.[unit];
    if (state.traffic && share && share.deploy !== deployOf(updateId)) state.traffic[unit] = { ...share, isOver: true };
  }
}

const readConfigUnits = (config: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(config['units']) ? config['units'].map(String) : [];

function findConfigProblems(
  fleet: HostFleet,
  config: Readonly<Record<string, unknown>>,
): { path: string; message: string }[] {
  const units = readConfigUnits(config);
  const problem = (message: string) => ({ path: 'config.units', message });
  if (units.length === 0) return [problem('expected a list of units')];
  const names = fleet.unitNames.join(', ') || 'none';
  return units
    .filter((unit) => !fleet.isListed(unit))
    .map((unit) => problem(`there is no unit ${unit}; there are ${names}`));
}

async function findPackageProblems(packages: Packages, version: string, artifacts: Target['artifacts'] | undefined) {
  try {
    await packages.learn(version, findDigest(version, artifacts));
    return [];
  } catch (error) {
    if (error instanceof PackageError) return [{ path: 'version', message: error.message }];
    throw error;
  }
}

/** Finds the digest of a version. A revert brings none, and may go back to a release that hosts still have. */
async function learnVersion(fleet: HostFleet, packages: Packages, { version, artifacts }: Target): Promise<void> {
  try {
    await packages.learn(version, findDigest(version, artifacts));
  } catch (error) {
    if (!(error instanceof PackageError) || isKnownVersion(fleet, packages, version)) return;
    throw new ExtensionError('unknown-version', error.message, { status: 404 });
  }
}

const findDigest = (version: string, artifacts: Target['artifacts'] = []): string | undefined =>
  artifacts.find((artifact) => artifact.version === version)?.digest;

/** A version has a package, or is one that a host has had. */
const isKnownVersion = (fleet: HostFleet, packages: Packages, version: string): boolean =>
  packages.digest(version) !== undefined ||
  Object.values(fleet.state.units).some(
    (unit) => unit.version === version || unit.slots.some((slot) => slot.version === version),
  );
