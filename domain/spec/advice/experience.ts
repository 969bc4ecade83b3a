import { categoryOf } from '../../health/statistics';
import { deployActionsOf } from '../deployActions';
import type { PipelineSpec } from '../pipeline';
import { warningAt, type Finding } from '../problem';
import type { Breakdown, StatsReport } from '../../stats/report';

/** What the archive says of the category of a pipeline. */
type Lesson = (spec: PipelineSpec, stats: StatsReport) => Finding[];

/** Fewer are no experience. */
const MIN_SAMPLES = 10;
/** As Conveyor §6.4.2 has it, checks are wrong in less than one of twenty. */
const TOLERABLE_ERRORS = 0.05;

const ofCategory = <T extends { readonly category: string }>(rows: readonly T[], spec: PipelineSpec): T | undefined =>
  rows.find(({ category }) => category === categoryOf(spec));

const countedAs = ({ counts }: Breakdown, words: readonly string[]): number =>
  words.reduce((sum, word) => sum + (counts[word] ?? 0), 0);

const canaryLesson: Lesson = (spec, { actionTypes }) => {
  const row = ofCategory(actionTypes, spec);
  const having = row === undefined ? 0 : countedAs(row, ['canary']);
  const hasOwn = Object.values(spec.actions).some(({ type }) => type === 'canary');
  if (row === undefined || row.whole < MIN_SAMPLES || having < row.whole / 2 || hasOwn) return [];
  if (deployActionsOf(spec).length === 0) return [];
  const reason = `${having} of ${row.whole} pipelines of ${row.category} have one`;
  return [
    warningAt(['actions'], 'canary', 'try a version on a few tasks first: add a canary before the deploy', reason),
  ];
};

/** A fault that is found late has reached most of the fleet. */
const bakeLesson: Lesson = (spec, { progress }) => {
  const row = ofCategory(progress, spec);
  if (row === undefined || row.whole < MIN_SAMPLES) return [];
  const late = countedAs(
    row,
    Object.keys(row.counts).filter((tenth) => Number.parseInt(tenth, 10) >= 50),
  );
  if (late < row.whole / 3) return [];
  const reason = `${late} of ${row.whole} failed deploys of ${row.category} had half of their tasks updated before`;
  return deployActionsOf(spec).flatMap(([name, { with: deploy }]) => {
    const path = ['actions', name, 'with', 'phases', ...(deploy.phases?.length ? [0, 'bake'] : [])];
    return [
      warningAt(path, 'bake-earlier', 'let the first phases bake for longer, or judge them by more checks', reason),
    ];
  });
};

/** By the lower bound: what may be chance is none. */
const checkLesson: Lesson = (spec, { checkErrors }) => {
  const row = ofCategory(checkErrors, spec);
  if (row === undefined) return [];
  const { falsePositives: noisy, falseNegatives: blind } = row;
  return deployActionsOf(spec).flatMap(([name, { with: deploy }]) => {
    const path = ['actions', name, 'with', 'healthChecks'];
    const isNoisy = noisy.of >= MIN_SAMPLES && noisy.low > TOLERABLE_ERRORS && deploy.healthChecks.length > 0;
    const isBlind = blind.of >= MIN_SAMPLES && blind.low > TOLERABLE_ERRORS;
    return [
      ...(isNoisy
        ? [
            warningAt(
              path,
              'noisy-checks',
              NOISY,
              `people let ${noisy.count} of ${noisy.of} deploys of ${row.category} continue in spite of a check`,
            ),
          ]
        : []),
      ...(isBlind
        ? [
            warningAt(
              path,
              'blind-checks',
              BLIND,
              `${blind.count} of ${blind.of} releases of ${row.category} succeeded, and were taken back by people later`,
            ),
          ]
        : []),
    ];
  });
};

const NOISY = 'try the checks on past deploys (conveyor health backtest), and loosen those that are wrong';
const BLIND = 'add checks of what users notice, such as errors of the service and its latency';

export const experienceRules: readonly Lesson[] = [canaryLesson, bakeLesson, checkLesson];
