import type { RequestOf } from '../../sdk/protocol/common';
import type { PushTypeProtocol } from '../../sdk/protocol/pushType';
import { busyWith } from '../../sdk/updates/choose';
import type { UnitUpdate } from '../../sdk/updates/memory';
import { refusal, refuseUpdate, supersede } from '../../sdk/updates/turns';
import type { Content } from '../domain/subscriber';
import { countHosts, isRemovalVersion, isRemoved, toRemovalVersion } from './removalVersion';
import type { ConfigServiceState } from './serviceState';
import { refuseOutdated } from './versionRefusals';

/**
 * A removal brings a version in which the paths have no values. So it is exposed, refused, landed and followed like any other version; only its
 * change does not exist before it lands.
 */

/**
 * Accepts a removal of units of a service. Once it is that of all units, the deletion of the paths is committed. A known removal begins nothing again.
 *
 * @throws ExtensionError
 */
export function acceptDeletion(
  served: ConfigServiceState,
  { updateId, units }: RequestOf<PushTypeProtocol['removeUnits']>,
  fence: number | undefined,
): void {
  const { state, service } = served;
  if (units.length === 0 || state.updates[updateId]) return;
  refuseUpdate(state, updateId, units);
  for (const unit of units) {
    const other = busyWith(state, updateId, { unit });
    if (other !== undefined) throw refusal('unit-busy', `${unit} is being updated by ${other}`);
  }
  refuseOutdated(served, updateId, fence);
  const version = chooseVersion(served, updateId);
  service.contents[version] = { ...service.contents[version], ...listDeletedPaths(served) };
  service.removals = { ...service.removals, [version]: service.head };
  const accepted = units.map((unit) => [unit, acceptIn(served, unit, { version, updateId })] as const);
  state.updates[updateId] = { updatedBy: [], exclude: [], units: Object.fromEntries(accepted) };
}

/** All units have to run one version before it lands, so a removal of further units brings the same version. */
const chooseVersion = (served: ConfigServiceState, updateId: string): string =>
  [served.service.committed, ...served.units.map((unit) => served.unit(unit).version)].find(isRemovalVersion) ??
  toRemovalVersion(updateId);

/** Every path that a subscriber has, without a value. */
const listDeletedPaths = ({ subscribers }: ConfigServiceState): Content =>
  Object.fromEntries(
    [...subscribers.values()].flatMap(({ has }) =>
      has.map(({ path }) => [path, { value: null, version: '' }] as const),
    ),
  );

function acceptIn(
  served: ConfigServiceState,
  unit: string,
  { version, updateId }: { readonly version: string; readonly updateId: string },
): UnitUpdate {
  const it = served.unit(unit);
  const isLanded = it.version === served.service.committed || served.bound?.version !== it.version;
  if (isRemoved(it) && countHosts(it) === 0 && isLanded) return { version: it.version, slots: [], state: 'done' };
  supersede(served.state, unit, updateId);
  Object.assign(it, { version, update: updateId });
  return { version, slots: it.slots.flatMap(({ gone }, index) => (gone ? [] : [index])), state: 'active' };
}
