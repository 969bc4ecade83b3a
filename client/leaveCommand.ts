import type { Build } from '../domain/builds';
import { ConveyorError, conveyorError } from '../domain/errors';
import { workflowIds, type OfRelease } from '../domain/ids';
import { isActionVerb, isReleaseVerb, type CommandInput, type Verb } from '../domain/verbs';
import { getPinnedBuild } from './builds';
import type { Temporal } from './connection';
import { signRequest } from './seal';

/** The server's view of a release, which needs no worker: its running deploys, by workflow id, and the build to which it is pinned. */
interface ReleaseAtServer {
  readonly deploys: readonly string[];
  readonly build?: Build;
}

/**
 * Leaves a command as a signal when no worker reports the state of its release: the server keeps it until a worker
 * returns, which then accepts it, or refuses and records it. Errors other than `no-worker` are rethrown. @returns
 * never: in all other cases it throws a `no-worker` with a hint about this
 */
export async function leaveCommand(
  error: unknown,
  { client, seal }: Temporal,
  id: OfRelease,
  verb: Verb,
  input: CommandInput,
): Promise<never> {
  if (!(error instanceof ConveyorError) || error.code !== 'no-worker') throw error;
  const { deploys, ...known } = await describeRelease(client, id).catch((): ReleaseAtServer => ({ deploys: [] }));
  const target = signalTarget(id, verb, deploys);
  if (target === undefined) throw error;
  await client.workflow
    .getHandle(target)
    .signal(verb, signRequest(seal, verb, input))
    .catch(() => {
      // It has ended, so no worker will accept anything.
      throw error;
    });
  throw conveyorError('no-worker', { id: target.slice(target.indexOf('/') + 1), kept: true, ...known });
}

async function describeRelease(client: Temporal['client'], { pipeline, number }: OfRelease): Promise<ReleaseAtServer> {
  const { raw } = await client.workflow.getHandle(workflowIds.release(pipeline, number)).describe();
  const build = getPinnedBuild(raw.workflowExecutionInfo?.versioningInfo);
  return {
    deploys: (raw.pendingChildren ?? []).flatMap(({ workflowId }) =>
      workflowId?.startsWith('deploy/') ? workflowId : [],
    ),
    ...(build === undefined ? {} : { build }),
  };
}

/**
 * A release forwards its verbs to its deploys; a command for a single deploy goes there directly. Undefined if the
 * deploy is ambiguous.
 */
function signalTarget(id: OfRelease, verb: Verb, deploys: readonly string[]): string | undefined {
  const { pipeline, number } = id;
  const isOfRelease = isActionVerb(verb) || (id.kind === 'release' && isReleaseVerb(verb));
  if (isOfRelease) return workflowIds.release(pipeline, number);
  const meant = id.kind === 'action' ? `deploy/${pipeline}/${number}/${id.action}/` : '';
  const [only, ...others] = deploys.filter((deploy) => deploy.startsWith(meant));
  return others.length === 0 ? only : undefined;
}
