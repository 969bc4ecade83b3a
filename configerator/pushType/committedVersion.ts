import type { Content } from '../domain/subscriber';
import { deployOf } from '../../sdk/updates/choose';
import type { Service } from './memory';
import type { ConfigPorts } from './ports';
import type { ConfigServiceState } from './serviceState';

/** The committed version of a service, by any author. */

/** A deploy is not reverted to the newest commit of others if they made more commits than this during it. */
const REPLACED = 100;

/** The branch has moved: by our landing, by commits to other paths, or by others' commits to our paths. */
export async function follow(served: ConfigServiceState, { changes }: ConfigPorts, head: string): Promise<void> {
  const { service } = served;
  const { repository, paths, landing } = service;
  if (landing?.commit !== undefined) return; // a landing checks the branch itself
  const version = await changes.committedVersion(repository, paths, head, service.head);
  const isOurs = landing?.change !== undefined && (version?.startsWith(`${landing.change}@`) ?? false);
  if (service.landing?.commit !== undefined || isOurs) return;
  if (version !== null && version !== service.committed) adopt(served, version);
  service.commits[service.committed] = head;
  service.head = head;
}

function adopt(served: ConfigServiceState, version: string): void {
  const { service, state, units } = served;
  const before = service.committed;
  setCommitted(service, version);
  delete service.contents[version];
  rename(served, before, version);
  if (service.head === null) return;
  service.replaced[before] = version;
  for (const old of Object.keys(service.replaced).slice(0, -REPLACED)) delete service.replaced[old];
  const touching = Object.entries(state.updates).filter(([, update]) => units.some((unit) => update.units[unit]));
  service.interrupted = [...new Set(touching.map(([id]) => deployOf(id)))];
  for (const unit of units) served.fail(unit, `another author has committed ${version} to the paths of ${served.name}`);
}

/** Nothing replaces it any more. */
export function setCommitted(service: Service, version: string): void {
  service.committed = version;
  delete service.replaced[version];
}

/** A host with the previously committed value counts as having the present one. */
function rename(served: ConfigServiceState, before: string, version: string): void {
  for (const unit of served.units.map((id) => served.unit(id))) {
    if (unit.version === before) unit.version = version;
    for (const slot of unit.slots) if (slot.version === before) Object.assign(slot, { version, update: null });
  }
}

/** Keeps the committed content of the affected paths, so that a revert can expose it again. */
export async function keepCommitted(
  { service }: ConfigServiceState,
  { storeOf }: ConfigPorts,
  content: Content = {},
): Promise<void> {
  const { repository } = service;
  const paths = Object.keys(content);
  const values = await Promise.all(paths.map((path) => storeOf(repository).read(repository, path)));
  const present = paths.map((path, index): [string, Content[string]] => {
    const { value = null, version = '' } = values[index] ?? {};
    return [path, { value, version }];
  });
  service.contents[service.committed] = { ...service.contents[service.committed], ...Object.fromEntries(present) };
}
