import { ConveyorError, conveyorError } from '../domain/errors';
import { workflowIds, type OfRelease } from '../domain/ids';
import { isActionVerb, isReleaseVerb, type CommandInput, type Verb } from '../domain/verbs';
import type { Temporal } from './connection';
import { proven } from './seal';

/** The running deploys of a release, by workflow id, which the server knows without a worker. */
type RunningDeployIds = readonly string[];

/**
 * A command about a release of which no worker would say how it stands: it is left as a signal, which the server keeps until
 * a worker returns; that takes it then, or refuses it and puts that on record. Anything but `no-worker` is thrown on.
 * @returns never: any other case is a `no-worker` too, whose hint says so.
 */
export async function leaveCommand(
  error: unknown,
  { client, seal }: Temporal,
  id: OfRelease,
  verb: Verb,
  input: CommandInput,
): Promise<never> {
  if (!(error instanceof ConveyorError) || error.code !== 'no-worker') throw error;
  const target = signalTarget(id, verb, await runningDeploys(client, id).catch(() => []));
  if (target === undefined) throw error;
  await client.workflow
    .getHandle(target)
    .signal(verb, proven(seal, verb, input))
    .catch(() => {
      // It has ended, so that nobody will take anything.
      throw error;
    });
  throw conveyorError('no-worker', { id: target.slice(target.indexOf('/') + 1), kept: true });
}

async function runningDeploys(client: Temporal['client'], { pipeline, number }: OfRelease): Promise<RunningDeployIds> {
  const { raw } = await client.workflow.getHandle(workflowIds.release(pipeline, number)).describe();
  return (raw.pendingChildren ?? []).flatMap(({ workflowId }) => (workflowId?.startsWith('deploy/') ? workflowId : []));
}

/** A release forwards its verbs to its deploys; what is for one deploy alone goes there. Undefined where it is not clear which. */
function signalTarget(id: OfRelease, verb: Verb, deploys: RunningDeployIds): string | undefined {
  const { pipeline, number } = id;
  const isOfRelease = isActionVerb(verb) || (id.kind === 'release' && isReleaseVerb(verb));
  if (isOfRelease) return workflowIds.release(pipeline, number);
  const meant = id.kind === 'action' ? `deploy/${pipeline}/${number}/${id.action}/` : '';
  const [only, ...others] = deploys.filter((deploy) => deploy.startsWith(meant));
  return others.length === 0 ? only : undefined;
}
