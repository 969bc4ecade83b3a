import { CADENCES } from '../../domain/archive/row';
import { CHECK_KINDS } from '../../domain/archive/checkKind';
import type { Pattern } from '../../domain/deploy/pattern';
import type { Breakdown, StatsReport } from '../../domain/stats/report';
import {
  CATEGORIES,
  CHECK_ERRORS,
  DEPLOY_FAILURES,
  DEPLOY_TIMES,
  END_STATES,
  MEAN_ACTIONS,
  SCHEDULES,
  SPANS,
  SPAN_NAMES,
  type Category,
  type PerCategory,
} from './paper';
import { planned, type Inhabitant } from './population';

/** Whether a number was put in, or is what came of the run. */
export type Is = 'input' | 'outcome';

export interface Line {
  readonly label: string;
  readonly is: Is;
  /** Missing where the paper's text has no number. */
  readonly paper: Partial<PerCategory<number | string>>;
  /** Missing where there was nothing to count. */
  readonly ours: Partial<PerCategory<number>>;
}

/** A table or figure of Conveyor §6. */
export interface Section {
  readonly title: string;
  readonly says: string;
  /** The unit of all numbers, such as `%`. */
  readonly unit: string;
  /** How many of what are counted. */
  readonly of: { readonly what: string; readonly counts: Partial<PerCategory<number>> };
  /** Our shares of a category are parts of one whole. */
  readonly addsUp: boolean;
  readonly lines: readonly Line[];
}

export function sectionsOf(stats: StatsReport, people: readonly Inhabitant[]): readonly Section[] {
  return [
    schedules(stats),
    endStates(stats),
    failedActions(stats),
    failedDeploys(stats),
    failedChecks(stats),
    checkErrors(stats),
    progress(stats),
    sizes(stats),
    actionTypes(stats),
    patterns(people),
    times(stats),
    spans(stats),
    serviceLevel(stats),
  ];
}

const schedules = ({ schedules: found }: StatsReport): Section => ({
  ...{ title: 'Schedules (Conveyor §6.2, Table 1)', unit: '%', addsUp: true, of: wholes('pipelines', found) },
  says: 'Each category has its pipelines in these shares, as far as so few pipelines can; `conveyor stats` reads them from calendars and picks.',
  lines: CADENCES.map((cadence) => ({
    ...{ label: cadence, is: 'input', paper: each((category) => SCHEDULES[category][cadence]) },
    ours: shares(found, [cadence]),
  })),
});

function endStates({ endStates: found }: StatsReport): Section {
  const words = [...new Set(found.flatMap(({ counts }) => Object.keys(counts)))];
  const causes = words.filter((word) => word.startsWith('cancelled'));
  const line = (state: 'succeeded' | 'failed' | 'cancelled', counted: readonly string[]): Line => ({
    ...{ label: state, is: 'outcome', paper: each((category) => END_STATES[category][state]) },
    ours: shares(found, counted),
  });
  return {
    ...{ title: 'Ends of releases (Conveyor §6.4, Table 2)', unit: '%', addsUp: true, of: wholes('releases', found) },
    says: `How often versions break is put in, as listed below. Which release makes way for a newer one comes of arrivals, schedules and the lengths of deploys. The cancelled ones are: ${causes.join(', ') || 'none'}.`,
    lines: [line('succeeded', ['succeeded']), line('failed', ['failed']), line('cancelled', causes)],
  };
}

function failedActions({ failedActions: found }: StatsReport): Section {
  const paper: Readonly<Record<string, Line['paper']>> = { build: { regular: 40 }, deploy: { ml: 93.6 } };
  return {
    ...{ title: 'Failed releases by the action that failed (Conveyor §6.4, Figure 7)', unit: '%', addsUp: true },
    of: wholes('failed releases', found),
    says: 'The text gives two of the numbers. Builds and tests fail as often as they were drawn to; what canaries find, and what is left for deploys, comes of the run.',
    lines: wordsOf(found).map((type) => ({
      ...{ label: type, is: 'outcome', paper: paper[type] ?? {}, ours: shares(found, [type]) },
    })),
  };
}

const failedDeploys = ({ dora }: StatsReport): Section => ({
  ...{ title: 'Failed deploys (Conveyor §6.4.2)', unit: '%', addsUp: false },
  of: { what: 'deploys', counts: ours(dora, ({ changeFailures }) => changeFailures.of) },
  says: 'Deploys that did not succeed, among those that were not cancelled. How many versions are bad is put in; health checks find them.',
  lines: [
    {
      ...{ label: 'failed or reverted', is: 'outcome', paper: DEPLOY_FAILURES },
      ours: ours(dora, ({ changeFailures: { count, of } }) => percent(count, of)),
    },
  ],
});

const failedChecks = ({ failedChecks: found }: StatsReport): Section => ({
  ...{ title: 'Unhealthy checks (Conveyor §6.4.2, Figure 8)', unit: '%', addsUp: true },
  of: wholes('checks that were unhealthy at the end of a deploy', found),
  says: 'The figure is drawn only. Which kind of check sees a bad version is put in (below); that it does, comes of the run. Versions that crash are not among them.',
  lines: CHECK_KINDS.map((kind) => ({ label: kind, is: 'outcome', paper: {}, ours: shares(found, [kind]) })),
});

const checkErrors = ({ checkErrors: found }: StatsReport): Section => ({
  ...{ title: 'Errors of health checks (Conveyor §6.4.2, Table 3)', unit: '%', addsUp: false },
  of: { what: 'deploys', counts: ours(found, ({ falsePositives }) => falsePositives.of) },
  says: 'Anomalies that are none of the version, and bad versions that no check sees, are put in with these shares of all commits. Counted are deploys that people let continue, and releases that they rolled back.',
  lines: (['falseNegatives', 'falsePositives'] as const).map((kind) => ({
    ...{ label: kind === 'falseNegatives' ? 'false negatives' : 'false positives', is: 'outcome' },
    paper: each((category) => CHECK_ERRORS[category][kind]),
    ours: ours(found, ({ [kind]: { count, of } }) => percent(count, of)),
  })),
});

const progress = ({ progress: found }: StatsReport): Section => ({
  ...{ title: 'Where failed deploys had got to (Conveyor §6.4.2, Figure 9)', unit: '%', addsUp: true },
  of: wholes('failed deploys of several phases', found),
  says: 'In the paper they fail very early or very late. That four bad versions in ten show only when most tasks run them is put in; at which phase a check sees one comes of the run.',
  lines: wordsOf(found).map((tenth) => ({ label: tenth, is: 'outcome', paper: {}, ours: shares(found, [tenth]) })),
});

const sizes = ({ pipelineSizes: found }: StatsReport): Section => ({
  ...{ title: 'Actions of a pipeline (Conveyor §6.5, Figure 10)', unit: 'actions', addsUp: false },
  of: wholes('pipelines', found),
  says: 'Between the least and the most, as listed below.',
  lines: [{ label: 'mean', is: 'input', paper: MEAN_ACTIONS, ours: ours(found, ({ mean }) => mean) }],
});

const actionTypes = ({ actionTypes: found }: StatsReport): Section => ({
  ...{ title: 'Pipelines that have an action (Conveyor §6.5, Figure 11)', unit: '%', addsUp: false },
  of: wholes('pipelines', found),
  says: 'The figure is drawn only.',
  lines: wordsOf(found).map((type) => ({ label: type, is: 'input', paper: {}, ours: shares(found, [type]) })),
});

/** As `conveyor plan` names the pattern of each pipeline's deploy. */
function patterns(people: readonly Inhabitant[]): Section {
  const found = people.map((inhabitant) => ({ category: inhabitant.category, pattern: planned(inhabitant) }));
  const of = (category: Category, pattern?: Pattern): number =>
    found.filter((one) => one.category === category && (pattern ?? one.pattern) === one.pattern).length;
  return {
    ...{ title: 'Patterns of deploys (Conveyor §6.5.2, Figure 12)', unit: '%', addsUp: true },
    of: { what: 'pipelines', counts: each((category) => of(category)) },
    says: 'The figure is drawn only; the text names the frequent ones. The phases are put in, and `conveyor plan` recognises the pattern.',
    lines: [...new Set(found.map(({ pattern }) => pattern))].sort().map((pattern) => ({
      ...{ label: pattern, is: 'input', paper: {} },
      ours: each((category) => percent(of(category, pattern), of(category))),
    })),
  };
}

const times = ({ deployTimes: found }: StatsReport): Section => ({
  ...{ title: 'How long deploys take (Conveyor §6.5.2)', unit: 's', addsUp: false },
  of: { what: 'deploys that succeeded', counts: ours(found, ({ count }) => count) },
  says: 'How long a deploy of a pipeline takes if all goes well is drawn from a distribution with the median and the 99th percentile of the paper, without its last fiftieth. The additions by people, checks and neighbours are results of the run.',
  lines: (['p50', 'p99'] as const).map((name) => ({
    ...{ label: name.toUpperCase(), is: 'outcome', paper: each((category) => DEPLOY_TIMES[category][name]) },
    ours: ours(found, (row) => row[`${name}Ms`] / 1000),
  })),
});

const spans = ({ spans: found }: StatsReport): Section => ({
  ...{ title: 'Where the time of deploys goes (Conveyor §6.5.2, Table 4)', unit: '%', addsUp: true },
  of: { what: 'hours of all deploys', counts: ours(found, ({ whole }) => Math.round(whole / 3_600_000)) },
  says: 'Deploys are drawn with these shares. Deploys that fail early have no later steps, bakes last at least as long as a check looks back, and steps of less than a minute are left out.',
  lines: SPAN_NAMES.map((name) => ({
    ...{ label: name, is: 'outcome', paper: each((category) => SPANS[category][name]), ours: shares(found, [name]) },
  })),
});

const serviceLevel = ({ serviceLevel: found }: StatsReport): Section => ({
  ...{ title: 'Service level (Conveyor §5.3)', unit: '%', addsUp: false },
  of: { what: 'deploys', counts: ours(found, ({ deploys }) => deploys) },
  says: 'Deploys that succeeded or were rightly stopped, and those that failed by fault of Conveyor or of what it depends on. Nothing that Conveyor depends on fails in this run.',
  lines: [
    {
      ...{ label: 'worked', is: 'outcome', paper: each(() => '≥ 99.9') },
      ours: ours(found, ({ worked: { count, of } }) => percent(count, of)),
    },
    {
      ...{ label: 'failed for a bad reason', is: 'outcome', paper: each(() => '< 0.5') },
      ours: ours(found, ({ badFailures: { count, of } }) => percent(count, of)),
    },
  ],
});

const percent = (count: number, of: number): number => (of === 0 ? 0 : (100 * count) / of);

const each = <T>(make: (category: Category) => T): PerCategory<T> => ({
  ...{ regular: make('regular'), large: make('large'), ml: make('ml'), other: make('other') },
});

/** The categories with rows. */
function ours<T extends { readonly category: string }>(
  rows: readonly T[],
  valueOf: (row: T) => number,
): Partial<PerCategory<number>> {
  return Object.fromEntries(
    CATEGORIES.flatMap((category) => {
      const row = rows.find((one) => one.category === category);
      return row === undefined ? [] : [[category, valueOf(row)]];
    }),
  );
}

const shares = (rows: readonly Breakdown[], words: readonly string[]): Line['ours'] =>
  ours(
    rows.filter(({ whole }) => whole > 0),
    ({ counts, whole }) =>
      percent(
        words.reduce((sum, word) => sum + (counts[word] ?? 0), 0),
        whole,
      ),
  );

const wholes = (what: string, rows: readonly Breakdown[]): Section['of'] => ({
  ...{ what, counts: ours(rows, ({ whole }) => whole) },
});

const wordsOf = (rows: readonly Breakdown[]): string[] => [
  ...new Set(
    rows.flatMap(({ counts }) => Object.entries(counts).flatMap(([word, count]) => (count > 0 ? [word] : []))),
  ),
];
