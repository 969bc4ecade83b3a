import type { Override } from '../store/port';
import { updateNamedBy } from './exposing';
import type { ConfigPorts } from './ports';
import type { Served } from './served';

/** Overrides of updates that are over come back with an old backup of the store. */

/** What is exposed on a path, once those that are stale are taken away. */
export async function presentOverrides(
  served: Served,
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

/** Takes the stale ones away from every path that a version of the service has. */
export async function sweepOverrides(served: Served, ports: Pick<ConfigPorts, 'storeOf'>): Promise<void> {
  const paths = new Set(Object.values(served.service.contents).flatMap((content) => Object.keys(content)));
  for (const path of paths) await presentOverrides(served, ports, path);
}

/** Of an update that is remembered, and that exposes nothing any more. */
const isStale = ({ state }: Served, id: string): boolean =>
  state.updates[updateNamedBy(id)] !== undefined &&
  Object.values(state.services).every(({ exposed }) => exposed[id] === undefined);
