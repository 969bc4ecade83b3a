import { formatIdentity } from '../domain/artifact';
import { hasDeployed, type OfferedCommand } from '../domain/commandOffers';
import { computeTotals } from '../domain/deploy/counts';
import { conjugate, formatDuration, joinWords, plural } from '../domain/text';
import { mayCarryOver } from '../domain/release/rerun';
import type { ActionView, DeployStatus, PhaseView, PipelineStatus, ReleaseStatus } from '../domain/views';

/** The things that a command would change, as far as they are known. */
export interface CommandScene {
  readonly pipeline: PipelineStatus | null;
  /** The inputs of the pipeline, if it gets the command. */
  readonly takes?: readonly string[];
  readonly release: ReleaseStatus | null;
  /** The deploys of the release; only the one that gets the command, if one does. */
  readonly deploys: readonly DeployStatus[];
  /** A revert by a person holds the pipeline; null if that is not known. */
  readonly holdsOnRevert: boolean | null;
  readonly nowMs: number;
}

type DescribeConsequences = (scene: CommandScene, command: OfferedCommand) => readonly string[];

/** The effect of a command in numbers, one sentence each; none if nothing can be counted. */
export function describeConsequences(scene: CommandScene, command: OfferedCommand): readonly string[] {
  if (scene.pipeline !== null && scene.release === null && scene.deploys.length === 0)
    return PIPELINE_EFFECTS[command.verb]?.(scene, command) ?? [];
  const isWhole = scene.release !== null && command.target === scene.release.id;
  return (isWhole ? RELEASE_EFFECTS : PART_EFFECTS)[command.verb]?.(scene, command) ?? [];
}

const isOpen = ({ state }: PhaseView): boolean => state === 'running' || state === 'waiting';

/** Its phases that have not ended, and its tasks: all, and those that it has updated. */
function countDeploy({ phases, planned }: DeployStatus) {
  const totals = phases.map(computeTotals);
  const updated = totals.reduce((sum, one) => sum + one.updated, 0);
  const targeted = totals.reduce((sum, one) => sum + one.targeted, 0);
  return { open: phases.filter(isOpen).length, updated, tasks: planned?.tasks ?? Math.max(targeted, updated) };
}

function countDeploys(deploys: readonly DeployStatus[]) {
  const counts = deploys.filter(({ state }) => state !== 'ended').map(countDeploy);
  const sum = (pick: (one: (typeof counts)[number]) => number) => counts.reduce((all, one) => all + pick(one), 0);
  return {
    ...{ deploys: counts.length, open: sum(({ open }) => open) },
    ...{ updated: sum(({ updated }) => updated), tasks: sum(({ tasks }) => tasks) },
  };
}

/** The longest update so far: a revert sends everything at once. */
function estimateRevertMs(deploys: readonly DeployStatus[]): number {
  const took = deploys.flatMap(({ phases }) =>
    phases.flatMap(({ startedAt, updatedAt }) =>
      startedAt === null || updatedAt === null ? [] : [Date.parse(updatedAt) - Date.parse(startedAt)],
    ),
  );
  return Math.max(0, ...took);
}

/** The version before, if all deploys had the same one. */
function findEarlierVersion({ pipeline, deploys }: CommandScene): string {
  const versions = new Set(deploys.map(({ id }) => pipeline?.lastGood[id.split('/').at(-1) ?? '']?.version));
  const [version] = versions;
  const isNew = deploys.some((deploy) => deploy.version === version);
  return versions.size === 1 && version !== undefined && !isNew ? version : 'what ran before';
}

function describeReturn(scene: CommandScene): string[] {
  const running = scene.deploys.filter(({ state }) => state !== 'ended');
  const { open, updated } = countDeploys(running);
  const [ms, earlier] = [estimateRevertMs(running), findEarlierVersion({ ...scene, deploys: running })];
  const duration = ms > 0 ? `, in about ${formatDuration(ms)}` : '';
  return [
    `It stops ${plural(open, 'phase')}.`,
    updated === 0
      ? 'It has updated no task yet, so none goes back.'
      : `It takes ${plural(updated, 'task')} back to ${earlier}${duration}.`,
    ...(scene.holdsOnRevert === true ? ['The pipeline is held from then on, until a person ends the hold.'] : []),
  ];
}

function describeRollback({ deploys, release, holdsOnRevert }: CommandScene): string[] {
  const ended = deploys.filter(({ outcome }) => outcome === 'succeeded');
  const tasks = ended.reduce((sum, deploy) => sum + countDeploy(deploy).tasks, 0);
  const count = ended.length > 0 ? ended.length : (release?.actions.filter(hasDeployed).length ?? 0);
  return [
    `It starts a rollback, which undoes ${plural(count, 'deploy')}${tasks > 0 ? ` with ${plural(tasks, 'task')}` : ''}.`,
    ...(holdsOnRevert === true ? ['The pipeline is held from then on, until a person ends the hold.'] : []),
  ];
}

const describeRest = (scene: CommandScene): string => {
  const { open, updated, tasks } = countDeploys(scene.deploys);
  return `${plural(Math.max(0, tasks - updated), 'task')} in ${plural(open, 'phase')} ${tasks - updated === 1 ? 'is' : 'are'} still to come.`;
};

const findPhase = ({ deploys: [deploy] }: CommandScene): PhaseView | undefined =>
  deploy?.phases.find(({ state }) => state === 'running');

function describeSkippedPhase(scene: CommandScene): string[] {
  const phase = findPhase(scene);
  if (phase === undefined) return [];
  const { targeted, live } = computeTotals(phase);
  const next = scene.deploys[0]?.phases[phase.index + 1];
  return [
    `It leaves ${plural(Math.max(0, targeted - live), 'task')} of phase ${phase.name} to ${next === undefined ? 'no other phase' : `phase ${next.name}`}.`,
  ];
}

function describeSkippedBake(scene: CommandScene): string[] {
  const phase = findPhase(scene);
  if (phase === undefined) return [];
  const planned = scene.deploys[0]?.planned?.phases[phase.index];
  const restMs = phase.bakeUntil === null ? (planned?.bakeMs ?? 0) : Date.parse(phase.bakeUntil) - scene.nowMs;
  return restMs > 0 ? [`It saves ${formatDuration(restMs)} of the bake of phase ${phase.name}.`] : [];
}

function describeSkippedChecks({ deploys: [deploy] }: CommandScene): string[] {
  const rows = deploy?.health ?? [];
  const bad = rows.filter(({ verdict }) => verdict === 'unhealthy').length;
  const checks = new Set(rows.map(({ check }) => check)).size;
  return [`It has ${plural(checks, 'check')} with ${plural(rows.length, 'verdict')} now, ${bad} of them unhealthy.`];
}

const describeEarlyStart = (until: string | null | undefined, nowMs: number): string[] =>
  until == null || Date.parse(until) <= nowMs
    ? []
    : [`It begins ${formatDuration(Date.parse(until) - nowMs)} before the wait would end.`];

/** The actions that wait for this one, directly or through others. */
function listFollowers({ actions }: ReleaseStatus, name: string): readonly string[] {
  const found = new Set([name]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const action of actions) if (action.needs.some((need) => found.has(need))) found.add(action.name);
  }
  return [...found].filter((one) => one !== name);
}

const findTarget = ({ release }: CommandScene, { target }: OfferedCommand): ActionView | undefined =>
  release?.actions.find(({ name }) => `${release.id}/${name}` === target);

const MOST_NAMES = 5;

const listNames = (names: readonly string[]): string =>
  names.length <= MOST_NAMES
    ? joinWords(names, 'and')
    : `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more`;

function describePick(scene: CommandScene, command: OfferedCommand): string[] {
  const [release, action] = [scene.release, findTarget(scene, command)];
  if (release === null || action === undefined) return [];
  const followers = listFollowers(release, action.name);
  const after = followers.length === 0 ? '' : `: ${listNames(followers)}`;
  if (command.approve !== true)
    return [`It fails ${action.name}; ${plural(followers.length, 'action')} may wait for it in vain${after}.`];
  const { approval } = action;
  const open = approval ? approval.needed - approval.by.length - 1 : 0;
  return [
    `It approves ${describeApproved(release)}.`,
    open > 0
      ? `${plural(open, 'approval')} by others ${open === 1 ? 'is' : 'are'} still missing then.`
      : `${plural(followers.length, 'action')} may follow${after}.`,
  ];
}

/** An undeploy has no artifacts: its deploys are what people approve to remove. */
const describeApproved = ({ trigger, actions, artifacts }: ReleaseStatus): string =>
  trigger.kind === 'undeploy'
    ? `the removal of ${listNames(actions.map(({ name }) => name))}`
    : listNames(artifacts.map(formatIdentity));

function describeRetry(scene: CommandScene, command: OfferedCommand): string[] {
  const [release, action] = [scene.release, findTarget(scene, command)];
  if (release === null || action === undefined) return [];
  const followers = listFollowers(release, action.name);
  return [
    `It starts attempt ${action.attempt + 1} of ${action.name}; ${plural(followers.length, 'action')} after it may run again.`,
  ];
}

function describeOverride(scene: CommandScene, command: OfferedCommand): string[] {
  const { users = [], more = 0 } = findTarget(scene, command)?.unfit ?? {};
  const names = [...new Set(users.map(({ user }) => user))];
  return [`The offers of this deploy do not fit ${plural(names.length + more, 'user')}: ${listNames(names)}.`];
}

/** Verbs of deploys, and of other actions. */
const PART_EFFECTS: { readonly [V in OfferedCommand['verb']]?: DescribeConsequences } = {
  pause: (scene) => [describeRest(scene)],
  resume: (scene) => [describeRest(scene)],
  cancel: ({ deploys }) => {
    const { open, updated, tasks } = countDeploys(deploys);
    const versions = [...new Set(deploys.map(({ version }) => version))];
    return [
      `It stops ${plural(open, 'phase')}.`,
      `It leaves ${updated} of ${plural(tasks, 'task')} on ${listNames(versions)}.`,
    ];
  },
  revert: (scene) => (scene.deploys.every(({ state }) => state === 'ended') ? describeRollback : describeReturn)(scene),
  'skip-phase': describeSkippedPhase,
  'skip-bake': describeSkippedBake,
  'skip-health-check': describeSkippedChecks,
  'skip-window': (scene, command) =>
    describeEarlyStart(findTarget(scene, command)?.until ?? scene.deploys[0]?.until, scene.nowMs),
  pick: describePick,
  retry: describeRetry,
  'override-offer': describeOverride,
};

function countActions({ release }: CommandScene) {
  const of = (states: readonly string[]) => release?.actions.filter(({ state }) => states.includes(state)).length ?? 0;
  return { running: of(['running']), ahead: of(['waiting', 'blocked']) };
}

const describeStop: DescribeConsequences = (scene) => {
  const { running, ahead } = countActions(scene);
  return [
    `It ends ${plural(running, 'running action')}, and ${plural(ahead, 'other')} never ${conjugate(ahead, 'start')}.`,
  ];
};

function describeRerun({ release }: CommandScene): string[] {
  const { actions = [], artifacts = [] } = release ?? {};
  const inputs = artifacts.filter(({ producedBy }) => producedBy === undefined);
  const kept = actions.filter(mayCarryOver).length;
  const again = actions.length - kept;
  return [
    `It takes ${inputs.length === 0 ? 'no version' : listNames(inputs.map(formatIdentity))}, as before.`,
    `${plural(again, 'action')} ${conjugate(again, 'run')} again; the results of ${plural(kept, 'other')} are taken over if nothing before them changes.`,
  ];
}

function describeNewRelease(scene: CommandScene): string[] {
  const known = scene.pipeline?.inputs ?? [];
  return [
    known.length === 0
      ? 'No version is known yet.'
      : `The latest ${known.length === 1 ? 'version is' : 'versions are'} ${listNames(known.map(formatIdentity))}.`,
    describeUnderWay(scene),
  ];
}

const RELEASE_EFFECTS: typeof PART_EFFECTS = {
  rerun: describeRerun,
  pause: (scene) => {
    const { running, ahead } = countActions(scene);
    return [
      `${plural(ahead, 'action')} ${conjugate(ahead, 'wait')} until it is resumed; ${plural(running, 'action')} ${running === 1 ? 'is' : 'are'} running.`,
      ...(scene.deploys.length > 0 ? [describeRest(scene)] : []),
    ];
  },
  resume: (scene) => {
    const { ahead } = countActions(scene);
    return [`${plural(ahead, 'action')} may start again.`, ...(scene.deploys.length > 0 ? [describeRest(scene)] : [])];
  },
  cancel: (scene, command) => {
    if (scene.release?.state === 'queued') return [];
    const { children } = scene.release ?? {};
    if (children && scene.release?.endedAt)
      return [`${plural(children.waiting, 'child release')} never start, and ${children.running} are cancelled.`];
    const { updated, tasks } = countDeploys(scene.deploys);
    const left = tasks === 0 ? [] : [`It leaves ${updated} of ${plural(tasks, 'task')} updated.`];
    return [...describeStop(scene, command), ...left];
  },
  revert: (scene, command) => {
    if (scene.release?.endedAt) return describeRollback(scene);
    const back = scene.deploys.filter(({ outcome }) => outcome === 'succeeded');
    return [
      ...describeStop(scene, command),
      ...describeReturn(scene),
      ...(back.length > 0
        ? [`A rollback undoes ${plural(back.length, 'deploy')} that ${back.length === 1 ? 'has' : 'have'} succeeded.`]
        : []),
    ];
  },
};

const describeUnderWay = ({ pipeline }: CommandScene): string =>
  `${plural(pipeline?.active.length ?? 0, 'release')} ${pipeline?.active.length === 1 ? 'is' : 'are'} under way.`;

const describeWaitEnds = ({ pipeline }: CommandScene, word: string): string => {
  const waits = (pipeline?.waits ?? []).filter(({ why }) => why.includes(word)).length;
  return `${plural(waits, 'wait')} for it ${conjugate(waits, 'end')}.`;
};

const listProduction = ({ pipeline }: CommandScene): string[] =>
  Object.entries(pipeline?.lastGood ?? {}).map(([action, { version }]) => `${action} with ${version}`);

const PIPELINE_EFFECTS: typeof PART_EFFECTS = {
  release: describeNewRelease,
  hold: (scene) => [describeUnderWay(scene)],
  freeze: (scene) => [describeUnderWay(scene)],
  unhold: (scene) => [describeWaitEnds(scene, 'held')],
  unfreeze: (scene) => [describeWaitEnds(scene, 'frozen')],
  'allow-artifact': ({ pipeline }, { artifact = '' }) =>
    (pipeline?.knownBad ?? [])
      .filter((bad) => bad.artifact.replace(/#.*$/, '') === artifact)
      .map(({ reason }) => `It is known-bad because ${reason}.`),
  retire: (scene) => [
    `It leaves ${plural(listProduction(scene).length, 'deploy')} in production, and takes no more releases.`,
  ],
  undeploy: (scene) => {
    const [all, users] = [listProduction(scene), scene.pipeline?.offers?.flatMap((offer) => offer.users) ?? []];
    return [
      `It removes ${plural(all.length, 'deploy')}: ${listNames(all)}.`,
      `${plural(new Set(users.map(({ user }) => user)).size, 'other deploy')} of other pipelines ${users.length === 1 ? 'uses' : 'use'} its offers.`,
    ];
  },
  'end-use': ({ pipeline }, { user = '' }) => {
    const used = (pipeline?.offers ?? []).filter(({ users }) => users.some((one) => one.user === user));
    return [`${user} uses ${plural(used.length, 'offer')}: ${listNames(used.map(({ name }) => name))}.`];
  },
};
