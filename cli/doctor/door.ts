import type { ReadinessPart } from '../../client/api';
import { createHttpClient, whoAmI } from '../../client/http/client';
import { ConveyorError } from '../../domain/errors';
import { formatDuration } from '../../domain/text';
import type { Env } from '../../platform/env';
import { resolveDoor, httpOf, type CommandDoor } from '../door';
import type { ConnectOptions, Io } from '../io';
import { usualAddresses } from '../stack/addresses';
import type { DoctorCheck } from './check';
import { checkBehindTemporal, finderChecks } from './temporal';

const DOOR_CHECK = 'door';

/** Whether commands go through a server, as whom, and what is in the way; and how what is behind it stands. */
export async function checkDoor(
  env: Env,
  connect: ConnectOptions,
  io: Pick<Io, 'askServer' | 'sleep'>,
): Promise<DoctorCheck[]> {
  try {
    const door = resolveDoor(env, connect);
    if (door.kind === 'server') return await throughServer(door, { ...io, env });
    return [directly(env, connect, door), ...(await checkBehindTemporal(env))];
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    return [{ name: DOOR_CHECK, state: 'missing', found: error.message, how: error.hint }];
  }
}

async function throughServer(
  door: Extract<CommandDoor, { kind: 'server' }>,
  io: Pick<Io, 'askServer' | 'sleep' | 'env'>,
): Promise<DoctorCheck[]> {
  const found = `the server at ${door.url} (${door.from})`;
  try {
    const http = httpOf({ ...io, now: () => Date.now() }, door);
    const { principal, expiresAt } = await whoAmI(http);
    const client = createHttpClient(http);
    return [
      { name: DOOR_CHECK, state: 'ok', found: `${found}, as ${principal}`, how: null },
      ...(door.kept?.renewal ? [] : tokenChecks(expiresAt, Date.now(), door.url)),
      ...(await client.readiness()).map(checkOf),
      ...finderChecks(await client.listFinders().catch(() => [])),
    ];
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const how = error.code === 'unauthorized' ? `conveyor login ${door.url}` : error.hint;
    return [{ name: DOOR_CHECK, state: 'missing', found: `${found}: ${error.message}`, how }];
  }
}

/** A token that a command renews by itself needs no check. */
const ENDS_SOON_MS = 600_000;

export function tokenChecks(expiresAt: string | null, nowMs: number, url: string): DoctorCheck[] {
  const leftMs = expiresAt === null ? Infinity : Date.parse(expiresAt) - nowMs;
  if (leftMs > ENDS_SOON_MS) return [];
  const found = `ends in ${formatDuration(leftMs)}, at ${expiresAt ?? ''}`;
  return [{ name: 'token', state: 'warning', found, how: `conveyor login ${url}, or another CONVEYOR_TOKEN` }];
}

const checkOf = ({ name, ok, detail }: ReadinessPart): DoctorCheck => ({
  ...{ name: `${name} of the server`, state: ok ? 'ok' : 'missing', found: detail },
  how: ok ? null : 'whoever runs the server has to fix that; nothing is lost meanwhile',
});

function directly(
  env: Env,
  connect: ConnectOptions,
  { reason }: Extract<CommandDoor, { kind: 'temporal' }>,
): DoctorCheck {
  const found = `Temporal itself at ${usualAddresses(env, connect).temporal}, which believes whoever comes`;
  if (reason === null) return { name: DOOR_CHECK, state: 'ok', found, how: null };
  const how = 'go through the server again: leave out --break-glass and unset CONVEYOR_BREAK_GLASS';
  return { name: DOOR_CHECK, state: 'warning', found: `${found}; the glass is broken: ${reason}`, how };
}
