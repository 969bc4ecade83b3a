import { isDeciding, type Verdict } from '../../../domain/health/verdict';
import { MINUTE_MS } from '../../../domain/milliseconds';
import { countAtMost, first, inRows, unless, type ContradictionIfAny } from './rules';

export interface ProgressCounts {
  readonly id: string;
  readonly targeted: number;
  readonly updated: number;
  readonly live: number;
}

/** The other counts cannot pass a phase, and may come from another look or from several tries. */
export const contradictionInProgress = (
  { units: asked }: { readonly units?: readonly string[] | undefined },
  { units }: { readonly units: readonly ProgressCounts[] },
): ContradictionIfAny =>
  inRows(
    'units',
    units,
    asked,
    (row, at) => countAtMost(at, row, 'live', 'updated') ?? countAtMost(at, row, 'live', 'targeted'),
  );

/** @param sizes of the units, as they were listed; one that is not among them may have any. */
export const contradictionInSizes = (
  sizes: ReadonlyMap<string, number>,
  units: readonly (ProgressCounts & { readonly gone: number })[],
): ContradictionIfAny =>
  first([...units.entries()], ([nth, { id, targeted, gone }]) => {
    // A unit without tasks inside counts as one.
    const size = Math.max(1, sizes.get(id) ?? Infinity);
    const detail = `${targeted}, of which ${gone} are gone, is more than the ${size} that ${id} has`;
    return unless(targeted - gone <= size, `units.${nth}.targeted`, detail);
  });

export const contradictionInNeeds = (
  { targets }: { readonly targets: readonly { readonly unit: string }[] },
  { units }: { readonly units: readonly { readonly id: string }[] },
): ContradictionIfAny =>
  inRows(
    'units',
    units,
    targets.map(({ unit }) => unit),
  );

export const contradictionInUnits = (
  _: object,
  { units }: { readonly units: readonly { readonly id: string }[] },
): ContradictionIfAny => inRows('units', units);

interface JudgedEvidence {
  readonly name: string;
  readonly verdict: Verdict;
  readonly samples: number;
  readonly tasks: number;
  readonly window: { readonly start: number; readonly end: number };
}

interface HealthQuestion {
  readonly targets: { readonly units: readonly string[] } | readonly { readonly id: string }[];
  readonly checks: readonly { readonly name: string }[];
  readonly now: number;
}

interface HealthAnswer {
  readonly units: readonly { readonly id: string; readonly checks: readonly JudgedEvidence[] }[];
  readonly deploy: { readonly checks: readonly JudgedEvidence[] };
}

export function contradictionInHealth(
  { targets, checks, now }: HealthQuestion,
  { units, deploy }: HealthAnswer,
): ContradictionIfAny {
  const asked = 'units' in targets ? targets.units : targets.map(({ id }) => id);
  const names = checks.map(({ name }) => name);
  const inChecks = (at: string, evidence: readonly JudgedEvidence[]): ContradictionIfAny =>
    inRows(
      at,
      evidence.map((one) => ({ ...one, id: one.name })),
      names,
      (one, place) => (isDeciding(one.verdict) ? inEvidence(place, one, now) : undefined),
      'name',
    );
  return (
    inRows('units', units, asked, (row, at) => inChecks(`${at}.checks`, row.checks)) ??
    inChecks('deploy.checks', deploy.checks)
  );
}

/** A verdict that passes or reverts something needs a window, and points that tasks have given; any other may come without. */
const inEvidence = (at: string, { samples, tasks, window }: JudgedEvidence, now: number): ContradictionIfAny =>
  unless(samples > 0 || tasks === 0, `${at}.samples`, `${samples} of ${tasks} tasks that had some`) ??
  unless(tasks > 0 || samples === 0, `${at}.tasks`, `${tasks} gave ${samples} samples`) ??
  inWindow(`${at}.window`, window, now);

/** How much the clocks of both sides may differ, plus rounding of a window to whole steps. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;

const inWindow = (at: string, { start, end }: JudgedEvidence['window'], now: number): ContradictionIfAny =>
  unless(start <= end, `${at}.start`, `${start} is after the end, ${end}`) ??
  unless(end <= now + CLOCK_SKEW_MS, `${at}.end`, `${end} is in the future: now is ${now}`);
