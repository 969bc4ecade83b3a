import { formatIdentity, type Artifact } from '../artifact';
import { NOT_BACK } from '../deploy/control';
import type { RestoredDeploy } from '../deploy/heldUnits';
import { joinWords, withReason } from '../text';
import type { DeployOutcome } from '../views';
import { pickBlamed } from './recordOutcome';
import { markKnownBad } from './knownBad';
import { lastOwn, describeReplacement, findReplacingRelease } from './replacement';
import { isQueued } from './room';
import { isUndeploy } from './undeploy';
import { queueRelease, holdPipeline, isKnownBad, type GoodDeploy, type PipelineState } from './state';

type GoodDeploys = readonly GoodDeploy[];

/** The actor, the release to undo, and the reason. */
export interface Rollback {
  readonly of: number;
  readonly actor: string;
  readonly reason: string;
  readonly notBad: boolean;
}

/**
 * The artifacts that a rollback of a release deploys, which were in production before it; or the reason why there are none. They are
 * never the undone version under another number, nor known-bad, and there is one version of each artifact for all deploys. If the release
 * itself or its last rollback did not complete, they are the last good ones.
 */
export function findRollbackArtifacts(
  state: PipelineState,
  number: number,
): readonly Artifact[] | { readonly impossible: string } {
  if (isUndeploy(state, number)) return { impossible: NOT_BACK };
  const all = listGoodDeploys(state);
  const own = all.filter((good) => findReplacingRelease(good) === undefined);
  const newest = own.flatMap((good) => good.at(-1)?.release ?? []);
  const former = formerDeploys(state, number, newest);
  if (former.length > 0) return { impossible: whyFormer(state, former) };
  if (all.length === 0) return { impossible: whyActive(state, number) ?? whyLeft(state, number) ?? NOTHING_DEPLOYED };
  if (newest.includes(number)) return backTo(state, own, number);
  if (!isLeftOver(state, number)) return { impossible: whyNotNewest(state, all, newest, number) };
  const back = backTo(state, all, number);
  return 'impossible' in back && own.length > 0 ? backTo(state, own, number) : back;
}

/** Deploys that the pipeline file no longer has, if no other deploy can go back instead: they brought the version to undo. */
function formerDeploys({ spec, good }: PipelineState, number: number, newest: readonly number[]): readonly string[] {
  if (newest.includes(number)) return [];
  const former = Object.entries(good).filter(([action]) => spec.actions[action]?.type !== 'deploy');
  return former.flatMap(([action, deploys]) => (deploys.at(-1)?.release === number ? [action] : []));
}

const whyFormer = ({ spec: { pipeline } }: PipelineState, former: readonly string[]): string =>
  `it was deployed by ${joinWords(former, 'and')}, which the pipeline file no longer has: apply a file with ` +
  `${former.length === 1 ? 'that deploy' : 'those deploys'} and revert again, or release the version that should run with conveyor release ${pipeline}`;

/** Names the deploys that the pipeline file dropped after their release's rollback had left it running. */
function whyLeft(state: PipelineState, number: number): string | undefined {
  const left = state.history.find((row) => row.number === number && hasSucceeded(row) && isLeftOver(state, number));
  const actions = (left?.deploys ?? []).map(({ action }) => action);
  const former = actions.filter((action) => state.spec.actions[action]?.type !== 'deploy');
  return former.length === 0 ? undefined : whyFormer(state, former);
}

const hasSucceeded = ({ deploys }: PipelineState['history'][number]): boolean =>
  deploys.some(({ outcome }) => outcome === 'succeeded');

/** The release is about to end, and its pipeline has not yet recorded the result. */
export const NOT_BOOKED = 'its end is being recorded: ask again';

const NOTHING_DEPLOYED = 'nothing of it is deployed';

/** A release whose end is not recorded yet: it has brought nothing, or the record of its versions is still missing. */
function whyActive({ active }: PipelineState, of: number): string | undefined {
  const release = active.find(({ number }) => number === of);
  if (release === undefined) return undefined;
  if (isQueued(release)) return 'it has not started';
  return release.gone ? `it was ended through Temporal, and ${release.gone.open.join('; ')}` : NOT_BOOKED;
}

/**
 * Names the release that runs instead of the one to undo, or the one that removed the units. A version that another pipeline brought is undone by a
 * revert there, or by a push of the wanted version.
 */
function whyNotNewest(
  state: PipelineState,
  all: readonly GoodDeploys[],
  newest: readonly number[],
  of: number,
): string {
  const active = whyActive(state, of);
  if (active !== undefined) return active;
  const together = whyUndoneTogether(state, of);
  if (together !== undefined) return together;
  // Zero is the state before the first release, which a rollback may be about to restore.
  if (newest.length > 0 && Math.max(...newest) === 0) return NOTHING_DEPLOYED;
  if (newest.length > 0) return whyNewer(state, Math.max(...newest));
  const others = all.flatMap((good) => findReplacingRelease(good) ?? []);
  const other = others.findLast(({ removed }) => !removed) ?? others.at(-1);
  if (other?.removed)
    return `${describeReplacement(other)}: release the version that should run with conveyor release ${state.spec.pipeline}`;
  const before = backTo(
    state,
    all.map((good) => good.filter(({ by }) => by === undefined)),
    of,
  );
  const given = 'impossible' in before ? ['NAME=VERSION'] : before.map(({ name, version }) => `${name}=${version}`);
  const { pipeline, actions } = state.spec;
  const [action = 'ACTION'] = Object.keys(state.good).filter((name) => actions[name]?.type === 'deploy');
  return (
    `${other ? describeReplacement(other) : ''}; revert that one, or say what is to run instead: ` +
    `conveyor push ${pipeline} ${action} ${given.map((one) => `-a ${one}`).join(' ')} --emergency --reason "…"`
  );
}

/** A follow-on is undone with the release that it completed, so its units run that version until then. */
function whyUndoneTogether(state: PipelineState, followOn: number): string | undefined {
  const trigger = state.history.find(({ number }) => number === followOn)?.trigger;
  if (trigger?.kind !== 'follow-on' || trigger.of === undefined) return undefined;
  const by = rollbackUnderWay(state, trigger.of);
  return by === undefined ? undefined : `release ${by} undoes it together with release ${trigger.of}`;
}

/** @param newest the last release that is good everywhere; a newer one may run that its rollback has left. */
function whyNewer(state: PipelineState, newest: number): string {
  const { holder } = state.deploys;
  const left = releaseLeftByRollback(state, newest);
  if (holder !== null) {
    const over = undoneBy(state, holder.owner) ?? left?.number ?? newest;
    if (String(over) === holder.owner) return `release ${over} is being deployed; revert that one`;
    return `release ${holder.owner} is being deployed over release ${over}; revert one of these`;
  }
  return left === undefined
    ? `release ${newest} is what runs now; revert that one`
    : `release ${left.number} may still run, since its rollback, release ${left.by}, did not succeed; revert that one`;
}

/** The release that a rollback under way undoes, if that release succeeded: it is no longer good, but still runs. */
function undoneBy({ active, history }: PipelineState, owner: string): number | undefined {
  const trigger = active.find(({ number }) => String(number) === owner)?.trigger;
  return history.find((row) => trigger?.kind === 'rollback' && row.number === trigger.of && hasSucceeded(row))?.number;
}

/** The newest release that succeeded, and is not good any more, although no rollback of it has succeeded. */
function releaseLeftByRollback(state: PipelineState, newest: number): { number: number; by: number } | undefined {
  const left = state.history.findLast(
    (row) => row.number > newest && hasSucceeded(row) && isLeftOver(state, row.number),
  );
  if (left === undefined) return undefined;
  const by = state.history.findLast(({ trigger }) => trigger.kind === 'rollback' && trigger.of === left.number);
  return by && { number: left.number, by: by.number };
}

/** @param inProduction the deploys to undo; each has brought at least one version */
function backTo(
  state: PipelineState,
  inProduction: readonly GoodDeploys[],
  number: number,
): readonly Artifact[] | { readonly impossible: string } {
  const before = inProduction.map((good) => good.filter((deploy) => isStillGood(state, good, deploy, number)));
  if (before.some((good) => good.length === 0))
    return { impossible: `nothing that ran before it is known to be good${severalBefore(inProduction)}` };
  const moments = before.flatMap((good) => good.map(({ release }) => release)).sort((a, b) => b - a);
  for (const moment of moments) {
    const artifacts = productionAt(before, moment);
    if (artifacts !== undefined) return artifacts;
  }
  return { impossible: 'no earlier version is known to be good for all of its deploys' };
}

/** The present file cannot deploy artifacts that an earlier file had under other names. */
export function explainLackingInputs({ spec, good }: PipelineState, back: readonly Artifact[]): string | undefined {
  const known = new Set(back.map(({ name }) => name));
  const lacking = Object.entries(spec.actions).flatMap(([name, { type, inputs }]) =>
    type === 'deploy' && isBroughtBack(good[name]) ? inputs.filter((input) => !known.has(input)) : [],
  );
  if (lacking.length === 0) return undefined;
  const names = joinWords([...new Set(lacking)], 'and');
  return `no earlier release had ${names}, which the pipeline file now deploys: release the versions that should run with conveyor release ${spec.pipeline}`;
}

const isBroughtBack = (good: GoodDeploys = []): boolean => good.length > 0 && findReplacingRelease(good) === undefined;

/** A rollback brings one version to all units. If they ran several before, a person has to choose. */
function severalBefore(inProduction: readonly GoodDeploys[]): string {
  const first = inProduction.flat().find(({ over }) => over !== undefined);
  if (first?.over === undefined) return '';
  return `: before release ${first.release} units ran several versions (${first.over}); release the version that all units should run`;
}

/** The rollback of a release that is under way; undefined if there is none. */
export const rollbackUnderWay = ({ active }: PipelineState, of: number): number | undefined =>
  active.find(({ trigger }) => trigger.kind === 'rollback' && trigger.of === of)?.number;

/** The good versions of each deploy action that the pipeline still has. */
const listGoodDeploys = ({ spec, good }: PipelineState): (readonly GoodDeploy[])[] =>
  Object.entries(good).flatMap(([action, deploys]) =>
    spec.actions[action]?.type === 'deploy' && deploys.length > 0 ? [deploys] : [],
  );

/**
 * Whether a release is not good, or no longer, but may still run, and nothing newer exists except its rollbacks: its deploys did not end
 * well, or its rollback failed or was incomplete.
 */
function isLeftOver(state: PipelineState, number: number): boolean {
  const undoings = state.history.filter(({ trigger }) => trigger.kind === 'rollback' && trigger.of === number);
  const own = new Set([number, ...undoings.map((row) => row.number)]);
  const isNewest = listGoodDeploys(state).every((good) =>
    good.every(({ release }) => release < number || own.has(release)),
  );
  const deployed = state.history.find((row) => row.number === number)?.deploys ?? [];
  const isUndone = undoings.at(-1)?.state === 'succeeded';
  const isOpen = undoings.length > 0 || deployed.some(({ outcome }) => LEAVES_SOMETHING.has(outcome));
  return isNewest && isOpen && !isUndone;
}

const LEAVES_SOMETHING: ReadonlySet<DeployOutcome> = new Set(['failed', 'cancelled', 'revert-failed']);

/** Whether a deploy remains a candidate to go back to once a release is undone. */
function isStillGood(state: PipelineState, good: readonly GoodDeploy[], deploy: GoodDeploy, undone: number): boolean {
  const same = good.some(
    ({ release, version, by }) => release === undone && by === undefined && version === deploy.version,
  );
  return (
    !same &&
    (deploy.by === undefined || deploy.artifacts.length > 0) &&
    !deploy.artifacts.some((artifact) => isKnownBad(state, artifact))
  );
}

/** The artifacts in production after a release; undefined if some were not there yet, or if their versions disagree. */
function productionAt(good: readonly GoodDeploys[], release: number): readonly Artifact[] | undefined {
  const then = good.map((deploys) => deploys.filter((deploy) => deploy.release <= release).at(-1));
  if (then.some((deploy) => deploy === undefined)) return undefined;
  const all = then.flatMap((deploy) => deploy?.artifacts ?? []);
  const artifacts = [...new Map(all.map((artifact) => [formatIdentity(artifact), artifact])).values()];
  return new Set(artifacts.map(({ name }) => name)).size === artifacts.length ? artifacts : undefined;
}

/**
 * The pipeline with a rollback queued. The undone versions are no longer good, their new artifacts are known-bad unless the command
 * says otherwise, and deploys are held unless the pipeline is set to continue after a revert.
 */
export function queueRollback(
  state: PipelineState,
  back: readonly Artifact[],
  { of, actor, reason, notBad }: Rollback,
  nowMs: number,
): PipelineState {
  const isUndone = ({ release, by }: GoodDeploy): boolean => release === of && by === undefined;
  const undoing = Object.entries(state.good).flatMap(([action, deploys]) => {
    const own = deploys.filter(isUndone);
    return own.length === 0 ? [] : [[action, own] as const];
  });
  const undone = undoing.flatMap(([, deploys]) => deploys.flatMap(({ artifacts }) => artifacts));
  const good = Object.fromEntries(
    Object.entries(state.good).map(([action, deploys]) => [action, deploys.filter((deploy) => !isUndone(deploy))]),
  );
  const why = withReason(`${actor} reverted release ${of}`, reason);
  const bad = undone.length > 0 ? pickBlamed(undone, back) : pickReplaced(state, of, back);
  const marked = notBad ? { ...state, good } : markKnownBad({ ...state, good }, bad, why, nowMs);
  const goesOn = marked.held !== null || state.spec.releases.onRevert === 'continue';
  const held = goesOn ? marked : holdPipeline(marked, actor, withReason(`reverted release ${of}`, reason), nowMs);
  const isImported = Object.values(findRestoredDeploys(state, back)).some((restored) => restored.imported);
  const marks = { ...(notBad ? { notBad } : {}), ...(isImported ? { imported: true as const } : {}) };
  const trigger = { kind: 'rollback', actor, key: null, of, ...marks } as const;
  // An earlier rollback does not bring back its release any more; keeping one such record at a time bounds the state.
  const active = held.active.map(({ undone: _earlier, ...release }) => release);
  const more = undone.length === 0 ? {} : { undone: Object.fromEntries(undoing) };
  return queueRelease({ ...held, active }, back, trigger, nowMs, more);
}

/**
 * The deploy of each action that a rollback restores: the newest good one of these artifacts. If another pipeline brought them, the units are those
 * of the action's own previous deploy.
 */
export function findRestoredDeploys(
  { good }: PipelineState,
  back: readonly Artifact[],
): Readonly<Record<string, RestoredDeploy>> {
  const identities = new Set(back.map(formatIdentity));
  const isBack = ({ artifacts }: GoodDeploy): boolean => artifacts.every((one) => identities.has(formatIdentity(one)));
  return Object.fromEntries(
    Object.entries(good).map(([action, deploys]) => {
      const own = deploys.findLast((deploy) => deploy.by === undefined && isBack(deploy));
      const { held, imported } = own ?? lastOwn(deploys.slice(0, deploys.findLastIndex(isBack) + 1)) ?? {};
      return [action, { ...(held === undefined ? {} : { held }), ...(imported ? { imported } : {}) }];
    }),
  );
}

/** The artifacts of a release that is not good, or no longer, and that the rollback replaces. */
function pickReplaced({ history }: PipelineState, of: number, back: readonly Artifact[]): readonly Artifact[] {
  const brought = history.find(({ number }) => number === of)?.artifacts ?? [];
  return brought.filter((one) =>
    back.some((other) => other.name === one.name && formatIdentity(other) !== formatIdentity(one)),
  );
}
