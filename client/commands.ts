import { conveyorError, unfitError } from '../domain/errors';
import { unfitCommand } from '../domain/excess';
import { releaseId, workflowIds, type Id, type OfRelease } from '../domain/ids';
import { whyEndedOutside } from '../domain/outside';
import { offersRerun } from '../domain/release/rerun';
import { requireTarget } from '../domain/target';
import { isActionVerb, isReleaseVerb, type CommandInput, type CommandReceipt, type Verb } from '../domain/verbs';
import type { ReleaseStatus } from '../domain/views';
import type { Started } from '../workflows/messages';
import { leaveCommand } from './unanswered';
import type { Workflows } from './workflows';

type Receipt = CommandReceipt & { readonly id: string };

/**
 * Sends a verb where it belongs. Where a deploy is expected and a release is given, its only running deploy is meant, and
 * it acknowledges the command itself (docs/design/workflows.md#commands-and-messages). Reverting what has ended starts a rollback.
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
  const release = await releaseOrLeave(workflows, id, verb, input);
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
  const release = await releaseOrLeave(workflows, id, verb, { ...input, action });
  if (release.endedAt !== null) return sendToEnded(workflows, release, text, verb, input);
  const workflowId = workflowIds.release(id.pipeline, id.number);
  return { ...(await workflows.update<CommandReceipt>(workflowId, text, verb, { ...input, action })), id: text };
}

/** An action that is not a deploy, or has not begun to be one: its release waits for its window. */
const isOfRelease = ({ actions }: ReleaseStatus, id: OfRelease): boolean =>
  id.kind === 'action' && actions.some(({ name, deploy }) => name === id.action && deploy === null);

/** How the release stands; the command is left for later when nobody says. */
const releaseOrLeave = (workflows: Workflows, id: OfRelease, verb: Verb, input: CommandInput): Promise<ReleaseStatus> =>
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

/** Where a verb for a running release goes: to one of its deploys, or to the release itself. */
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
  // A revert of the release means what has succeeded as well.
  const isSeveral = wanted.length !== 1 || running > 1 || (verb === 'revert' && hasDeployed);
  // A pause that was kept for a worker, or that met several actions, is the release's, whatever of it runs by now.
  const isWhole = verb === 'resume' ? release.state === 'paused' || wanted.length === 0 : isSeveral;
  const toRelease = id.kind === 'release' && isReleaseVerb(verb) && isWhole;
  if (toRelease) return { workflowId: workflowIds.release(pipeline, number), id: releaseId(pipeline, number) };
  if (others.length > 0)
    throw conveyorError('ambiguous-deploy', { id: text, deploys: wanted.flatMap(({ deploy }) => deploy ?? []) });
  if (only?.deploy == null) throw conveyorError('invalid-state', { verb, id: text, why: 'no deploy of it is running' });
  return { workflowId: workflowIds.deploy(pipeline, number, only.name, only.attempt), id: only.deploy };
}

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
  const { pipeline, number } = release;
  const { number: rollback, isHeld } = await workflows.update<Started>(
    workflowIds.pipeline(pipeline),
    text,
    'roll-back',
    { ...input, of: number },
  );
  const id = releaseId(pipeline, rollback);
  return {
    accepted: true,
    effect: `release ${id} brings back what ran before ${release.id}${isHeld ? ', and the pipeline is held' : ''}`,
    id,
  };
}

/** A release that its pipeline has not started is the pipeline's to cancel. */
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
