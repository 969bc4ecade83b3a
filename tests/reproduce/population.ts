import type { Cadence } from '../../domain/archive/row';
import { classifyPattern, type Pattern } from '../../domain/deploy/pattern';
import { planDeploy } from '../../domain/deploy/plan';
import type { Settings } from '../../domain/settings';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { BehaviourSpec } from '../../simulator/metrics/behaviour';
import { Dice } from '../chaos/dice';
import type { Job } from '../chaos/scenario';
import { HOUR, MINUTE } from '../workflows/world';
import { commitsOf, type Commit } from './commits';
import { canaryWith, deployWith, jobsOf, taskMs, type Lengths } from './deploys';
import { allotted, longTailed, strata } from './draw';
import { ACTIONS, HAS_CANARY, PATTERNS } from './inputs';
import { CATEGORIES, DEPLOY_TIMES, SCHEDULES, SPANS, SPAN_NAMES, type Category } from './paper';

/** A pipeline, its fleet, and what people commit to it. */
export interface Inhabitant {
  readonly category: Category;
  readonly name: string;
  readonly cadence: Cadence;
  readonly pattern: Pattern;
  readonly source: PipelineSource;
  readonly jobs: readonly Job[];
  readonly settings: Partial<Settings>;
  readonly commits: readonly Commit[];
}

/** So many pipelines, the same number of each category but for the rest: the same seed, the same population. */
export function populationOf({ seed, pipelines, weeks }: { seed: number; pipelines: number; weeks: number }) {
  return CATEGORIES.flatMap((category, nth) => {
    const count = Math.floor((pipelines + CATEGORIES.length - 1 - nth) / CATEGORIES.length);
    return ofCategory(category, count, { seed, weeks });
  });
}

function ofCategory(category: Category, count: number, { seed, weeks }: { seed: number; weeks: number }): Inhabitant[] {
  const dice = Dice.stream(seed, category);
  const cadences = allotted(dice, SCHEDULES[category], count);
  const patterns = allotted(dice, PATTERNS[category] as Readonly<Record<Pattern, number>>, count);
  const sizes = strata(dice, count);
  return strata(dice, count).map((share, nth) => {
    const [cadence = 'continuous', pattern = 'single'] = [cadences[nth], patterns[nth]];
    const totalMs = 1_000 * longTailed(DEPLOY_TIMES[category], share);
    const [least, most] = ACTIONS[category];
    const drawn = { category, cadence, pattern, name: `${category}-${nth + 1}`, lengths: lengthsOf(category, totalMs) };
    const actions = actionsOf(drawn, least + Math.floor((sizes[nth] ?? 0) * (most - least + 1)), dice);
    const stream = Dice.stream(seed, `${drawn.name} commits`);
    return { ...inhabitantOf(drawn, actions), commits: commitsOf(stream, drawn, Object.keys(actions), weeks) };
  });
}

interface Drawn {
  readonly category: Category;
  readonly cadence: Cadence;
  readonly pattern: Pattern;
  readonly name: string;
  readonly lengths: Lengths;
}

function lengthsOf(category: Category, totalMs: number): Lengths {
  const part = (name: (typeof SPAN_NAMES)[number]) => (totalMs * SPANS[category][name]) / 100;
  return {
    ...{ 'task update': part('task update'), bake: part('bake') },
    ...{ preprocessing: part('preprocessing'), postprocessing: part('postprocessing') },
  };
}

type Actions = PipelineSource['actions'];

/** A build, a deploy, and between them as many as are wanted: a pick and a canary, where there are such, and tests. */
function actionsOf({ category, cadence, pattern, name, lengths }: Drawn, wanted: number, dice: Dice): Actions {
  const onExecutable = { inputs: ['executable'] };
  const checks: Actions = {};
  const isPicked = cadence === 'manual-pick';
  const isRoomLeft = (): boolean => (isPicked ? 3 : 2) + Object.keys(checks).length < wanted;
  if (dice.chance(HAS_CANARY[category] / 100) && isRoomLeft())
    checks['canary'] = { type: 'canary', ...onExecutable, with: canaryWith(name) };
  for (let nth = 1; isRoomLeft(); nth += 1) {
    const type = nth % 2 === 1 ? 'integr-test' : 'perf-test';
    checks[`${type}-${nth}`] = { type, ...onExecutable };
  }
  const pick: Actions = isPicked ? { pick: { type: 'manual-pick', needs: ['build', ...Object.keys(checks)] } } : {};
  const between = { ...checks, ...pick };
  // Models go back by themselves; elsewhere people look before anything is taken back, as what Table 3 counts is what they let pass.
  const onUnhealthy = category === 'ml' ? 'revert' : 'pause';
  return {
    build: { type: 'build', inputs: ['source'], outputs: ['executable'] },
    ...between,
    deploy: {
      ...{ type: 'deploy', ...onExecutable, needs: Object.keys(between) },
      with: deployWith(name, pattern, lengths, onUnhealthy),
    },
  };
}

function inhabitantOf({ category, cadence, pattern, name, lengths }: Drawn, actions: Actions) {
  const source: PipelineSource = {
    ...{ pipeline: name, owners: ['user:alice'], labels: { category }, schedule: SCHEDULE[cadence] },
    ...{ artifacts: { source: { finder: 'manual' } }, releases: { onRevert: 'continue', maxActive: 20 }, actions },
  };
  return {
    category,
    cadence,
    pattern,
    name,
    source,
    jobs: jobsOf(name, pattern, lengths),
    settings: patience(pattern, lengths),
  };
}

const SCHEDULE: Readonly<Record<Cadence, NonNullable<PipelineSource['schedule']>>> = {
  continuous: { mode: 'continuous' },
  daily: { mode: 'calendar', calendar: '0 9 * * 1-5', timezone: 'UTC' },
  weekly: { mode: 'calendar', calendar: '0 9 * * 2', timezone: 'UTC' },
  'biweekly/monthly': { mode: 'calendar', calendar: '0 9 1,15 * *', timezone: 'UTC' },
  'manual-pick': { mode: 'continuous' },
};

/** Looks so seldom that days pass quickly, and so often that a part of a deploy is late by a fraction of it. */
function patience(pattern: Pattern, { preprocessing, postprocessing, ...lengths }: Lengths): Partial<Settings> {
  const between = (least: number, most: number, ms: number): number => Math.round(Math.min(most, Math.max(least, ms)));
  const task = taskMs(pattern, { preprocessing, postprocessing, ...lengths });
  return {
    heartbeatTimeoutMs: 3 * HOUR,
    trackIntervalMs: between(15_000, 30 * MINUTE, task / 6),
    progressIntervalMs: between(MINUTE, 10 * MINUTE, Math.min(preprocessing, postprocessing) / 8),
    waitIntervalMs: 10 * MINUTE,
  };
}

/** The pattern of its deploy, as `conveyor plan` names it. */
export function planned({ source, jobs }: Inhabitant): Pattern {
  const { deploy } = pipelineSchema.parse(source).actions;
  if (deploy?.type !== 'deploy') throw new Error(`${source.pipeline} has no deploy`);
  const units = jobs.map(({ name, region, tasks }) => ({
    ...{ id: name, labels: { region }, size: tasks, version: 'old', mixed: false, available: true },
  }));
  return classifyPattern(planDeploy(deploy.with, units, [], 'new'), units);
}

/**
 * The effect of a version that a check sees: a bad one from the beginning, or once most tasks of a job run it; a harmless one while half of
 * them do, which no canary is.
 */
export function behaviourOf({ fate, seenBy, isLate }: Commit): BehaviourSpec {
  const atShare = fate === 'harmless' ? 0.5 : isLate ? 0.8 : undefined;
  return { ...BEHAVIOURS[seenBy], ...(atShare === undefined ? {} : { atShare }) };
}

const BEHAVIOURS: Readonly<Record<Commit['seenBy'], BehaviourSpec>> = {
  cpu: { cpuFactor: 10 },
  memory: { memoryLeakMbPerMinute: 500 },
  rpc: { errorRatio: 0.2 },
  'app-specific': { engagementFactor: 0.7 },
};
