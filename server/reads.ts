import type { Context } from 'hono';
import { isLocalName } from '../sdk/localOnly';
import { getReadPolicy, type ServerDeps } from './deps';

/**
 * Why an anonymous caller may not read; undefined if it may. A server without tokens is open to this machine alone. Requests must name it by a local
 * address: a web page open in a browser would arrive under its own host name, and so would traffic through a tunnel.
 */
export function whyNotOpen(c: Context, deps: Pick<ServerDeps, 'config' | 'reads'>): string | undefined {
  if (getReadPolicy(deps) !== 'open') return 'no caller may read';
  const from = deps.config.access.reads === null ? whyNotLocal(c) : undefined;
  return from === undefined ? undefined : `only this machine may read, and ${from}`;
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host'] as const;

/** Why a request may not come from this machine, although its connection does. */
export function whyNotLocal(c: Context): string | undefined {
  const { host } = new URL(c.req.url);
  if (!isLocalName(host)) return `${host} is not one of its names`;
  return FORWARDED.some((name) => c.req.header(name) !== undefined) ? 'this came through a proxy' : undefined;
}
