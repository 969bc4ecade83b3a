import { combineVersions, pickIdentity } from '../artifact';
import type { Inheritance } from '../deploy/planRevert';
import { trimCommands } from '../commandTrim';
import { STATE_LIMITS, type Limit } from '../limits';
import { jsonBytes, newestWithin } from '../size';
import type { OmittedCounts } from '../views';
import type { GoodDeploy, PipelineState } from './state';

/**
 * The state of a pipeline within its limits (domain/limits.ts), for any input. History and idempotency keys take the room that the
 * rest leaves, so an ordinary pipeline keeps all of them, and a full one keeps some.
 */
export function fitState(state: PipelineState, before: PipelineState = state): PipelineState {
  const within = withinShares(state, before);
  const { history, keys, ...rest } = within;
  const limits = STATE_LIMITS;
  const room = limits.state.max - NAMES_OF_FIELDS - jsonBytes(rest);
  const forHistory = between(limits.historyAtLeast.max, room - limits.keysAtLeast.max, limits.historyTogether.max);
  const keptHistory = newestWithin(history, forHistory, limits.history.max);
  const forKeys = between(limits.keysAtLeast.max, room - jsonBytes(keptHistory), limits.keysTogether.max);
  return withOnly(within, { history: keptHistory, keys: newestWithin(keys, forKeys, limits.keys.max) });
}

const NAMES_OF_FIELDS = 1024;

const between = (least: number, wanted: number, most: number): number => Math.max(least, Math.min(wanted, most));

const keepNewestEntries = <T>(all: Readonly<Record<string, T>>, count: number): Readonly<Record<string, T>> =>
  Object.keys(all).length <= count ? all : Object.fromEntries(Object.entries(all).slice(-count));

function withinShares(state: PipelineState, before: PipelineState): PipelineState {
  const { commandsTogether, commands, begun } = STATE_LIMITS;
  return withOnly(state, {
    good: goodWithin(state),
    commands: trimCommands(state.commands, commands.max, commandsTogether.max),
    newestBegun: keepNewestEntries(state.newestBegun, begun.max),
    inputs: inputsWithin(state),
    followed: newestOfEach(state.followed, STATE_LIMITS.followedPerArtifact, STATE_LIMITS.followed),
    ...(state.uses ? { uses: newestOfEach(state.uses, STATE_LIMITS.usesPerAction, STATE_LIMITS.uses) } : {}),
    ...limitInherited(state, before),
  });
}

/** The same object if nothing had to be cut. */
function withOnly(state: PipelineState, kept: Partial<PipelineState>): PipelineState {
  const entries = Object.entries(kept) as [keyof PipelineState, unknown][];
  return entries.every(([key, value]) => value === state[key]) ? state : { ...state, ...kept };
}

type Good = PipelineState['good'];

/** The number of deploys that stay of each action: the running version, and the version for a rollback. */
const GENERATIONS = 2;

/**
 * The good deploys, within their share. Dropped in this order, until they fit: actions that the pipeline no longer has; all but the
 * two newest deploys of each action; all but the identity and place of the artifacts, first of the older, then of the newer; at
 * last the older deploy.
 */
function goodWithin({ good, spec }: PipelineState): Good {
  if (jsonBytes(good) <= STATE_LIMITS.good.max) return good;
  const steps: readonly ((good: Good) => Good)[] = [
    (all) => Object.fromEntries(Object.entries(all).filter(([action]) => spec.actions[action] !== undefined)),
    (all) => ofEach(all, (deploys) => deploys.slice(-GENERATIONS)),
    (all) => ofEach(all, (deploys) => deploys.map((one, at) => (at < deploys.length - 1 ? shorter(one) : one))),
    (all) => ofEach(all, (deploys) => deploys.map(shorter)),
    (all) => ofEach(all, (deploys) => deploys.slice(-1)),
  ];
  return steps.reduce((left, step) => (jsonBytes(left) > STATE_LIMITS.good.max ? step(left) : left), good);
}

const ofEach = (good: Good, keep: (deploys: readonly GoodDeploy[]) => readonly GoodDeploy[]): Good =>
  Object.fromEntries(Object.entries(good).map(([action, deploys]) => [action, keep(deploys)]));

const shorter = ({ artifacts, held: _held, ...deploy }: GoodDeploy): GoodDeploy => ({
  ...deploy,
  version: deploy.removed ? deploy.version : combineVersions(artifacts),
  artifacts: artifacts.map((one) => ({ ...pickIdentity(one), ...(one.uri === undefined ? {} : { uri: one.uri }) })),
});

/** The latest value of each artifact; values that the pipeline no longer takes stay as long as there is room. */
function inputsWithin({ inputs, spec }: PipelineState): PipelineState['inputs'] {
  if (jsonBytes(inputs) <= STATE_LIMITS.inputs.max) return inputs;
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => Object.hasOwn(spec.artifacts, name)));
}

type Lists = Readonly<Record<string, readonly string[]>>;

/** As many of the newest entries of each list as fit. */
function newestOfEach(lists: Lists, each: Limit, together: Limit): Lists {
  let kept = lists;
  for (let count = each.max; count >= 1; count = Math.floor(count / 2)) {
    if (jsonBytes(kept) <= together.max) return kept;
    kept = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.slice(-count)]));
  }
  return kept;
}

/**
 * The inheritances, within their share: the newest in full; of the others, only the versions left behind. The earlier versions of units
 * and the list of units settled since make sense only together. So both are dropped at once, and the number of dropped units is counted.
 */
function limitInherited(state: PipelineState, before: PipelineState): Partial<PipelineState> {
  const { inherited, inheritedOmitted = {} } = state;
  const isAll = Object.values(inherited).every(({ settled = [] }) => settled.length <= SETTLED);
  const hasRoom = isAll && jsonBytes(inherited) <= STATE_LIMITS.inherited.max;
  if (hasRoom && Object.keys(inheritedOmitted).length === 0) return {};
  let room: number = STATE_LIMITS.inherited.max;
  const omitted: Record<string, number> = {};
  const kept = Object.entries(inherited)
    .reverse()
    .map(([action, whole]) => {
      const one = inheritanceWithin(whole, room - ENTRY_BYTES - jsonBytes(action));
      room -= ENTRY_BYTES + jsonBytes(action) + jsonBytes(one);
      // The number that was dropped earlier, if the versions left behind are still the same.
      const earlier = before.inherited[action]?.left === whole.left ? (inheritedOmitted[action] ?? 0) : 0;
      const gone = earlier + (one === whole ? 0 : countPasts(whole));
      if (gone > 0) omitted[action] = gone;
      return [action, one] as const;
    });
  return { inherited: Object.fromEntries(kept.reverse()), inheritedOmitted: omitted satisfies OmittedCounts };
}

/** The limit for units that follow-ons have settled since; with more, the earlier versions count as unknown. */
const SETTLED = STATE_LIMITS.inheritedSettled.max;
const ENTRY_BYTES = 32;

function inheritanceWithin(inheritance: Inheritance, bytes: number): Inheritance {
  const { left, settled = [] } = inheritance;
  if (settled.length <= SETTLED && jsonBytes(inheritance) <= bytes) return inheritance;
  return { left: newestWithin(left, Math.max(0, bytes)), before: { units: [] } };
}

const countPasts = ({ before }: Inheritance): number => ('units' in before ? before.units.length : before.pages);
