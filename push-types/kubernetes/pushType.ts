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
  acceptUpdate,
  countLacking,
  describeUnit,
  healthTasks,
  progressOf,
  trackUpdate,
  unitOf,
  updateCommands,
} from '../../sdk/updates';
import { findPodProblems } from './checks';
import { chooseSettings, enrollConfig, parsePodsConfig, type EnrolledUnit } from './enroll';
import type { KubeFleet } from './fleet';
import { resolveImage } from './images';
import { findImage, noteImage, type KubeState } from './memory';
import { explainOwner } from './ownership';
import { explainUnfit } from './refusals';
import { listSeats } from './round';
import type { PodsConfig } from './settings';
import { rankPods } from './spread';
import { notePendingMove } from './unitMoves';
import { nameUnit, type KubeUnit, type UnitLook } from './unitReader';

/** `judgeTargets` or `remoteJudge` of the sdk, with a data source. */
export type PodsJudge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;

export interface KubernetesPushTypeOptions extends ServeOptions {
  readonly judge: PodsJudge;
  readonly allowTags: boolean;
}

/** The push type for Kubernetes. Calls read, or record the desired state and answer; `KubeFleet.step` does the work. */
export function kubernetesPushType(fleet: KubeFleet, options: KubernetesPushTypeOptions): Hono {
  const { token, maxBodyBytes } = options;
  const serving = { ...(token !== undefined && { token }), ...(maxBodyBytes !== undefined && { maxBodyBytes }) };
  return servePushType(
    'kubernetes',
    { ...answerPodLooks(fleet, options), ...answerPodChanges(fleet, options) },
    serving,
  );
}

type KubernetesMethods = Implementation<PushTypeProtocol>;
type PodLookMethods = 'validateConfig' | 'fetchDeployUnits' | 'needsPush' | 'trackUpdates' | 'runHealthChecks';

/** The methods that change nothing. */
const answerPodLooks = (
  fleet: KubeFleet,
  { judge, allowTags }: KubernetesPushTypeOptions,
): Pick<KubernetesMethods, PodLookMethods> => ({
  validateConfig: async ({ version, artifacts = [] }, { context }) => {
    const { problems, units } = await findPodProblems(fleet, context.config);
    const images = await Promise.all(
      units.map(async ({ name, unit }) => {
        const state = await fleet.preview(name, unit);
        if (version === undefined || !state.units[name]) return [];
        const found = findVersion({ state, name, unit, allowTags }, { version, artifacts });
        return 'problem' in found ? [{ path: 'version', message: found.problem }] : [];
      }),
    );
    return { problems: [...problems, ...images.flat().slice(0, 1)] };
  },

  fetchDeployUnits: async (_, { context }) => {
    const config = parsePodsConfig(context.config);
    const { units } = await enrollConfig(fleet, config);
    return {
      service: nameService(config),
      units: await Promise.all(units.map((unit) => describeEnrolled(fleet, unit))),
    };
  },

  needsPush: async ({ targets }, { context }) => {
    await knowUnits(fleet, targets, context.config);
    const config = parsePodsConfig(context.config);
    const counts = targets.map(async (target) => {
      const unit = chooseSettings(fleet, target.unit, config);
      return countLacking(unit ? await fleet.preview(target.unit, unit) : fleet.state, target);
    });
    return { units: await Promise.all(counts) };
  },

  trackUpdates: async (request, { context }) => {
    const { updateId } = request;
    // A push type that has lost its memory learns of its updates by the units of the pipeline.
    if (!fleet.state.updates[updateId]) await enrollConfig(fleet, parsePodsConfig(context.config));
    return trackUpdate(fleet.state, request, (unit) => describePodProgress(fleet, unit, updateId));
  },

  runHealthChecks: async ({ targets, checks, baseline, now }, call) => {
    await knowUnits(
      fleet,
      targets.units.map((unit) => ({ unit })),
      call.context.config,
    );
    const tasks = targets.units.map((unit) => healthTasks(fleet.state, unit, targets, baseline));
    return judge({ targets: tasks, checks, baseline, now }, call);
  },
});

/** The methods that change the desired state. */
const answerPodChanges = (
  fleet: KubeFleet,
  { allowTags }: KubernetesPushTypeOptions,
): Omit<KubernetesMethods, PodLookMethods> => ({
  executeUpdates: async (request, { key, context }) => {
    const config = parsePodsConfig(context.config);
    await knowUnits(fleet, request.targets, context.config);
    const isRevert = request.urgency === 'revert';
    // A revert keeps the settings of the updates that it takes back.
    const chosen = isRevert ? [] : request.targets.map(({ unit }) => chooseSettings(fleet, unit, config));
    const settings = chosen.filter((unit) => unit !== undefined).map((unit) => ({ name: nameUnit(unit), unit }));
    if (!fleet.state.updates[request.updateId]) {
      for (const { name, unit } of settings) await fleet.changeContainer(name, unit);
      await knowUnits(fleet, request.targets, context.config);
      for (const target of request.targets) {
        const unit = settings.find(({ name }) => name === target.unit)?.unit ?? fleet.state.enrolled?.[target.unit];
        acceptVersion(fleet, target, { unit, allowTags, isRevert });
      }
    }
    return fleet.memory.once('executeUpdates', request, key, () => {
      const before = request.targets.map(({ unit }) => {
        const { version, update } = unitOf(fleet.state, unit);
        return { unit, version, update };
      });
      acceptUpdate({ state: fleet.state, copies: orderCopies(fleet) }, request, {
        ...{ service: nameService(config), fence: context.fence },
      });
      for (const { name, unit } of settings) fleet.follow(name, unit);
      for (const { unit, version, update } of before) notePendingMove(fleet.state, unit, { version, update });
      return { accepted: request.targets.map(({ unit }) => unit) };
    });
  },

  ...updateCommands(fleet.memory),
});

const nameService = ({ service, workloads: [first] }: PodsConfig): string =>
  service ?? `${first?.namespace}/${first?.name ?? first?.selector}`;

/** Units of the pipeline, read at least once. @throws ExtensionError for others, and, to be tried again, for those that no cluster has answered for */
async function knowUnits(
  fleet: KubeFleet,
  targets: readonly { readonly unit: string }[],
  config: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = targets.map(({ unit }) => unit);
  const known = names.every((name) => fleet.isKnown(name))
    ? undefined
    : await enrollConfig(fleet, parsePodsConfig(config));
  for (const name of names) {
    if (fleet.isKnown(name)) continue;
    const isListed = known?.units.some((one) => one.name === name) || fleet.state.enrolled?.[name] !== undefined;
    if (isListed)
      throw new ExtensionError('not-ready', `${name}: ${fleet.whyAway(name) ?? 'not read yet'}`, { retryable: true });
    throw new ExtensionError('unknown-unit', `there is no unit ${name} in the clusters and workloads of config`, {
      status: 404,
    });
  }
}

async function describeEnrolled(fleet: KubeFleet, { name, unit, cluster, workload }: EnrolledUnit) {
  const { namespace, kind } = unit;
  const look = fleet.lastUnitLook(name);
  const labels = {
    ...workload?.labels,
    ...(look && placeUnit(look)),
    ...cluster.labels,
    cluster: cluster.name,
    namespace,
    kind,
  };
  const state = await fleet.preview(name, unit);
  if (!state.units[name]) return { id: name, labels, size: 0, version: null, mixed: false, available: false };
  return { id: name, labels, ...describeUnit(state, name), available: fleet.whyAway(name) === undefined };
}

/** The region and the zone of a unit whose nodes are all in the same one. */
function placeUnit({ pods, nodes }: UnitLook): Readonly<Record<string, string>> {
  const own = pods.flatMap(({ node }) => nodes.get(node ?? '') ?? []);
  return Object.fromEntries(
    (['region', 'zone'] as const).flatMap((label) => {
      const [only = '', ...others] = new Set(own.map((node) => node[label]));
      return only === '' || others.length > 0 ? [] : [[label, only]];
    }),
  );
}

function describePodProgress(fleet: KubeFleet, unit: string, updateId: string) {
  const progress = progressOf(fleet.state, unit, updateId);
  const away = fleet.whyAway(unit);
  return away === undefined || progress.state === 'done' ? progress : { ...progress, reason: away };
}

interface VersionPlace {
  readonly state: KubeState;
  readonly name: string;
  readonly unit: KubeUnit | undefined;
  readonly allowTags: boolean;
}

/** The image of a version: as known, or by its artifact. */
function findVersion(
  { state, name, unit, allowTags }: VersionPlace,
  { version, artifacts }: Pick<Target, 'version' | 'artifacts'>,
): { readonly image: string } | { readonly problem: string } {
  const known = state.images?.[name]?.[version];
  const { version: present, slots } = unitOf(state, name);
  const isRunning = present === version || slots.some((slot) => slot.version === version);
  const hasDigest = artifacts.some(({ digest }) => digest !== undefined);
  if (!hasDigest && (known !== undefined || isRunning)) return { image: findImage(state, name, version) };
  const running = findImage(state, name, present);
  return resolveImage({ version, artifacts, repository: unit?.image, running, allowTags });
}

interface Acceptance {
  readonly unit: KubeUnit | undefined;
  readonly allowTags: boolean;
  readonly isRevert: boolean;
}

/** @throws ExtensionError for a version without an image, and for a forward update of a workload that must not change */
function acceptVersion(fleet: KubeFleet, target: Target, { unit, allowTags, isRevert }: Acceptance): void {
  const found = findVersion({ state: fleet.state, name: target.unit, unit, allowTags }, target);
  if ('problem' in found) throw new ExtensionError('unknown-version', found.problem, { status: 404 });
  const look = fleet.lastUnitLook(target.unit);
  const unfit =
    isRevert || !unit || !look
      ? undefined
      : (explainOwner(look.workload, fleet.owner) ?? explainUnfit(look.workload, unit.container));
  if (unfit !== undefined) throw new ExtensionError('unfit', unfit, { status: 409 });
  noteImage(fleet.state, target.unit, target.version, found.image);
}

/** Pods change spread over zones and nodes. */
function orderCopies(fleet: KubeFleet) {
  const ranks = new Map<string, ReadonlyMap<number, number>>();
  return {
    hasVersion: () => true,
    rank: (unit: string, index: number, version: string): number => {
      const known = ranks.get(`${unit} ${version}`) ?? rankUnit(fleet, unit, version);
      ranks.set(`${unit} ${version}`, known);
      return known.get(index) ?? index;
    },
  };
}

function rankUnit(fleet: KubeFleet, unit: string, version: string): ReadonlyMap<number, number> {
  const look = fleet.lastUnitLook(unit);
  if (look === undefined) return new Map();
  return rankPods(
    listSeats({ state: fleet.state, name: unit, look }).map(({ index, slot, pod }) => ({
      ...{ index, node: pod.node ?? '', zone: look.nodes.get(pod.node ?? '')?.zone ?? '' },
      isThere: slot.version === version,
    })),
  );
}
