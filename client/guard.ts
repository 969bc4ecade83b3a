import type { Door } from '../domain/access/operations';
import type { PlatformFacts } from '../domain/access/platform';
import type { ConveyorClient } from './api';
import { CLIENT_OPERATIONS } from './operations';
import { callOperation, clientFromRows, type AnyRow, type Operations } from './operations/row';
import { PermissionGate, type PermitListener } from './permissionGate';

/**
 * A client that checks before each operation whether its actor may do it, by the present configuration. Its caller must
 * have authenticated the actor. A permitted request carries its rule, so workflows need not know the groups. Every
 * operation also throws `not-permitted`, with the rule that would allow it; operations with artifacts also throw
 * `unsigned`.
 */
export function guardClient(
  client: ConveyorClient,
  platform: () => PlatformFacts,
  door: Door,
  decided: PermitListener = () => undefined,
): ConveyorClient {
  const gate = new PermissionGate(client, platform, door, decided);
  return {
    ...clientFromRows<Operations, AnyRow>(CLIENT_OPERATIONS, ({ permit }, name) => async (...args) => {
      return callOperation(client, name, permit === undefined ? args : await permit(gate, ...args));
    }),
    readiness: () => client.readiness(),
    close: () => client.close(),
  };
}
