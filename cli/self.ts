import { askAt } from '../client/http/client';
import type { Me } from '../client/operations/questions';
import { resolveDoor, toHttpOptions, resolveActor } from './door';
import type { ConnectOptions, Io } from './io';

/** The identity under which commands run, and its source. */
export interface Self extends Me {
  /** Null if commands go directly to Temporal. */
  readonly server: string | null;
}

/** @throws ConveyorError `unauthorized`, `server-unreachable`, `usage` */
export async function findSelf(io: Io, connect: ConnectOptions): Promise<Self> {
  const door = resolveDoor(io.env, connect);
  if (door.kind === 'server') return { server: door.url, ...(await askAt(toHttpOptions(io, door)).whoAmI()) };
  return { server: null, principal: resolveActor(io, connect), groups: [], door: 'temporal', expiresAt: null };
}
