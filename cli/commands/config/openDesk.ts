import { httpOf, resolveDoor } from '../../door';
import type { CommandCall } from '../command';
import type { TrustOptions } from './choice';
import type { ConfigRepositoryClient } from './desk';

/** By the door that commands take, with what that needs alone. @throws ConveyorError `usage`, `config-invalid`, `unknown-extension` */
export async function openRepositoryClient(
  call: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  options: TrustOptions,
): Promise<ConfigRepositoryClient> {
  const door = resolveDoor(call.io.env, call.connect);
  if (door.kind === 'server') return (await import('./serverDesk')).createServerClient(httpOf(call.io, door), options);
  return (await import('./ownDesk')).createLocalClient(call, options);
}
