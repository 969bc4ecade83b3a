import { parseId } from './ids';
import { offersRerun } from './release/rerun';
import type { StartVerb, Verb } from './verbs';
import type { AcceptedVerbs, ActionView, DeployStatus, PipelineStatus, ReleaseStatus } from './views';

/** The commands that a pipeline, release or deploy accepts now. The rights of a person are decided elsewhere. */

export interface OfferedCommand {
  readonly verb: Verb | StartVerb;
  /** The id of what gets it: `kvstore`, `kvstore/12`, `kvstore/12/deploy`. */
  readonly target: string;
  /** For a pick. */
  readonly approve?: boolean;
  /** `executable@kv:13` */
  readonly artifact?: string;
  /** The deploy of another pipeline whose use ends: `shop/deploy`. */
  readonly user?: string;
  /** The phase under way, which a skip names. */
  readonly phase?: string;
  /** The effect in one sentence, as the command would answer. */
  readonly effect: string;
}

/** Known-bad artifacts, and users of offers, that get a command of their own. */
const MOST_CHOICES = 20;

const toOfferedCommands = (accepts: AcceptedVerbs | undefined, target: string): OfferedCommand[] =>
  Object.entries(accepts ?? {}).map(([verb, effect]) => ({ verb: verb as Verb, target, effect }));

const START_EFFECT = 'a new release starts; inputs without a version take the latest that is known';

/** Without inputs that only the status knows, a verb is offered once for each of their values. */
export function listPipelineOffers(pipeline: PipelineStatus): OfferedCommand[] {
  const { id, accepts, knownBad, retired, offers = [] } = pipeline;
  if (accepts === undefined) return [];
  const users = [...new Set(offers.flatMap((offer) => offer.users.map(({ user }) => user)))];
  const effect = 'its offers no longer wait for that deploy; if it runs again and wishes for them, it is a user again';
  return [
    ...(retired === undefined ? [{ verb: 'release', target: id, effect: START_EFFECT } as const] : []),
    ...toOfferedCommands(accepts, id).flatMap((offer) =>
      offer.verb === 'allow-artifact'
        ? knownBad
            .slice(-MOST_CHOICES)
            .reverse()
            .map(({ artifact }) => ({ ...offer, artifact: artifact.replace(/#.*$/, '') }))
        : [offer],
    ),
    ...users.slice(0, MOST_CHOICES).map((user) => ({ verb: 'end-use', target: id, user, effect }) as const),
  ];
}

/** Skips name the phase that the person sees, so that none skips the next one. */
export function listDeployOffers(deploy: DeployStatus): OfferedCommand[] {
  const { id, state, outcome, accepts, undone, phases } = deploy;
  if (state === 'ended') return outcome === 'succeeded' && undone === undefined ? [offerRollback(id)] : [];
  const phase = phases.find((one) => one.state === 'running')?.name;
  return toOfferedCommands(accepts, id).map((offer) =>
    phase !== undefined && (offer.verb === 'skip-phase' || offer.verb === 'skip-bake') ? { ...offer, phase } : offer,
  );
}

/**
 * Whether a release can run again: as far as it knows itself, and by the records of its pipeline, without which nothing
 * is certain.
 */
function isRerunnable(
  release: ReleaseStatus,
  deploys: readonly DeployStatus[],
  pipeline: Pick<PipelineStatus, 'rerunnable'> | null,
): boolean {
  const isReverted = deploys.some(({ outcome }) => outcome === 'reverted');
  return offersRerun(release, isReverted) && (pipeline?.rerunnable ?? []).includes(release.number);
}

/**
 * The commands of a release and of its actions. One that would go to its only running deploy names that deploy, as the
 * client does.
 */
export function listReleaseOffers(
  release: ReleaseStatus,
  deploys: readonly DeployStatus[],
  pipeline: Pick<PipelineStatus, 'rerunnable'> | null = null,
): OfferedCommand[] {
  const { id, state, endedAt, accepts, children, actions, undone, trigger } = release;
  if (state === 'queued') return [{ verb: 'cancel', target: id, effect: 'it leaves the queue and never starts' }];
  if (endedAt !== null) {
    const isBack = undone === undefined && trigger.kind !== 'undeploy' && actions.some(hasDeployed);
    const hasOpenChildren = children != null && ['selecting', 'first', 'running'].includes(children.state);
    return [
      ...(isRerunnable(release, deploys, pipeline)
        ? [{ verb: 'rerun', target: id, effect: RERUN_EFFECT } as const]
        : []),
      ...(isBack ? [offerRollback(id)] : []),
      ...(hasOpenChildren
        ? [{ verb: 'cancel', target: id, effect: 'no further child starts, and running ones are cancelled' } as const]
        : []),
    ];
  }
  const only = findOnlyDeploy(release, deploys);
  const own = toOfferedCommands(accepts, id).filter(({ verb }) => only === undefined || !goesToDeploy(release, verb));
  const deployed = only === undefined ? [] : listDeployOffers(only).filter(({ verb }) => goesToDeploy(release, verb));
  return [...actions.flatMap((action) => listActionOffers(id, action)), ...own, ...deployed];
}

const RERUN_EFFECT = 'a new release with the same inputs repeats what has not succeeded';

/** Whether it is a deploy that has succeeded. */
export const hasDeployed = ({ deploy, state }: ActionView): boolean => deploy !== null && state === 'succeeded';

/** The running deploy to which a command to its release would go. */
function findOnlyDeploy({ actions }: ReleaseStatus, deploys: readonly DeployStatus[]): DeployStatus | undefined {
  const running = actions.filter(({ state }) => state === 'running');
  const [only, ...others] = actions.filter(({ deploy, endedAt }) => deploy !== null && endedAt === null);
  if (only === undefined || others.length > 0 || running.length > 1) return undefined;
  return deploys.find(({ id }) => id === only.deploy);
}

/** A paused release is resumed as a whole, and a revert covers deploys that have succeeded. */
function goesToDeploy({ state, actions }: ReleaseStatus, verb: OfferedCommand['verb']): boolean {
  if (verb === 'resume') return state !== 'paused';
  if (verb === 'revert') return !actions.some(hasDeployed);
  return verb === 'pause' || verb === 'cancel';
}

function listActionOffers(release: string, { name, accepts, deploy, state }: ActionView): OfferedCommand[] {
  return toOfferedCommands(accepts, `${release}/${name}`).flatMap((offer): OfferedCommand[] => {
    if (offer.verb !== 'pick') return deploy !== null && state === 'running' ? [] : [offer];
    return [
      { ...offer, approve: true },
      { ...offer, approve: false, effect: 'the action fails, and the release follows that' },
    ];
  });
}

function offerRollback(target: string): OfferedCommand {
  const id = parseId(target);
  const number = id === undefined || id.kind === 'pipeline' ? '' : ` ${id.number}`;
  return { verb: 'revert', target, effect: `a new release brings back what ran before release${number}` };
}

/** Whether two offers are about the same: the verb, its target, and the inputs that it names. */
export const isSameOffer = (one: Omit<OfferedCommand, 'effect'>, other: Omit<OfferedCommand, 'effect'>): boolean =>
  one.verb === other.verb &&
  one.target === other.target &&
  one.approve === other.approve &&
  one.artifact === other.artifact &&
  one.user === other.user;

/** The command line that does the same. */
export function formatCommandLine(command: Omit<OfferedCommand, 'effect'>, reason = '…'): string {
  const { verb, target, approve, artifact, user, phase } = command;
  const words = [
    ...['conveyor', verb, target],
    ...(artifact === undefined ? [] : [artifact]),
    ...(user === undefined ? [] : [user]),
    ...(approve === undefined ? [] : [approve ? '--approve' : '--reject']),
    ...(phase === undefined ? [] : ['--phase', phase]),
  ];
  return [...words, '--reason', `"${reason}"`].join(' ');
}
