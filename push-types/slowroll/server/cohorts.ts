import type { HealthTargets, UnitTasks } from '../../../sdk';
import { withReverts } from '../../../sdk/updates';
import { passHosts } from './countHosts';
import type { RolloutDecision } from './decisions';
import { REPORT_KIND } from './hostRecords';
import { countCause, type CauseCounts } from './hostTroubles';
import type { SlowrollFleet, UnitPlace } from './slowrollFleet';

/**
 * Hosts in groups: all whose last decision in a unit is the same. A million series are too many for a metric, so a cohort has one series with the label `task`, and
 * health is judged by cohorts.
 */
export interface Cohort {
  /** `agent/eu@17`: the unit, and the generation of the decision; `agent/eu@0` for hosts without one. */
  readonly task: string;
  readonly unit: string;
  readonly decision: RolloutDecision | undefined;
  readonly version: string;
  /** The number of the version; 0 for none. */
  readonly number: number;
  hosts: number;
  live: number;
  failed: number;
  unreachable: number;
  unknown: number;
  /** Its agents try again. */
  troubled: number;
  causes: CauseCounts;
}

export const nameCohort = (unit: string, decision: RolloutDecision | undefined): string =>
  `${unit}@${decision?.generation ?? 0}`;

/** The cohorts of a unit that have hosts, by what hosts were offered last. */
export function countCohorts(fleet: SlowrollFleet, place: UnitPlace): Cohort[] {
  const cohorts = new Map<RolloutDecision | undefined, Cohort>();
  passHosts(fleet, place, ({ index, records, current, isSilent }) => {
    const cohort = cohorts.get(current) ?? makeCohort(place.unit, current, fleet.versions.find(current?.version ?? ''));
    cohorts.set(current, cohort);
    cohort.hosts += 1;
    const version = records.version[index] ?? 0;
    // Agents report a failure until they bring another version: only that of the decided one counts.
    const hasFailed = cohort.number !== 0 && records.failed[index] === cohort.number;
    const trouble = records.trouble[index] ?? 0;
    if (isSilent) cohort.unreachable += 1;
    else if (records.reported[index] === REPORT_KIND.nothing) cohort.unknown += 1;
    else if (trouble !== 0) {
      cohort.troubled += 1;
      countCause(cohort.causes, trouble);
    } else if (records.reported[index] === REPORT_KIND.broken || hasFailed) cohort.failed += 1;
    else if (current === undefined ? version !== 0 : version === cohort.number) cohort.live += 1;
  });
  return [...cohorts.values()];
}

/** The cohorts of a unit that a health check compares. */
export function listCohorts(
  fleet: SlowrollFleet,
  place: UnitPlace,
  { updatedBy, exclude = [] }: HealthTargets,
): UnitTasks {
  const [fresh, excluded] = [new Set(updatedBy), withReverts(fleet.state, exclude)];
  const there = countCohorts(fleet, place).filter(({ decision }) => !excluded.has(decision?.update ?? ''));
  const isFresh = ({ decision }: Cohort): boolean => updatedBy.length === 0 || fresh.has(decision?.update ?? '');
  const updated = there.filter(isFresh);
  const others = there.filter((cohort) => !isFresh(cohort));
  const first = Math.min(...updated.map(({ decision }) => decision?.generation ?? 0));
  const before = (fleet.state.decisions?.[place.unit] ?? []).filter(({ generation }) => generation < first);
  return {
    id: place.unit,
    // Hosts in trouble run another version: they say nothing about this one.
    fresh: updated.filter(({ hosts, unreachable, troubled }) => hosts > unreachable + troubled).map(({ task }) => task),
    updated: updated.reduce((sum, { hosts }) => sum + hosts, 0),
    control: others.filter(({ live }) => live > 0).map(({ task }) => task),
    // These hosts came from several cohorts; the latest had the most of them.
    before: updated.length === 0 ? [] : before.slice(-1).map((decision) => nameCohort(place.unit, decision)),
  };
}

const makeCohort = (unit: string, decision: RolloutDecision | undefined, number: number): Cohort => ({
  ...{ task: nameCohort(unit, decision), unit, decision, version: decision?.version ?? '', number },
  ...{ hosts: 0, live: 0, failed: 0, unreachable: 0, unknown: 0, troubled: 0, causes: {} },
});
