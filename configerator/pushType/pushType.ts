import type { Hono } from 'hono';
import { CONFIG_LIMITS } from '../../domain/limits';
import { whyNotConfigPath } from '../domain/path';
import type { UnitProgress } from '../../domain/fleet/unit';
import type { JudgeRequest, JudgeResponse } from '../../sdk/health';
import type { RequestOf } from '../../sdk/protocol/common';
import type { PushTypeProtocol } from '../../sdk/protocol/pushType';
import { ExtensionError, servePushType, type Call, type MutatingCall, type ServeOptions } from '../../sdk/server';
import { progressOf, slotsOf } from '../../sdk/updates/choose';
import type { Slot, State } from '../../sdk/updates/memory';
import { acceptUpdate, commandUpdate, type Verb } from '../../sdk/updates/updates';
import { takeAlong } from './updates';
import type { ConfigFleet } from './fleet';
import { hostsToJudge } from './hostsToJudge';
import type { Requester } from './memory';
import { asRefusal } from './refusal';
import { acceptDeletion } from './removals';
import { countHosts, isRemoved, toDeletionProgress } from './removalVersion';
import { findVersionProblems, refuseImpossible, refuseOutdated } from './versionRefusals';
import type { ConfigServiceState } from './serviceState';
import { serviceName, type ConfigPush } from './service';
import { getUnitRegion, findSharedLabels } from './subscribers';
import type { WantedVersion } from './versions';

export type Judge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;
type Config = Readonly<Record<string, unknown>>;

/** The parts of a fleet that the push type needs. */
export type Deployable = Pick<
  ConfigFleet,
  'memory' | 'prepare' | 'whyNotDeployed' | 'refuseBusyPaths' | 'landingWait' | 'step'
>;

function accept(served: ConfigServiceState, asked: Parameters<typeof acceptUpdate>[1], context: Call['context']): void {
  acceptUpdate(served.updatable(), asked);
  served.service.requester = toRequester(context, asked.urgency === 'revert');
  takeAlong(served, asked.updateId);
}

const toRequester = ({ deployId: deploy, actor }: Call['context'], isRevert: boolean): Requester =>
  isRevert ? { deploy } : { deploy, actor };

/**
 * The push type of configuration (docs/design/config.md#push-type): a unit is the subscribers of a region, a task is one subscriber.
 *
 * @param judge `judgeTargets` or `remoteJudge` of the sdk, with a data source
 */
export const configPushType = (fleet: Deployable, judge: Judge, options?: ServeOptions): Hono =>
  servePushType(
    'config',
    {
      validateConfig: (asked, { context }) => validatePush(fleet, asked, context),

      fetchDeployUnits: async (_, { context }) => {
        const served = await prepareService(fleet, context.config);
        return { service: served.name, units: served.units.map((id) => deployUnit(served, id)) };
      },

      needsPush: async ({ targets }, { context }) => {
        const served = await prepareService(fleet, context.config, targets);
        return {
          units: targets.map((target) => {
            const size = countHosts(served.unit(requireUnit(served, target.unit)));
            const version = served.meant(target);
            return { id: target.unit, size, outdated: slotsOf(served.state, { ...target, version }).length };
          }),
        };
      },

      executeUpdates: async (asked, { key, context }) => {
        const served = await prepareService(fleet, context.config, asked.targets);
        const targets = asked.targets.map((target) => ({ ...target, version: served.meant(target) }));
        const isNew = served.state.updates[asked.updateId] === undefined;
        if (asked.urgency === 'normal' && isNew)
          for (const [version, target] of new Map(targets.map((one) => [one.version, one]))) {
            await asRefusal(() => fleet.refuseBusyPaths(served, version, asked.updateId));
            await refuseImpossible(served, asked.updateId, () =>
              fleet.whyNotDeployed(parseConfigPush(context.config), target),
            );
          }
        const answer = fleet.memory.once('executeUpdates', asked, key, () => {
          const accepted = targets.map(({ unit }) => requireUnit(served, unit));
          if (asked.urgency === 'normal' && isNew) refuseOutdated(served, asked.updateId, context.fence);
          accept(served, { ...asked, targets }, context);
          return { accepted };
        });
        wake(fleet, served.name);
        return answer;
      },

      trackUpdates: ({ updateId, units }, { context }) => {
        const { state } = fleet.memory;
        const update = state.updates[updateId];
        if (!update) throw new ExtensionError('unknown-update', `there is no update ${updateId}`, { status: 404 });
        const name = serviceName(parseConfigPush(context.config));
        wake(fleet, name);
        const wait = fleet.landingWait(name);
        const asked = Object.keys(update.units).filter((unit) => units?.includes(unit) ?? true);
        const progress = asked.map((unit) => {
          const { version } = update.units[unit] ?? {};
          return toDeletionProgress(version, untilLanded(progressOf(withUnit(state, unit), unit, updateId)));
        });
        return { units: progress.map((one) => (one.state === 'updating' && wait ? { ...wait, ...one } : one)) };
      },

      ...commands(fleet),

      removeUnits: (asked, call) => removeServiceUnits(fleet, asked, call),

      runHealthChecks: async ({ targets, checks, baseline, now }, call) => {
        const served = await prepareService(fleet, call.context.config);
        const tasks = targets.units.map((unit) => hostsToJudge(served, requireUnit(served, unit), targets));
        return judge({ targets: tasks, checks, baseline, now }, call);
      },
    },
    options,
  );

const present = (slots: readonly Slot[]): Slot[] => slots.filter((slot) => !slot.gone);

/**
 * An update that has to land is not complete before that, even if all of its hosts have the value: one counts as
 * missing.
 */
function untilLanded<P extends Pick<UnitProgress, 'state' | 'targeted' | 'gone' | 'updated' | 'live'>>(progress: P): P {
  const { state, gone, updated, live } = progress;
  if (state === 'done' || state === 'failed' || live < progress.targeted - gone) return progress;
  const targeted = Math.max(progress.targeted, gone + 1);
  const most = targeted - gone - 1;
  return { ...progress, targeted, updated: Math.min(updated, most), live: most };
}

async function removeServiceUnits(
  fleet: Deployable,
  asked: RequestOf<PushTypeProtocol['removeUnits']>,
  { key, context }: MutatingCall,
): Promise<{ accepted: string[] }> {
  const served = await prepareService(fleet, context.config);
  const answer = fleet.memory.once('removeUnits', asked, key, () => {
    const accepted = asked.units.map((unit) => requireUnit(served, unit));
    acceptDeletion(served, asked, context.fence);
    if (accepted.length > 0) served.service.requester = toRequester(context, false);
    return { accepted };
  });
  wake(fleet, served.name);
  return answer;
}

/** A unit without hosts is recreated for the request. */
const withUnit = (state: State, unit: string): State =>
  state.units[unit] ? state : { ...state, units: { ...state.units, [unit]: NO_UNIT } };

const NO_UNIT = { version: '', update: null, starts: [], slots: [] };

/** Every request also advances the service. */
const wake = (fleet: Deployable, name: string): void => void fleet.step(name).catch(() => undefined);

function commands(fleet: Deployable) {
  const command =
    (verb: Verb) =>
    (request: Parameters<typeof commandUpdate>[2], { key }: { readonly key: string }) =>
      fleet.memory.once(verb, request, key, () => {
        commandUpdate({ state: fleet.memory.state, copies: { hasVersion: () => true } }, verb, request);
        return {};
      });
  return { pauseUpdates: command('pause'), resumeUpdates: command('resume'), cancelUpdates: command('cancel') };
}

function deployUnit(served: ConfigServiceState, id: string) {
  const unit = served.unit(id);
  const { slots } = unit;
  const there = present(slots);
  const size = countHosts(unit);
  const region = getUnitRegion(served.name, id);
  const { repository } = served.service;
  const own = { repository, ...(region === undefined ? {} : { region }) };
  const subscribers = slots.flatMap((slot, index) => (slot.gone ? [] : (served.subscriberOf(id, index) ?? [])));
  const shared = findSharedLabels(subscribers, Object.keys(own));
  return {
    id,
    labels: { ...shared, ...own },
    size,
    version: size === 0 && isRemoved(unit) ? null : unit.version,
    mixed: new Set(there.map((slot) => slot.version)).size > 1,
    available: true,
  };
}

function findConfigProblems({ repository, paths }: Config): { path: string; message: string }[] {
  const problem = (path: string, message: string) => [{ path, message }];
  if (typeof repository !== 'string' || repository === '')
    return problem('config.repository', 'expected the name of a repository of configuration');
  if (!Array.isArray(paths) || paths.length === 0)
    return problem('config.paths', 'expected the paths that this pipeline owns, such as [feed/]');
  if (paths.length > CONFIG_LIMITS.ownedPaths.max)
    return problem('config.paths', `expected at most ${CONFIG_LIMITS.ownedPaths.max} paths`);
  const wrong = paths.findIndex((path) => typeof path !== 'string' || whyNotConfigPath(path.replace(/\/$/, '')));
  const why = wrong < 0 ? undefined : whyNotConfigPath(String(paths[wrong]).replace(/\/$/, ''));
  return wrong < 0 ? [] : problem(`config.paths.${wrong}`, `expected a path: ${why ?? 'it is not text'}`);
}

function parseConfigPush(config: Config): ConfigPush {
  const [problem] = findConfigProblems(config);
  if (problem) throw new ExtensionError('invalid-config', `${problem.path}: ${problem.message}`);
  const { repository, paths } = config as unknown as ConfigPush;
  return { repository, paths };
}

async function validatePush(
  fleet: Deployable,
  { version, artifacts = [] }: Partial<WantedVersion>,
  context: Call['context'],
): Promise<{ problems: { path: string; message: string }[] }> {
  const problems = findConfigProblems(context.config);
  if (problems.length > 0) return { problems };
  try {
    await prepareService(fleet, context.config);
    if (version === undefined) return { problems: [] };
    const config = parseConfigPush(context.config);
    return { problems: await findVersionProblems(() => fleet.whyNotDeployed(config, { version, artifacts })) };
  } catch (error) {
    if (!(error instanceof ExtensionError) || error.retryable) throw error;
    return { problems: [{ path: 'config.repository', message: error.message }] };
  }
}

/** The requested service, with present data. */
const prepareService = (
  fleet: Deployable,
  config: Config,
  targets?: readonly WantedVersion[],
): Promise<ConfigServiceState> => asRefusal(() => fleet.prepare(parseConfigPush(config), targets));

function requireUnit(served: ConfigServiceState, unit: string): string {
  if (served.knows(unit)) return unit;
  throw new ExtensionError('unknown-unit', `no host subscribes to ${served.name} under ${unit}`, { status: 404 });
}
