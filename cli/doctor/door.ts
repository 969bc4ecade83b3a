import { ConveyorError } from '../../domain/errors';
import type { Env } from '../../settings/env';
import { resolveDoor, type CommandDoor } from '../door';
import type { ConnectOptions, Io } from '../io';
import { usualAddresses } from '../stack/addresses';
import { DOOR_CHECK, type DoctorCheck } from './check';
import { checkServer } from './server';
import { checkBehindTemporal } from './temporal';

/**
 * Whether commands go through a server, under which identity, and what prevents it; then the state of everything behind
 * the server.
 */
export async function checkDoor(
  env: Env,
  connect: ConnectOptions,
  io: Pick<Io, 'askServer' | 'sleep'>,
): Promise<DoctorCheck[]> {
  try {
    const door = resolveDoor(env, connect);
    if (door.kind === 'server') return await checkServer(door, { ...io, env });
    return [directly(env, connect, door), ...(await checkBehindTemporal(env))];
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    return [{ name: DOOR_CHECK, state: 'missing', found: error.message, how: error.hint }];
  }
}

function directly(
  env: Env,
  connect: ConnectOptions,
  { reason }: Extract<CommandDoor, { kind: 'temporal' }>,
): DoctorCheck {
  const found = `Temporal itself at ${usualAddresses(env, connect).temporal}, without authentication`;
  if (reason === null) return { name: DOOR_CHECK, state: 'ok', found, how: null };
  const how = 'to use the server again, leave out --break-glass and unset CONVEYOR_BREAK_GLASS';
  return { name: DOOR_CHECK, state: 'warning', found: `${found}; break-glass: ${reason}`, how };
}
