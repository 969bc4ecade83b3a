import type { PhaseSpec } from '../deploy';
import { listDeployActions, type NamedDeploy } from '../deployActions';
import type { PipelineSpec } from '../pipeline';
import { warningAt, type Finding } from '../problem';
import type { WindowSpec } from '../times';

/** Recommendations of the paper about files that lint accepts without a warning. */
type Practice = (spec: PipelineSpec) => Finding[];

const eachDeploy =
  (adviceOn: (deploy: NamedDeploy, spec: PipelineSpec) => Finding[]): Practice =>
  (spec) =>
    listDeployActions(spec).flatMap((deploy) => adviceOn(deploy, spec));

/** Phases whose shares are equal or shrink are either safe or fast, never both. */
const growingPhases = eachDeploy(([name, { with: deploy }]) => {
  const phases = deploy.phases ?? [];
  const steps = computeAddedShares(phases);
  const at = steps.findIndex(({ share }, index) => index > 0 && share <= (steps[index - 1]?.share ?? 0));
  const [before, slower] = [steps[at - 1], steps[at]];
  if (before === undefined || slower === undefined) return [];
  const path = ['actions', name, 'with', 'phases', Math.min(slower.phase, phases.length - 1), 'amount'];
  const reason = `step ${at + 1} of ${steps.length} reaches ${percentWords(slower.share)}, the one before it ${percentWords(before.share)}: steps that grow find a fault while it is small, and take the fewest (Conveyor §6.5.4, super-linear)`;
  return [
    warningAt(path, 'grow-phases', 'let each phase reach more than the one before, such as 1%, 10%, 40%', reason),
  ];
});

/** The default phases are shares of the whole fleet. */
const wholeRegions = eachDeploy(([name, { with: deploy }]) => {
  if (deploy.phases !== undefined) return [];
  const what = 'where the fleet has several regions, write phases, one in the middle with all of a region';
  const reason =
    'without phases 1%, 10% and 100% of every region are updated: what shows at the scale of a region shows in all of them (Conveyor §6.5.4)';
  return [warningAt(['actions', name, 'with', 'phases'], 'no-whole-region', what, reason)];
});

const afternoons = eachDeploy(([name, { window }]) =>
  [window ?? []].flat().flatMap((each, index) => {
    const path = ['actions', name, 'window', ...(Array.isArray(window) ? [index] : []), 'from'];
    return isAfternoon(each) ? [warningAt(path, 'mornings', MORNING, AFTERNOON)] : [];
  }),
);

/**
 * A deploy at any hour relies on checks and tests. It is reported once, for the first deploy, since the others wait for
 * that.
 */
const anyHour: Practice = (spec) => {
  const [first] = listDeployActions(spec);
  if (first === undefined || spec.schedule.mode !== 'continuous') return [];
  const [name, action] = first;
  if (action.window !== undefined || isTrusted(action.with.healthChecks.length > 0, spec)) return [];
  const what =
    'add window: { days: [mon, tue, wed, thu], from: "09:00", to: "12:00", timezone: … } until health checks and tests have matured';
  const reason =
    'it deploys at any hour, and there is no test or no health check to rely on: in the morning people have the day to look into it (Conveyor §6.5.4)';
  return [warningAt(['actions', name, 'window'], 'mornings', what, reason)];
};

export const practiceRules: readonly Practice[] = [growingPhases, wholeRegions, afternoons, anyHour];

/**
 * The share that each phase adds, in percent, for phases that add any. Empty if some phase is not a share of the whole fleet, because the shares then
 * depend on the fleet.
 */
function computeAddedShares(
  phases: readonly PhaseSpec[],
): readonly { readonly phase: number; readonly share: number }[] {
  const reached = [...phases.map(shareOfFleet), 100];
  if (phases.length === 0 || reached.some((percent) => percent === null)) return [];
  return reached
    .map((percent, phase) => ({ phase, share: (percent ?? 0) - Math.max(0, ...reached.slice(0, phase).map(Number)) }))
    .filter(({ share }) => share > 0);
}

function shareOfFleet(phase: PhaseSpec): number | null {
  if ('forEach' in phase || phase.scope !== '*' || 'units' in phase.amount) return null;
  if ('all' in phase.amount) return 100;
  return 'percent' in phase.amount ? phase.amount.percent : null;
}

const percentWords = (percent: number): string => `${Math.round(percent * 10) / 10}%`;

const isAfternoon = ({ from }: WindowSpec): boolean => from >= '12:00';
const MORNING = 'let the window open in the morning';
const AFTERNOON = 'people who deploy in the afternoon have no full day to look into what fails (Conveyor §6.5.4)';

/** A person picks, or a test runs before the deploy in addition to health checks. */
const isTrusted = (hasChecks: boolean, { actions }: PipelineSpec): boolean =>
  Object.values(actions).some(({ type }) => type === 'manual-pick') ||
  (hasChecks && Object.values(actions).some(({ type }) => ['integr-test', 'perf-test', 'canary'].includes(type)));
