import { toHttpOptions, resolveDoor } from '../../door';
import type { CommandCall } from '../command';
import type { TrustOptions } from './choice';
import type { FolderClient } from './folderClient';

/**
 * Opens a client through the server or locally, as other commands do, and loads only the code for that. @throws
 * ConveyorError `usage`, `config-invalid`, `unknown-extension`
 */
export async function openFolderClient(
  call: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  options: TrustOptions,
): Promise<FolderClient> {
  const door = resolveDoor(call.io.env, call.connect);
  if (door.kind === 'server')
    return (await import('./serverFolderClient')).createServerClient(toHttpOptions(call.io, door), options);
  return (await import('./ownFolderClient')).createLocalClient(call, options);
}
