import { FLEET_LIMITS, SHOWN_UNITS } from '../fleet/limits';
import type { Unit } from '../fleet/unit';
import { foldEvaluation, type FoldInput, type FoldResult, type HealthFold } from '../health/fold';
import { worst } from '../health/verdict';
import { formatTime, plural, withReason } from '../text';
import type { PausedGroup } from '../views';
import { listReachedParts } from './planRevert';
import type { Selection } from './snapshot';
import { note, type DeployInput, type DeployRecord } from './state';
import { unitNames } from './unavailable';

/** Units of a deploy in parallel mode that pause and resume together: one of them, or all with the same value of a label. */
export interface Group {
  /** The id of the unit, or a label such as `region:x`. */
  readonly name: string;
  readonly units: readonly string[];
}

/** The rules by which groups are judged; the groups themselves follow from the units. */
export interface GroupRules {
  readonly pauseBy: string;
  /** The number of groups that may be paused; with one more, the whole deploy is unhealthy. */
  readonly maxPaused: number | undefined;
  /** The names of the paused groups. */
  readonly paused: readonly string[];
}

/** Whether groups of units are judged and paused by themselves. A rollback checks nothing and waits for nothing. */
export const isParallel = ({ spec, rollback }: Pick<DeployInput, 'spec' | 'rollback'>): boolean =>
  spec.mode === 'parallel' && !rollback;

/** The rules for the groups that were updated so far; undefined unless in parallel mode. */
export function groupRules(
  record: DeployRecord,
  input: DeployInput,
): (GroupRules & { readonly selection: Selection }) | undefined {
  const { fleet, skipped, pausedGroups } = record;
  if (!isParallel(input) || fleet === null) return undefined;
  const { pauseBy, maxPaused } = input.spec;
  const parts = listReachedParts(record).map((part) => ({ ...part, without: [...part.without, ...skipped] }));
  const selection = { snapshot: fleet.now ?? fleet.snapshot, parts };
  return { pauseBy, maxPaused, selection, paused: pausedGroups.map(({ group }) => group) };
}

/** The result of one evaluation for the groups. */
export interface GroupVerdicts extends FoldResult {
  /** The groups to pause from now on, with the sentence of the unhealthy check, and with the first of their units if there are many. */
  readonly paused: readonly PausedByHealth[];
}

export type PausedByHealth = Group & { readonly reason: string };

/** Whether the set of paused groups has changed, by name. */
export const otherGroups = (before: readonly string[], now: readonly string[]): boolean =>
  before.length !== now.length || now.some((name) => !before.includes(name));

/** The groups by name. A unit without the label is a group by itself. */
export function groupUnits(units: readonly Unit[], pauseBy: string): Group[] {
  const groups = new Map<string, string[]>();
  for (const { id, labels } of units) {
    const value = pauseBy === 'unit' ? undefined : labels[pauseBy];
    const name = value === undefined ? id : `${pauseBy}:${value}`;
    groups.set(name, [...(groups.get(name) ?? []), id]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, ids]) => ({ name, units: ids }));
}

/** The number of groups that may be paused. By default half of them: if more are bad, the version is at fault. */
export const computePauseLimit = (maxPaused: number | undefined, groups: number): number =>
  Math.min(maxPaused ?? Math.floor(groups / 2), FLEET_LIMITS.pausedGroups);

/**
 * Folds in one evaluation. An unhealthy verdict pauses a group, and only a healthy one resumes it. While no more groups are paused
 * than allowed, the verdict is that of the others, and only they count for `passes`. Otherwise the verdict is unhealthy.
 */
export function foldGroups(
  fold: HealthFold,
  input: FoldInput,
  { maxPaused, paused }: Omit<GroupRules, 'pauseBy'>,
  groups: readonly Group[],
): GroupVerdicts {
  const limit = computePauseLimit(maxPaused, groups.length);
  const whole = foldEvaluation(fold, input);
  const judged = judgeGroups(fold, input, groups);
  const stopped = judged.filter(
    ({ name, verdict }) => verdict === 'unhealthy' || (verdict !== 'healthy' && paused.includes(name)),
  );
  const unitsIn = (name: string) => groups.find((group) => group.name === name)?.units ?? [];
  const named = stopped
    .slice(0, FLEET_LIMITS.pausedGroups + 1)
    .map(({ name, reason }) => ({ name, reason, units: unitsIn(name).slice(0, SHOWN_UNITS) }));
  const unhealthy = stopped.filter(({ verdict }) => verdict === 'unhealthy');
  if (stopped.length > limit && unhealthy.length > 0) {
    const action = unhealthy.some((group) => group.action === 'revert') ? 'revert' : 'pause';
    return { ...whole, verdict: 'unhealthy', action, reason: tooMany(stopped, unhealthy, limit), paused: named };
  }
  const isBack = paused.some((group) => !stopped.some(({ name }) => name === group));
  // A group that returns was not healthy before, so all groups begin to count anew.
  const counting = isBack ? judgeGroups(withoutPasses(fold), input, groups) : judged;
  const others = counting.filter(
    ({ name, hasEvidence }) => hasEvidence && !stopped.some((group) => group.name === name),
  );
  return {
    ...whole,
    ...together(whole, others, stopped.length > 0),
    fold: { ...withoutPasses(whole.fold), ...pickCommonPasses(others) },
    action: 'none',
    paused: named,
  };
}

const withoutPasses = (fold: HealthFold): HealthFold =>
  Object.fromEntries(Object.entries(fold).filter(([, { passes }]) => passes === undefined));

/** The number of times in a row that all of these were healthy. */
function pickCommonPasses([first, ...rest]: readonly FoldResult[]): HealthFold {
  const everywhere = ([key]: readonly [string, unknown]): boolean => rest.every(({ passes }) => key in passes);
  return Object.fromEntries(Object.entries(first?.passes ?? {}).filter(everywhere));
}

/** The record with exactly these groups paused; the same record if nothing changed. */
export function withPausedGroups(record: DeployRecord, nowMs: number, paused: GroupVerdicts['paused']): DeployRecord {
  const before = record.pausedGroups;
  const fresh = paused.filter(({ name }) => !before.some(({ group }) => group === name));
  const gone = before.filter(({ group }) => !paused.some(({ name }) => name === group));
  if (fresh.length === 0 && gone.length === 0) return record;
  const at = formatTime(nowMs);
  const added = fresh.map(({ name, units, reason }): PausedGroup => ({ group: name, units, at, reason }));
  const noted = fresh.reduce(
    (noting, { name, reason }) => note(noting, nowMs, 'group-paused', `${name} is paused by itself: ${reason}`),
    record,
  );
  return gone.reduce<DeployRecord>(
    (noting, one) => note(noting, nowMs, 'group-resumed', `${one.group} ${whyResumed(record, one)}`),
    { ...noted, pausedGroups: [...before.filter((one) => !gone.includes(one)), ...added] },
  );
}

/** Its health may be as bad as before, if a person has skipped the check. */
function whyResumed(
  { control, skipped }: Pick<DeployRecord, 'control' | 'skipped'>,
  { units, reason }: PausedGroup,
): string {
  if (units.every((unit) => skipped.includes(unit))) return 'is left out: its units are unavailable';
  const skip = control.skippedChecks.find(({ check }) => check === null || reason.startsWith(`${check} `));
  if (skip === undefined) return 'continues: its health is fine again';
  return `continues: ${withReason(`${skip.actor} skipped ${skip.check ?? 'all checks'}`, skip.reason)}`;
}

type GroupFoldResult = FoldResult & { readonly name: string; readonly hasEvidence: boolean };

/** A check of the whole deploy concerns every group. */
function judgeGroups(fold: HealthFold, input: FoldInput, groups: readonly Group[]): GroupFoldResult[] {
  const { units, deploy } = input.response;
  const answers = new Map(units.map((unit) => [unit.id, unit]));
  const isOfUnits = units.some(({ checks }) => checks.length > 0);
  return groups.map(({ name, units: ids }) => {
    const own = ids.flatMap((id) => answers.get(id) ?? []);
    // A unit that was already current has no task to judge, even if there are results for the deploy as a whole.
    const hasEvidence = isOfUnits ? own.some(({ checks }) => checks.length > 0) : deploy.checks.length > 0;
    return { name, hasEvidence, ...foldEvaluation(fold, { ...input, response: { units: own, deploy } }) };
  });
}

/** If every unit updated so far is in a paused group, there is no evidence against the others. */
function together(
  whole: FoldResult,
  others: readonly GroupFoldResult[],
  anyPaused: boolean,
): Pick<FoldResult, 'verdict' | 'young' | 'reason'> {
  if (others.length === 0) return anyPaused ? { verdict: 'healthy', young: false, reason: '' } : whole;
  const verdict = worst(others.map((group) => group.verdict));
  const reason = others.find((group) => group.verdict === verdict)?.reason ?? '';
  return { verdict, young: others.some(({ young }) => young), reason };
}

function tooMany(paused: readonly GroupFoldResult[], unhealthy: readonly GroupFoldResult[], limit: number): string {
  const names = unitNames(paused.map(({ name }) => name));
  const allowed = limit === 0 ? 'none may be' : `${limit} may be`;
  return `${plural(paused.length, 'group')} to pause (${names}), ${allowed}: ${unhealthy[0]?.reason ?? ''}`;
}
