import { isDeciding, type Verdict } from '../../../domain/health/verdict';
import { MINUTE_MS } from '../../../domain/milliseconds';
import { plural } from '../../../domain/text';
import {
  countAtMost,
  inEach,
  strangerIn,
  twiceIn,
  unless,
  type ContradictionIfAny,
  type AnyRules,
  type Rules,
} from './rules';

export interface ProgressCounts {
  readonly id: string;
  readonly targeted: number;
  readonly updated: number;
  readonly live: number;
}

interface RemovalProgress extends ProgressCounts {
  readonly state: string;
  readonly gone: number;
}

/**
 * Of the other counts it judges only `gone` of a removal, which ends it. The rest cannot pass a phase, and may come from another look or from several
 * tries.
 */
export const PROGRESS_RULES: AnyRules = {
  'a unit twice': (_, { units }) => twiceIn('units', units),
  'a unit that was not asked for': (asked, { units }) => strangerIn('units', units, asked.units),
  'more live than updated': (_, { units }) =>
    inEach('units', units, (row, at) => countAtMost(at, row, 'live', 'updated')),
  'more live than targeted': (_, { units }) =>
    inEach('units', units, (row, at) => countAtMost(at, row, 'live', 'targeted')),
  'a removal that is done before its tasks are gone': (asked, { units }) =>
    inRemoval(asked, units, ({ state, targeted, gone }, at) =>
      unless(state !== 'done' || gone === targeted, `${at}.gone`, `${gone} of ${targeted} are gone, and it is done`),
    ),
  'a removal that brings tasks up': (asked, { units }) =>
    inRemoval(asked, units, ({ live }, at) => unless(live === 0, `${at}.live`, `${live} in a removal`)),
} satisfies Rules<
  { readonly updateId: string; readonly units?: readonly string[] | undefined },
  { readonly units: readonly RemovalProgress[] }
>;

/** The id of a removal is `<deploy>/remove/<try>`. */
const inRemoval = <R>(
  { updateId }: { readonly updateId: string },
  rows: readonly R[],
  inRow: (row: R, at: string) => ContradictionIfAny,
): ContradictionIfAny => (updateId.split('/').at(-2) === 'remove' ? inEach('units', rows, inRow) : undefined);

/** A removal is accepted as a whole or refused. */
export const REMOVAL_RULES: AnyRules = {
  'a unit twice': (_, { accepted }) => twiceIn('accepted', accepted.map(asRow), ''),
  'a unit that was not asked for': ({ units }, { accepted }) => strangerIn('accepted', accepted.map(asRow), units, ''),
  'a unit that is left out': ({ units }, { accepted }) => {
    const missing = units.find((unit) => !accepted.includes(unit));
    return unless(missing === undefined, 'accepted', `${missing} is missing`);
  },
} satisfies Rules<{ readonly units: readonly string[] }, { readonly accepted: readonly string[] }>;

const asRow = (id: string): { readonly id: string } => ({ id });

/** @param sizes of the units, as they were listed; a unit that is not listed may have any. */
export const contradictionInSizes = (
  sizes: ReadonlyMap<string, number>,
  units: readonly (ProgressCounts & { readonly gone: number })[],
): ContradictionIfAny =>
  inEach('units', units, ({ id, targeted, gone }, at) => {
    // A unit without tasks counts as one task.
    const size = Math.max(1, sizes.get(id) ?? Infinity);
    const detail = `${targeted}, of which ${gone} are gone, is more than the ${size} that ${id} has`;
    return unless(targeted - gone <= size, `${at}.targeted`, detail);
  });

export const NEEDS_RULES: AnyRules = {
  'a unit twice': (_, { units }) => twiceIn('units', units),
  'a unit that was not asked for': ({ targets }, { units }) =>
    strangerIn(
      'units',
      units,
      targets.map(({ unit }) => unit),
    ),
} satisfies Rules<
  { readonly targets: readonly { readonly unit: string }[] },
  { readonly units: readonly { readonly id: string }[] }
>;

export const UNITS_RULES: AnyRules = {
  'a unit twice': (_, { units }) => twiceIn('units', units),
} satisfies Rules<object, { readonly units: readonly { readonly id: string }[] }>;

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

/** The most that the clocks of both sides may differ, plus rounding of a window to whole steps. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;

/** A verdict that passes or reverts something needs a window, and points from tasks; any other verdict may come without. */
export const HEALTH_RULES: AnyRules = {
  'a unit twice': (_, { units }) => twiceIn('units', units),
  'a unit that was not asked for': ({ targets }, { units }) =>
    strangerIn('units', units, 'units' in targets ? targets.units : targets.map(({ id }) => id)),
  'a check twice': (_, answer) => inChecks(answer, (at, checks) => twiceIn(at, checks.map(byName), 'name')),
  'a check that was not asked for': ({ checks: asked }, answer) => {
    const names = asked.map(({ name }) => name);
    return inChecks(answer, (at, checks) => strangerIn(at, checks.map(byName), names, 'name'));
  },
  'a verdict by tasks that had no samples': (_, answer) =>
    inVerdicts(answer, ({ samples, tasks }, at) =>
      unless(samples > 0 || tasks === 0, `${at}.samples`, `${samples} of ${plural(tasks, 'task')} that had some`),
    ),
  'a verdict by samples of no task': (_, answer) =>
    inVerdicts(answer, ({ samples, tasks }, at) =>
      unless(tasks > 0 || samples === 0, `${at}.tasks`, `${tasks} gave ${samples} samples`),
    ),
  'a window that ends before it starts': (_, answer) =>
    inVerdicts(answer, ({ window: { start, end } }, at) =>
      unless(start <= end, `${at}.window.start`, `${start} is after the end, ${end}`),
    ),
  'a window of the future': ({ now }, answer) =>
    inVerdicts(answer, ({ window: { end } }, at) =>
      unless(end <= now + CLOCK_SKEW_MS, `${at}.window.end`, `${end} is in the future: now is ${now}`),
    ),
} satisfies Rules<HealthQuestion, HealthAnswer>;

const byName = ({ name }: JudgedEvidence): { id: string } => ({ id: name });

type InChecks = (at: string, checks: readonly JudgedEvidence[]) => ContradictionIfAny;

const inChecks = ({ units, deploy }: HealthAnswer, judge: InChecks): ContradictionIfAny =>
  inEach('units', units, ({ checks }, at) => judge(`${at}.checks`, checks)) ?? judge('deploy.checks', deploy.checks);

const inVerdicts = (
  answer: HealthAnswer,
  judge: (evidence: JudgedEvidence, at: string) => ContradictionIfAny,
): ContradictionIfAny =>
  inChecks(answer, (place, checks) =>
    inEach(place, checks, (evidence, at) => (isDeciding(evidence.verdict) ? judge(evidence, at) : undefined)),
  );
