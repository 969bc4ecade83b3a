import { deployId, workflowIds } from '../ids';
import { withBlackout } from '../release/openTimes';
import { formatTime, plural, withReason } from '../text';
import { DEPLOY_VERBS } from '../verbs';
import type { AcceptedVerbs, DeployStatus, DeploySummary, Pause } from '../views';
import { describeEffect, whyNot, type DeploySituation } from './control';
import { computeTotals } from './counts';
import { toDeploySituation, type DeployInput, type DeployRecord } from './state';
import { accrue } from './spans';

type Identity = Pick<DeployInput, 'pipeline' | 'release' | 'action' | 'attempt' | 'version'> & {
  readonly spec: Pick<DeployInput['spec'], 'pushType'>;
};
type DeployFacts = Identity &
  Pick<DeployInput, 'removal'> & { readonly spec: Pick<DeployInput['spec'], 'healthChecks'> };

/** The output of `list deploys -o json`. */
export const deploySummary = (record: DeployRecord, input: Identity): DeploySummary => ({
  id: deployId(input.pipeline, input.release, input.action),
  kind: 'deploy',
  state: record.stage,
  outcome: record.result?.outcome ?? null,
  classification: record.result?.classification ?? null,
  progress: record.result?.progress ?? null,
  version: input.version,
  pushType: input.spec.pushType,
  attempt: input.attempt,
  paused: record.stage === 'ended' ? null : record.control.paused,
  startedAt: formatTime(record.startedAtMs),
  endedAt: record.endedAtMs === null ? null : formatTime(record.endedAtMs),
});

/**
 * The output of `status DEPLOY -o json` (docs/reference/cli.md#a-deploy), without the address of the Web UI, which only a client
 * knows.
 */
export function deployStatus(record: DeployRecord, input: DeployFacts, nowMs: number): Omit<DeployStatus, 'webUi'> {
  const summary = deploySummary(record, input);
  const { id } = summary;
  return {
    ...summary,
    summary: summarise(record, input.version),
    ...findWait(record, input),
    ...(record.skipped.length > 0 ? { skipped: record.skipped } : {}),
    updates: record.updates,
    ...(record.fleet?.pattern === undefined ? {} : { pattern: record.fleet.pattern }),
    ...(record.result?.blame === undefined ? {} : { blame: record.result.blame }),
    ...formatPlanned(record),
    phases: record.phases,
    pausedGroups: listPausedGroups(record),
    health: record.health,
    commands: record.commands,
    timeline: record.timeline,
    spans: accrue(record, nowMs),
    revert: record.revert,
    next: nextCommands(record, id),
    ...(record.stage === 'ended' ? {} : { accepts: collectDeployVerbs(toDeploySituation(record, input)) }),
  };
}

const collectDeployVerbs = (situation: DeploySituation): AcceptedVerbs =>
  Object.fromEntries(
    DEPLOY_VERBS.filter((verb) => whyNot(situation, verb, {}) === undefined).map((verb) => [
      verb,
      describeEffect(verb, situation),
    ]),
  );

const formatPlanned = ({ plan, fleet }: DeployRecord): Pick<DeployStatus, 'planned'> =>
  plan === null || fleet === null
    ? {}
    : {
        planned: {
          tasks: fleet.tasks,
          phases: plan.phases.map(({ bakeMs }, index) => ({ share: fleet.shares[index] ?? 1, bakeMs })),
        },
      };

/** One sentence: the present activity of the deploy, or the reason and the end of its wait. */
export function summarise(record: DeployRecord, version: string): string {
  const doing = SUMMARIES[record.stage](record, version);
  const { paused, resuming } = record.control;
  if (record.stage === 'ended') return doing;
  if (!paused) return `${doing}${expectation(record)}`;
  const who = paused.by === 'operator' ? `paused by ${paused.actor ?? 'a person'}` : `paused (${paused.by})`;
  return `${withReason(`${who} while ${doing}`, paused.reason)}${resuming ? '; resumed, waiting for a healthy verdict' : ''}`;
}

/** A closed window, or a lock that another deploy holds; pauses are reported elsewhere. */
function findWait(
  record: DeployRecord,
  { version, spec }: Identity,
): Pick<DeployStatus, 'blockedBy' | 'until' | 'lock'> {
  const { stage, windowUntil, waitsForGuests, service } = record;
  if (stage !== 'waiting-window' && stage !== 'waiting-lock') return { blockedBy: null, until: null };
  const blockedBy = SUMMARIES[stage](record, version);
  if (stage === 'waiting-window') return { blockedBy, until: windowUntil };
  // If it waits for canaries, it names those instead of a lock.
  const lock = waitsForGuests.length > 0 ? {} : { lock: workflowIds.serviceLock(spec.pushType, service ?? '') };
  return { blockedBy, until: null, ...lock };
}

/** A revert moves all units, so no group is paused then. */
const listPausedGroups = ({ stage, pausedGroups }: DeployRecord): DeployRecord['pausedGroups'] =>
  stage === 'reverting' || stage === 'ended' ? [] : pausedGroups;

/** The obstacle for it, or for a part of it, before its next phase. */
function expectation(record: DeployRecord): string {
  const { stage, control } = record;
  const { frozen, overtaken } = control;
  if (stage === 'reverting') return '';
  const paused = listPausedGroups(record);
  if (paused.length > 0) return `; paused until healthy: ${paused.map(({ group }) => group).join(', ')}`;
  if (overtaken) {
    const when = overtaken.why === 'preempted' ? 'now' : 'after this phase';
    return `; ${overtaken.why} by release ${overtaken.by}, so it stops ${when}`;
  }
  return frozen ? `; frozen by ${frozen.actor}, so it pauses before its next phase` : '';
}

type Summary = (record: DeployRecord, version: string) => string;

const SUMMARIES: Readonly<Record<DeployRecord['stage'], Summary>> = {
  planning: (_record, version) => `planning the deploy of ${version}`,
  'waiting-lock': (record) =>
    record.waitsForGuests.length > 0
      ? `waiting for the canaries on its units to end: ${record.waitsForGuests.join(', ')}`
      : `waiting for its turn to deploy ${record.service ?? 'the service'}`,
  'waiting-window': ({ windowUntil, windowWhy = '' }) =>
    withBlackout(`waiting for its window to open${windowUntil ? ` at ${windowUntil}` : ''}`, windowWhy),
  preprocessing: (record) => `preparing ${formatPhasePosition(record)}${formatStepSuffix(record)}`,
  updating: (record, version) => `updating ${formatLiveCount(record)} to ${version} in ${formatPhasePosition(record)}`,
  baking: (record, version) => {
    if (record.kept) return `keeping the canary of ${version} until its release lets it go`;
    const until = record.phases[record.cursor]?.bakeUntil;
    return `baking ${formatPhasePosition(record)}${until ? ` until ${until}` : ''}`;
  },
  postprocessing: (record) => `finishing ${formatPhasePosition(record)}${formatStepSuffix(record)}`,
  reverting: (record) => `${withReason('reverting', record.revert?.reason ?? '')}${formatStepSuffix(record)}`,
  removing: (record) => withReason('removing its units', formatRemovedCount(record)),
  ended: (record) => record.result?.reason ?? 'ended',
};

const formatStepSuffix = ({ step }: DeployRecord): string => (step === null ? '' : `, ${step}`);

const formatPhasePosition = (record: DeployRecord): string => {
  const phase = record.phases[record.cursor];
  return phase ? `phase ${phase.name} (${phase.index + 1} of ${record.phases.length})` : 'the first phase';
};

function formatLiveCount(record: DeployRecord): string {
  const { targeted, live } = computeTotals(record.phases[record.cursor] ?? { units: [] });
  return targeted === 0 ? 'tasks' : `${live} of ${plural(targeted, 'task')}`;
}

/** In an update that removes units, a task counts as live once it is gone. */
export function formatRemovedCount({ phases: [phase] }: Pick<DeployRecord, 'phases'>): string {
  const { targeted, live } = computeTotals(phase ?? { units: [] });
  return targeted === 0 ? '' : `${live} of ${plural(targeted, 'task')} gone`;
}

/** Suggested commands, most useful first. */
export function nextCommands(record: DeployRecord, id: string): string[] {
  const reason = '--reason "…"';
  const { control, stage } = record;
  if (stage === 'ended') return [`conveyor history ${id.split('/')[0] ?? ''}`];
  if (stage === 'reverting') {
    if (record.revertStuck) return [`conveyor status ${id} --watch`, `conveyor cancel ${id} ${reason}`];
    return [
      `conveyor watch ${id}`,
      control.paused ? `conveyor resume ${id} ${reason}` : `conveyor pause ${id} ${reason}`,
    ];
  }
  if (control.paused?.by === 'freeze')
    return [
      `conveyor unfreeze ${id.split('/')[0] ?? ''} ${reason}`,
      `conveyor revert ${id} ${reason}`,
      `conveyor cancel ${id} ${reason}`,
    ];
  if (control.paused) {
    const skip = waysRound(record, id).map((command) => `conveyor ${command} ${reason}`);
    // A broken service is tried until it answers; a person can only hasten that.
    const watch = continuesByItself(control.paused) ? [`conveyor watch ${id}`] : [];
    const logs = control.paused.by === 'action' ? [`conveyor logs ${id}`] : [];
    return [
      ...watch,
      ...logs,
      `conveyor resume ${id} ${reason}`,
      ...skip,
      `conveyor revert ${id} ${reason}`,
      `conveyor cancel ${id} ${reason}`,
    ];
  }
  const way = stage === 'baking' ? 'skip-bake' : stage === 'waiting-window' ? 'skip-window' : undefined;
  const skip = way === undefined ? [] : [`conveyor ${way} ${id} ${reason}`];
  return [`conveyor watch ${id}`, `conveyor pause ${id} ${reason}`, ...skip, `conveyor revert ${id} ${reason}`];
}

/** Whether the pause ends once a dependency answers. */
export const continuesByItself = ({ by, until }: Pause): boolean => by === 'dependency' && until === undefined;

/** The commands by which a person may continue despite the obstacle. */
function waysRound({ control, plan, cursor }: DeployRecord, id: string): string[] {
  if (control.paused?.by === 'health') return [`skip-health-check ${id}`];
  if (control.paused?.by !== 'timeout') return [];
  return [plan?.phases[cursor]?.kind === 'completion' ? `resume ${id} --accept-missing` : `skip-phase ${id}`];
}
