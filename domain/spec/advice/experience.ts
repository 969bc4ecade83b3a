import { getCategory } from '../../health/statistics';
import { listDeployActions } from '../deployActions';
import type { PipelineSpec } from '../pipeline';
import { warningAt, type Finding } from '../problem';
import {
  summarizeExperience,
  lateWords,
  describeMissedBad,
  describeStoppedGood,
  type Experience,
} from '../../stats/experience';
import type { StatsReport } from '../../stats/report';

/** A recommendation from the archive's statistics on the category of a pipeline. */
type Lesson = (spec: PipelineSpec, stats: StatsReport) => Finding[];

/** Fewer samples prove nothing. */
const MIN_SAMPLES = 10;
/** In Conveyor §6.4.2, checks are wrong in less than one of twenty cases. */
const TOLERABLE_ERRORS = 0.05;

const canaryLesson: Lesson = (spec, { actionTypes }) => {
  const row = actionTypes.find(({ category }) => category === getCategory(spec));
  const having = row?.counts['canary'] ?? 0;
  const hasOwn = Object.values(spec.actions).some(({ type }) => type === 'canary');
  if (row === undefined || row.whole < MIN_SAMPLES || having < row.whole / 2 || hasOwn) return [];
  if (listDeployActions(spec).length === 0) return [];
  const reason = `${having} of ${row.whole} pipelines of ${row.category} have one`;
  return [
    warningAt(['actions'], 'canary', 'try a version on a few tasks first: add a canary before the deploy', reason),
  ];
};

const bakeLesson: Lesson = (spec, stats) => {
  const { category, late } = summarizeExperience(stats, getCategory(spec));
  if (late.of < MIN_SAMPLES || late.count < late.of / 3) return [];
  return listDeployActions(spec).flatMap(([name, { with: deploy }]) => {
    const path = ['actions', name, 'with', 'phases', ...(deploy.phases?.length ? [0, 'bake'] : [])];
    return [warningAt(path, 'bake-earlier', EARLIER, inCategory(category, lateWords(late)))];
  });
};

/** Uses the lower bound, so that chance makes no recommendation. */
const checkLesson: Lesson = (spec, stats) => {
  const { category, stoppedGood, missedBad } = summarizeExperience(stats, getCategory(spec));
  const isOften = ({ of, low }: Experience['missedBad']): boolean => of >= MIN_SAMPLES && low > TOLERABLE_ERRORS;
  return listDeployActions(spec).flatMap(([name, { with: deploy }]) => {
    const path = ['actions', name, 'with', 'healthChecks'];
    const isNoisy = isOften(stoppedGood) && deploy.healthChecks.length > 0;
    const why = (words: string): string => inCategory(category, words);
    return [
      ...(isNoisy ? [warningAt(path, 'noisy-checks', NOISY, why(describeStoppedGood(stoppedGood)))] : []),
      ...(isOften(missedBad) ? [warningAt(path, 'blind-checks', BLIND, why(describeMissedBad(missedBad)))] : []),
    ];
  });
};

const EARLIER = 'let the first phases bake for longer, or judge them by more checks';
const NOISY = 'try the checks on past deploys (conveyor health backtest), and loosen those that are wrong';
const BLIND = 'add checks of what users notice, such as errors of the service and its latency';

const inCategory = (category: string, words: string): string => `in ${category}, ${words}`;

export const experienceFindings: Lesson = (spec, stats) =>
  [canaryLesson, bakeLesson, checkLesson].flatMap((lesson) => lesson(spec, stats));
