import { ExtensionError } from '../../sdk/server';
import { deployOf } from '../../sdk/updates/choose';
import type { ConfigFleet } from './fleet';
import type { ConfigPorts } from './ports';
import { asRefusal } from './refusal';
import type { Served } from './served';
import type { ConfigPush } from './service';
import { presentOverrides } from './stale';
import type { WantedVersion } from './versions';

/** Why an update, or a version, is not taken on. */

/** @throws ExtensionError `path-busy`, which a deploy tries again by itself, while another pipeline exposes a change of the same path */
export async function refuseBusyPaths(
  served: Served,
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

/** A deploy that lost its service without knowing, or in which somebody else has changed the paths, goes no further. @throws ExtensionError */
export function refuseOutdated({ name, service }: Served, updateId: string, fence: number | undefined): void {
  if (fence !== undefined && fence < (service.fence ?? fence))
    throw refusal('fenced', `a deploy with fence ${service.fence} was here since`);
  if (service.interrupted.includes(deployOf(updateId)))
    throw refusal('changed-elsewhere', `somebody else has committed to the paths of ${name} during this deploy`);
  if (fence !== undefined) service.fence = fence;
}

/** What could never land is refused before any host sees it. A repository that is away refuses nothing here: whoever needs it waits for it. */
export async function unfitVersion(
  fleet: Pick<ConfigFleet, 'whyNotDeployed'>,
  config: ConfigPush,
  wanted: WantedVersion,
): Promise<{ path: string; message: string }[]> {
  const problem = (message: string) => [{ path: 'version', message }];
  try {
    const why = await asRefusal(() => fleet.whyNotDeployed(config, wanted));
    return why === undefined ? [] : problem(why);
  } catch (error) {
    if (!(error instanceof ExtensionError)) throw error;
    return error.retryable ? [] : problem(error.message);
  }
}

const refusal = (code: string, message: string): ExtensionError => new ExtensionError(code, message, { status: 409 });
