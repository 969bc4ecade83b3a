import type { Override } from '../store/port';
import { updateNamedBy } from './exposure';
import type { ConfigPorts } from './ports';
import type { ConfigServiceState } from './serviceState';

/** Overrides of finished updates return with an old backup of the store. */

/** The overrides of a path, after removing stale ones. */
export async function presentOverrides(
  served: ConfigServiceState,
  { storeOf }: Pick<ConfigPorts, 'storeOf'>,
  path: string,
): Promise<readonly Override[]> {
  const { repository } = served.service;
  const store = storeOf(repository);
  const all = await store.overrides(repository, path);
  const stale = new Set<string>();
  for (const { id } of all) {
    if (stale.has(id) || !isStale(served, id)) continue;
    stale.add(id);
    await store.removeOverrides(repository, id);
  }
  return all.filter(({ id }) => !stale.has(id));
}

/** Removes stale overrides from every path of the service's versions. */
export async function sweepOverrides(served: ConfigServiceState, ports: Pick<ConfigPorts, 'storeOf'>): Promise<void> {
  const paths = new Set(Object.values(served.service.contents).flatMap((content) => Object.keys(content)));
  for (const path of paths) await presentOverrides(served, ports, path);
}

/** Whether an override belongs to a known update that exposes nothing any more. */
const isStale = ({ state }: ConfigServiceState, id: string): boolean =>
  state.updates[updateNamedBy(id)] !== undefined &&
  Object.values(state.services).every(({ exposed }) => exposed[id] === undefined);
