import type { RequestOf, ResponseOf } from './protocol/common';
import type { PushTypeProtocol } from './protocol/pushType';

type FetchDeployUnits = PushTypeProtocol['fetchDeployUnits'];
type DeployUnits = ResponseOf<FetchDeployUnits>['units'];

/**
 * One page of units in the order of their ids, so that units that come and go do not shift others: the answer of a push
 * type for large fleets to `fetchDeployUnits`. A push type with pages must accept an update in several requests.
 */
export function unitsPage(
  { cursor, limit }: RequestOf<FetchDeployUnits>,
  units: DeployUnits,
): Pick<ResponseOf<FetchDeployUnits>, 'units' | 'next'> {
  const ordered = [...units].sort((a, b) => (a.id < b.id ? -1 : 1));
  const rest = cursor === undefined ? ordered : ordered.filter(({ id }) => id > cursor);
  const page = rest.slice(0, limit);
  return { units: page, next: page.length < rest.length ? (page.at(-1)?.id ?? null) : null };
}
