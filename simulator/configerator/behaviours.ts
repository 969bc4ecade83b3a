import type { Configerator } from './configerator';
import { listPresentSubscribers } from './lookups';
import { answerAt } from './past';
import type { HostGroup } from './state';
import type { Acts, ValueBehaviour, When } from './valueBehaviour';

/** A host at a time, and the version that its task runs then: values may act on it. */
export interface BehaviourContext {
  readonly host: number;
  readonly at: number;
  readonly version: string | null;
}

/** The effect on a host of the values that it has. A point measures the time before it, so a value once read never changes. */
export function computeActs(it: Configerator, acted: BehaviourContext): Acts {
  const { state } = it;
  const { groups, hosts, past, cells } = state;
  const group = groups[hosts.group[acted.host] ?? 0];
  if (group === undefined) return {};
  const acting = behavioursAt(state.behaviours, acted.at - 1).filter((one) => {
    const nth = group.paths.indexOf(one.of);
    if (nth < 0 || (one.version !== null && one.version !== acted.version)) return false;
    if (one.spec.onlyRegion !== undefined && one.spec.onlyRegion !== group.region) return false;
    const cell = (hosts.firstCell[acted.host] ?? 0) + nth;
    const answer = answerAt(past, cells.latest, cell, acted.at - 1);
    return answer !== undefined && isMeant(it, one, answer) && isSpread(it, one, acted.at - 1);
  });
  return acting.reduce<Acts>((sum, { spec }) => combineActs(sum, spec), {});
}

/** Why the application of a host refuses an answer, if it does. */
export function refusalByValue(it: Configerator, answer: number, { paths, region }: HostGroup): string | undefined {
  return behavioursAt(it.state.behaviours, it.world.now).find(
    (one) =>
      one.spec.refuses !== undefined &&
      paths.includes(one.of) &&
      (one.spec.onlyRegion ?? region) === region &&
      isMeant(it, one, answer),
  )?.spec.refuses;
}

export const combineActs = <A extends Acts>(one: A, other: Acts): A => ({
  ...one,
  errorRatio: (one.errorRatio ?? 0) + (other.errorRatio ?? 0),
  crashesPerMinute: (one.crashesPerMinute ?? 0) + (other.crashesPerMinute ?? 0),
  cpuFactor: (one.cpuFactor ?? 1) * (other.cpuFactor ?? 1),
  latencyFactor: (one.latencyFactor ?? 1) * (other.latencyFactor ?? 1),
  connectionsFactor: (one.connectionsFactor ?? 1) * (other.connectionsFactor ?? 1),
  engagementFactor: (one.engagementFactor ?? 1) * (other.engagementFactor ?? 1),
});

/** The newest behaviour of each key. */
function behavioursAt(all: readonly ValueBehaviour[], at: number): ValueBehaviour[] {
  const newest = new Map<string, ValueBehaviour>();
  for (const one of all) if (one.since <= at) newest.set(one.key, one);
  return [...newest.values()];
}

const knownMatches = new WeakMap<ValueBehaviour, Map<number, boolean>>();

/** Matches each value once, however many hosts have it. */
function isMeant({ state }: Configerator, behaviour: ValueBehaviour, index: number): boolean {
  const known = knownMatches.get(behaviour) ?? new Map<number, boolean>();
  knownMatches.set(behaviour, known);
  let holds = known.get(index);
  if (holds === undefined) {
    const answer = state.answers[index];
    holds = answer?.of === behaviour.of && answer.value !== null && isConditionMet(behaviour.when, answer.value);
    known.set(index, holds);
  }
  return holds;
}

function isConditionMet({ field, equals, above, below, contains }: When, text: string): boolean {
  if (contains !== undefined && !text.includes(contains)) return false;
  if (equals === undefined && above === undefined && below === undefined) return true;
  const value = fieldOfValue(parseJsonOrText(text), field);
  if (equals !== undefined && JSON.stringify(value) !== JSON.stringify(equals)) return false;
  if (above !== undefined && !(typeof value === 'number' && value > above)) return false;
  return below === undefined || (typeof value === 'number' && value < below);
}

/** A value that is not JSON counts as a text. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const fieldOfValue = (value: unknown, field: string | undefined): unknown =>
  (field?.split('.') ?? []).reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[name] : undefined,
    value,
  );

const shares = new WeakMap<ValueBehaviour, Map<number, number>>();

/** Whether the share of present hosts that have such a value has reached `atShare` at a time. */
function isSpread(it: Configerator, behaviour: ValueBehaviour, at: number): boolean {
  const { atShare } = behaviour.spec;
  if (atShare === undefined) return true;
  const known = shares.get(behaviour) ?? new Map<number, number>();
  shares.set(behaviour, known);
  let share = known.get(at);
  if (share === undefined) known.set(at, (share = shareAt(it, behaviour, at)));
  return share >= atShare;
}

function shareAt(it: Configerator, behaviour: ValueBehaviour, at: number): number {
  const { state } = it;
  const there = listPresentSubscribers(it, behaviour.of);
  const having = there.filter((host) => {
    const nth = state.groups[state.hosts.group[host] ?? 0]?.paths.indexOf(behaviour.of) ?? 0;
    const answer = answerAt(state.past, state.cells.latest, (state.hosts.firstCell[host] ?? 0) + nth, at);
    return answer !== undefined && isMeant(it, behaviour, answer);
  });
  return there.length === 0 ? 0 : having.length / there.length;
}
