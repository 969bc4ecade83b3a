import { httpOf, resolveDoor } from '../../door';
import type { CommandCall } from '../command';
import type { TrustOptions } from './choice';
import type { Desk } from './desk';

/** By the door that commands take, with what that needs alone. @throws ConveyorError `usage`, `config-invalid`, `unknown-extension` */
export async function openDesk(
  call: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  options: TrustOptions,
): Promise<Desk> {
  const door = resolveDoor(call.io.env, call.connect);
  if (door.kind === 'server') return (await import('./serverDesk')).serverDesk(httpOf(call.io, door), options);
  return (await import('./ownDesk')).ownDesk(call, options);
}
