import { askAt } from '../client/http/client';
import type { Me } from '../client/operations/questions';
import { resolveDoor, httpOf, actorOf } from './door';
import type { ConnectOptions, Io } from './io';

/** The identity that commands run as, and its source. */
export interface Self extends Me {
  /** Null where commands go to Temporal itself. */
  readonly server: string | null;
}

/** @throws ConveyorError `unauthorized`, `server-unreachable`, `usage` */
export async function findSelf(io: Io, connect: ConnectOptions): Promise<Self> {
  const door = resolveDoor(io.env, connect);
  if (door.kind === 'server') return { server: door.url, ...(await askAt(httpOf(io, door)).whoAmI()) };
  return { server: null, principal: actorOf(io, connect), groups: [], door: 'temporal', expiresAt: null };
}
