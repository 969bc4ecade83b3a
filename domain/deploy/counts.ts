import { SHOWN_UNITS } from '../fleet/limits';
import type { UnitProgress } from '../fleet/unit';
import type { PhaseView, RevertView, UnitCounts, UnitTotals } from '../views';

/** The counts of an update as people see them: the totals of all units, and the first units that are not finished. */
export interface UpdateUnitCounts {
  readonly totals: UnitTotals;
  readonly units: readonly UnitCounts[];
}

const toCounts = ({ id, targeted, updated, live }: UnitProgress): UnitCounts => ({ id, targeted, updated, live });

/** @param most the number of units to show. */
export function countUnits(units: readonly UnitProgress[], most: number = SHOWN_UNITS): UpdateUnitCounts {
  const totals = units.reduce(add, { ...NOTHING, units: units.length });
  return { totals, units: pickShownUnits(units, most).map(toCounts) };
}

/** Keeps the order while all units fit. Otherwise unfinished units come first, then those that had anything to do. */
function pickShownUnits(units: readonly UnitProgress[], most: number): readonly UnitProgress[] {
  if (units.length <= most) return units;
  const rank = ({ live, targeted, gone }: UnitProgress): number => (live < targeted - gone ? 0 : targeted > 0 ? 1 : 2);
  return [...units].sort((a, b) => rank(a) - rank(b)).slice(0, most);
}

const NOTHING: UnitTotals = { units: 0, targeted: 0, updated: 0, live: 0 };

type Tasks = Pick<UnitTotals, 'targeted' | 'updated' | 'live'>;

const add = (sum: UnitTotals, { targeted, updated, live }: Tasks): UnitTotals => ({
  units: sum.units,
  targeted: sum.targeted + targeted,
  updated: sum.updated + updated,
  live: sum.live + live,
});

export const NOTHING_COUNTED: UpdateUnitCounts = { totals: NOTHING, units: [] };

/** The counts of earlier strides and the present one together; both must show all units. */
export function addCounts(before: UpdateUnitCounts, now: UpdateUnitCounts): UpdateUnitCounts {
  const of = new Map(before.units.map((unit) => [unit.id, unit]));
  for (const unit of now.units) {
    const { targeted, updated, live } = of.get(unit.id) ?? NOTHING;
    of.set(unit.id, {
      id: unit.id,
      targeted: targeted + unit.targeted,
      updated: updated + unit.updated,
      live: live + unit.live,
    });
  }
  const units = [...of.values()];
  return { totals: units.reduce(add, { ...NOTHING, units: units.length }), units };
}

/** The totals of all units of a phase, or of a revert, even if only some are shown. */
export const computeTotals = ({ totals, units }: Pick<PhaseView, 'totals' | 'units'>): UnitTotals =>
  totals ?? units.reduce(add, { ...NOTHING, units: units.length });

/** A revert with the counts of its units; it keeps the earlier versions of the units that it shows. */
export function withRevertCounts(revert: RevertView, { totals, units }: UpdateUnitCounts): RevertView {
  const versions = new Map(revert.units.map(({ id, toVersion }) => [id, toVersion]));
  const rows = units.flatMap((unit) => {
    const toVersion = versions.get(unit.id);
    return toVersion === undefined ? [] : [{ ...unit, toVersion }];
  });
  const silent = revert.units.filter(({ id }) => !rows.some((row) => row.id === id));
  return { ...revert, totals, units: [...rows, ...silent] };
}

/** The number of rows that all phases of a deploy keep together. */
const MAX_ROWS = 1_000;

/** The phases after new counts of one phase. If there are too many rows in all, the oldest phases keep only their totals. */
export function withCounts(phases: readonly PhaseView[], index: number, counted: UpdateUnitCounts): PhaseView[] {
  let room = MAX_ROWS - counted.units.length;
  return [...phases]
    .reverse()
    .map((phase) => {
      if (phase.index === index) return { ...phase, ...counted };
      room -= phase.units.length;
      return room < 0 && phase.units.length > 0 ? { ...phase, totals: computeTotals(phase), units: [] } : phase;
    })
    .reverse();
}
