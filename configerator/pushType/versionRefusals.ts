import { ExtensionError } from '../../sdk/server';
import { deployOf } from '../../sdk/updates/choose';
import type { ConfigPorts } from './ports';
import { asRefusal } from './refusal';
import type { ConfigServiceState } from './serviceState';
import { presentOverrides } from './stale';

/** Why an update or a version is refused. */

/** @throws ExtensionError `path-busy`, which a deploy retries by itself, while another pipeline exposes a change of the same path */
export async function refuseBusyPaths(
  served: ConfigServiceState,
  ports: ConfigPorts,
  version: string,
  updateId: string,
): Promise<void> {
  const { contents, exposed } = served.service;
  for (const path of Object.keys(contents[version] ?? {})) {
    const others = await presentOverrides(served, ports, path);
    const other = others.find(({ id }) => exposed[id] === undefined && deployOf(id) !== deployOf(updateId));
    if (other === undefined) continue;
    const text = `${path} is being changed by ${deployOf(other.id)}, which exposes ${other.revision}; it has to end first`;
    throw new ExtensionError('path-busy', text, { retryable: true });
  }
}

/**
 * Stops a deploy that lost its service without knowing it, or during which others have changed the paths. @throws
 * ExtensionError
 */
export function refuseOutdated(
  { name, service }: ConfigServiceState,
  updateId: string,
  fence: number | undefined,
): void {
  if (fence !== undefined && fence < (service.fence ?? fence))
    throw refusal('fenced', `a newer deploy with fence ${service.fence} has been here`);
  if (service.interrupted.includes(deployOf(updateId)))
    throw refusal('changed-elsewhere', `another author has committed to the paths of ${name} during this deploy`);
  if (fence !== undefined) service.fence = fence;
}

/**
 * The problems of a version that could never land, so that no host gets it. While its repository does not answer, none
 * are reported: later steps wait.
 */
export async function findVersionProblems(
  whyNotDeployed: () => Promise<string | undefined>,
): Promise<{ path: string; message: string }[]> {
  const problem = (message: string) => [{ path: 'version', message }];
  try {
    const why = await asRefusal(whyNotDeployed);
    return why === undefined ? [] : problem(why);
  } catch (error) {
    if (!(error instanceof ExtensionError)) throw error;
    return error.retryable ? [] : problem(error.message);
  }
}

/**
 * Checks before each phase, so that no more hosts get a change that can no longer land. A deploy that is over anyway
 * has its own reason. @throws ExtensionError `conflict`
 */
export async function refuseImpossible(
  { service }: ConfigServiceState,
  updateId: string,
  whyNotDeployed: () => Promise<string | undefined>,
): Promise<void> {
  if (service.interrupted.includes(deployOf(updateId))) return;
  const [problem] = await findVersionProblems(whyNotDeployed);
  if (problem !== undefined) throw refusal('conflict', problem.message);
}

const refusal = (code: string, message: string): ExtensionError => new ExtensionError(code, message, { status: 409 });
