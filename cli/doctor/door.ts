import { whoAmI } from '../../client/http/client';
import { ConveyorError } from '../../domain/errors';
import type { Env } from '../../sdk/env';
import { doorOf, httpOf, type Door } from '../door';
import type { ConnectOptions, Io } from '../io';
import { usualAddresses } from '../stack/addresses';
import type { Check } from './check';

const NAME = 'door';

/** Whether commands go through a server, as whom, and what is in the way. */
export async function checkDoor(env: Env, connect: ConnectOptions, io: Pick<Io, 'fetch' | 'sleep'>): Promise<Check> {
  try {
    const door = doorOf(env, connect);
    return door.kind === 'server' ? await throughServer(door, { ...io, env }) : directly(env, connect, door);
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    return { name: NAME, state: 'missing', found: error.message, how: error.hint };
  }
}

async function throughServer(
  door: Extract<Door, { kind: 'server' }>,
  io: Pick<Io, 'fetch' | 'sleep' | 'env'>,
): Promise<Check> {
  const found = `the server at ${door.url} (${door.from})`;
  try {
    const { principal } = await whoAmI(httpOf({ ...io, now: () => Date.now() }, door));
    return { name: NAME, state: 'ok', found: `${found}, as ${principal}`, how: null };
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const how = error.code === 'unauthorized' ? `conveyor login ${door.url}` : error.hint;
    return { name: NAME, state: 'warning', found: `${found}: ${error.message}`, how };
  }
}

function directly(env: Env, connect: ConnectOptions, { reason }: Extract<Door, { kind: 'temporal' }>): Check {
  const found = `Temporal itself at ${usualAddresses(env, connect).temporal}, which believes whoever comes`;
  if (reason === null) return { name: NAME, state: 'ok', found, how: null };
  const how = 'go through the server again: leave out --break-glass and unset CONVEYOR_BREAK_GLASS';
  return { name: NAME, state: 'warning', found: `${found}; the glass is broken: ${reason}`, how };
}
