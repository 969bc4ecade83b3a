import { ConveyorError, conveyorError, unfitError } from '../domain/errors';
import { unfitCommand } from '../domain/excess';
import { releaseId, workflowIds, type Id, type OfRelease } from '../domain/ids';
import { whyEndedOutside } from '../domain/outside';
import { NOT_BOOKED } from '../domain/pipeline/rollback';
import { offersRerun } from '../domain/release/rerun';
import { requireTarget } from '../domain/target';
import { joinWords } from '../domain/text';
import { isActionVerb, isReleaseVerb, type CommandInput, type CommandReceipt, type Verb } from '../domain/verbs';
import type { ReleaseStatus } from '../domain/views';
import type { StartResult } from '../workflows/messages';
import { leaveCommand } from './leaveCommand';
import type { Workflows } from './workflows';

type Receipt = CommandReceipt & { readonly id: string };

/**
 * Routes a verb to its workflow. If a verb of deploys names a release, it goes to the release's only running deploy,
 * which acknowledges the command itself (docs/design/workflows.md#commands-and-messages). Reverting an ended release
 * starts a rollback.
 */
export async function sendCommand(
  workflows: Workflows,
  text: string,
  verb: Verb,
  input: CommandInput,
): Promise<Receipt> {
  const id = requireTarget(text, verb);
  const unfit = unfitCommand(input);
  if (unfit) throw unfitError(unfit);
  if (id.kind === 'pipeline') return sendToPipeline(workflows, id, verb, input);
  if (isActionVerb(verb)) return sendToAction(workflows, id, text, verb, input);
  const release = await readReleaseOrQueueCommand(workflows, id, verb, input);
  if (verb === 'revert') return sendRevert(workflows, release, id, text, input);
  if (release.endedAt !== null) return sendToEnded(workflows, release, text, verb, input);
  if (release.state === 'queued' && verb === 'cancel') return sendToQueued(workflows, release, input);
  if (verb === 'skip-window' && isOfRelease(release, id)) return sendToAction(workflows, id, text, verb, input);
  const target = commandTarget(release, id, verb, text);
  return { ...(await workflows.update<CommandReceipt>(target.workflowId, target.id, verb, input)), id: target.id };
}

async function sendToAction(
  workflows: Workflows,
  id: OfRelease,
  text: string,
  verb: Verb,
  input: CommandInput,
): Promise<Receipt> {
  const action = id.kind === 'action' ? id.action : input.action;
  if (action === undefined)
    throw conveyorError('invalid-id', { text, expected: `an action such as ${text}/approve, which ${verb} needs` });
  const release = await readReleaseOrQueueCommand(workflows, id, verb, { ...input, action });
  if (release.endedAt !== null) return sendToEnded(workflows, release, text, verb, input);
  const workflowId = workflowIds.release(id.pipeline, id.number);
  return { ...(await workflows.update<CommandReceipt>(workflowId, text, verb, { ...input, action })), id: text };
}

/** An action other than a deploy, or a deploy that has not started: its release waits for its window. */
const isOfRelease = ({ actions }: ReleaseStatus, id: OfRelease): boolean =>
  id.kind === 'action' && actions.some(({ name, deploy }) => name === id.action && deploy === null);

/** The state of the release; if no worker answers, the command is left for later. */
const readReleaseOrQueueCommand = (
  workflows: Workflows,
  id: OfRelease,
  verb: Verb,
  input: CommandInput,
): Promise<ReleaseStatus> =>
  workflows
    .release(id.pipeline, id.number)
    .catch((error: unknown) => leaveCommand(error, workflows.temporal, id, verb, input));

async function sendToPipeline(
  workflows: Workflows,
  { pipeline }: Id,
  verb: Verb,
  input: CommandInput,
): Promise<Receipt> {
  return {
    ...(await workflows.update<CommandReceipt>(workflowIds.pipeline(pipeline), pipeline, verb, input)),
    id: pipeline,
  };
}

/** The target of a verb for a running release: one of its deploys, or the release itself. */
function commandTarget(
  release: ReleaseStatus,
  id: OfRelease,
  verb: Verb,
  text: string,
): { workflowId: string; id: string } {
  const { pipeline, number } = id;
  const deploys = release.actions.filter(({ deploy, endedAt }) => deploy !== null && endedAt === null);
  const wanted = id.kind === 'action' ? release.actions.filter(({ name }) => name === id.action) : deploys;
  const [only, ...others] = wanted;
  if (id.kind === 'action' && only === undefined) throw conveyorError('unknown-deploy', { id: text });
  if (id.kind === 'action' && only?.deploy == null)
    throw conveyorError('invalid-state', {
      verb,
      id: text,
      why: only?.blockedBy ?? `it has not begun (${only?.state ?? ''})`,
    });
  const running = release.actions.filter(({ state }) => state === 'running').length;
  const hasDeployed = release.actions.some(({ deploy, state }) => deploy !== null && state === 'succeeded');
  // A revert of the release also covers deploys that have succeeded.
  const isSeveral = wanted.length !== 1 || running > 1 || (verb === 'revert' && hasDeployed);
  // A pause kept for a worker, or given during several actions, belongs to the release, even if only one deploy still
  // runs.
  const isWhole = verb === 'resume' ? release.state === 'paused' || wanted.length === 0 : isSeveral;
  const toRelease = id.kind === 'release' && isReleaseVerb(verb) && isWhole;
  if (toRelease) return { workflowId: workflowIds.release(pipeline, number), id: releaseId(pipeline, number) };
  if (others.length > 0)
    throw conveyorError('ambiguous-deploy', { id: text, deploys: wanted.flatMap(({ deploy }) => deploy ?? []) });
  if (only?.deploy == null) throw conveyorError('invalid-state', { verb, id: text, why: 'no deploy of it is running' });
  return { workflowId: workflowIds.deploy(pipeline, number, only.name, only.attempt), id: only.deploy };
}

/**
 * A revert goes to the deploy while that runs, to its release until that is over, and then to the pipeline. Each may
 * end during the call. By then it has told the next one, except that a release tells its pipeline only at its very end.
 */
async function sendRevert(
  workflows: Workflows,
  release: ReleaseStatus,
  id: OfRelease,
  text: string,
  input: CommandInput,
): Promise<Receipt> {
  const { pipeline, number } = id;
  const whole = { workflowId: workflowIds.release(pipeline, number), id: releaseId(pipeline, number) };
  const first = release.endedAt !== null ? [] : [revertTarget(release, id, text) ?? whole];
  const send = async ({ workflowId, id: of }: typeof whole): Promise<Receipt> => ({
    ...(await workflows.update<CommandReceipt>(workflowId, of, 'revert', input)),
    id: of,
  });
  const rollBack = () => sendRollBack(workflows, release, text, input);
  const tries = [...first.map((target) => () => send(target)), rollBack, () => send(whole), rollBack];
  const receipt = await firstAccepted(tries);
  const isOwn = receipt.id === whole.id || receipt.id.startsWith(`${whole.id}/`);
  return isOwn ? withHold(workflows, id, receipt) : receipt;
}

/** A person's revert holds the pipeline, even if the version is not marked bad: the fix also waits for `unhold`. */
async function withHold(workflows: Workflows, id: OfRelease, receipt: Receipt): Promise<Receipt> {
  const { pipeline } = id;
  const known = async () => (await workflows.pipelineState(pipeline)).spec;
  const spec = await Promise.race([known(), wait(HOLD_MS)]).catch(() => undefined);
  const isCanary = id.kind === 'action' && spec?.actions[id.action]?.type === 'canary';
  if (!spec || isCanary || spec.releases.onRevert === 'continue') return receipt;
  return { ...receipt, effect: `${receipt.effect}; ${describeHold(pipeline)}` };
}

/** How long to wait for the spec: the revert is already running. */
const HOLD_MS = 1_000;

const wait = (ms: number): Promise<undefined> =>
  new Promise((resolve) => void setTimeout(resolve, ms, undefined).unref());

const describeHold = (pipeline: string): string =>
  `the pipeline is held from then on, until conveyor unhold ${pipeline} --reason "…"`;

/** The deploy, or undefined if it succeeded: then a revert of its release undoes it. */
function revertTarget(
  release: ReleaseStatus,
  id: OfRelease,
  text: string,
): ReturnType<typeof commandTarget> | undefined {
  const hasSucceeded = ({ name, state, deploy }: ReleaseStatus['actions'][number]): boolean =>
    id.kind === 'action' && name === id.action && deploy !== null && state === 'succeeded';
  return release.actions.some(hasSucceeded) ? undefined : commandTarget(release, id, 'revert', text);
}

/** The answer of the first that accepts the call; if all refuse, the answer of the last. */
async function firstAccepted<T>([next, ...others]: readonly (() => Promise<T>)[]): Promise<T> {
  if (next === undefined) throw new Error('no pipeline to ask');
  if (others.length === 0) return next();
  try {
    return await next();
  } catch (error) {
    if (!(error instanceof ConveyorError) || error.code !== 'invalid-state' || !PASSING_REFUSAL.test(error.message))
      throw error;
    return firstAccepted(others);
  }
}

/** The addressee ended during the call, or does not know about the release yet. */
const PASSING_REFUSAL = new RegExp(`it has ended$|${NOT_BOOKED}$`);

async function sendToEnded(
  workflows: Workflows,
  release: ReleaseStatus,
  text: string,
  verb: Verb,
  input: CommandInput,
): Promise<Receipt> {
  if (verb === 'cancel' && release.children && release.children.state !== 'cancelled')
    return sendToChildren(workflows, release, verb, input);
  if (verb === 'retry')
    throw conveyorError('invalid-state', {
      verb,
      id: text,
      why: offersRerun(release, false)
        ? `it has ended (${release.state}); run it again with conveyor rerun ${release.id}, or start a new one with conveyor release ${release.pipeline}`
        : `it has ended (${release.state}); start a new one with conveyor release ${release.pipeline}`,
    });
  if (verb !== 'revert')
    throw conveyorError('invalid-state', {
      ...{ verb, id: text },
      why: whyEndedOutside(release) ?? `it has ended (${release.state})`,
    });
  return sendRollBack(workflows, release, text, input);
}

const isEndedRefusal = (error: unknown): boolean =>
  error instanceof ConveyorError && error.message.endsWith('it has ended');

const PIPELINE_ENDED =
  'its pipeline has ended: conveyor apply brings it back, with its records, and then it can be reverted';

async function sendRollBack(
  workflows: Workflows,
  { id: of, pipeline, number }: ReleaseStatus,
  text: string,
  input: CommandInput,
): Promise<Receipt> {
  const asked = workflows.update<StartResult>(workflowIds.pipeline(pipeline), text, 'roll-back', {
    ...input,
    of: number,
  });
  const {
    number: rollback,
    isHeld,
    brings = [],
  } = await asked.catch((error: unknown) => {
    throw isEndedRefusal(error)
      ? conveyorError('invalid-state', { verb: 'revert', id: text, why: PIPELINE_ENDED })
      : error;
  });
  const id = releaseId(pipeline, rollback);
  const back = brings.length === 0 ? `what ran before ${of}` : `${joinWords(brings, 'and')} from before ${of}`;
  return {
    accepted: true,
    effect: `release ${id} brings back ${back}${isHeld ? `, and the pipeline is held; conveyor unhold ${pipeline} --reason "…" lets deploys start again` : ''}`,
    id,
  };
}

/** Only the pipeline can cancel a release that it has not started. */
async function sendToQueued(workflows: Workflows, { id, pipeline, number }: ReleaseStatus, input: CommandInput) {
  const pipelineId = workflowIds.pipeline(pipeline);
  const receipt = await workflows.update<CommandReceipt>(pipelineId, id, 'cancel-queued', { ...input, number });
  return { ...receipt, id };
}

/** A parent that has ended may still be starting children. */
async function sendToChildren(
  workflows: Workflows,
  { id, pipeline, number }: ReleaseStatus,
  verb: Verb,
  input: CommandInput,
): Promise<Receipt> {
  const workflowId = workflowIds.children(pipeline, number);
  return { ...(await workflows.update<CommandReceipt>(workflowId, id, verb, input)), id };
}
