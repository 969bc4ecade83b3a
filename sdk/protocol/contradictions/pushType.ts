import type { Verdict } from '../../../domain/health/verdict';
import { MINUTE_MS } from '../../../domain/milliseconds';
import { countAtMost, inRows, unless, type ContradictionIfAny } from './rules';

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
      (one, place) => (DECIDING.has(one.verdict) ? inWindow(`${place}.window`, one.window, now) : undefined),
      'name',
    );
  return (
    inRows('units', units, asked, (row, at) => inChecks(`${at}.checks`, row.checks)) ??
    inChecks('deploy.checks', deploy.checks)
  );
}

/** A verdict that passes or reverts something needs a window; any other may come without one. */
const DECIDING: ReadonlySet<Verdict> = new Set(['healthy', 'unhealthy']);
/** How much the clocks of both sides may differ, plus rounding of a window to whole steps. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;

const inWindow = (at: string, { start, end }: JudgedEvidence['window'], now: number): ContradictionIfAny =>
  unless(start <= end, `${at}.start`, `${start} is after the end, ${end}`) ??
  unless(end <= now + CLOCK_SKEW_MS, `${at}.end`, `${end} is in the future: now is ${now}`);
