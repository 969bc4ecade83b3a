import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { SessionSettings } from '../../settings/sessions';
import { whyNotLocal } from '../reads';
import type { Purpose } from './vault';

/**
 * The origin of the pages for this request: that of the configuration, never that of the request, because any sender
 * can write a Host. Without one, only this machine is served. Undefined if the request came under another name.
 */
export function findOwnOrigin(c: Context, { url }: Pick<SessionSettings, 'url'>): string | undefined {
  if (url !== null) return url;
  return whyNotLocal(c) === undefined ? new URL(c.req.url).origin : undefined;
}

/** Reads a cookie of this server. */
export const readCookie = (c: Context, purpose: Purpose, origin: string): string | undefined =>
  getCookie(c, cookieName(purpose, origin));

export function writeCookie(c: Context, purpose: Purpose, origin: string, value: string, maxAgeMs: number): void {
  setCookie(c, cookieName(purpose, origin), value, {
    ...cookieAttributes(origin),
    maxAge: Math.max(0, Math.floor(maxAgeMs / 1_000)),
  });
}

export const clearCookie = (c: Context, purpose: Purpose, origin: string): void =>
  void deleteCookie(c, cookieName(purpose, origin), cookieAttributes(origin));

/**
 * Browsers accept `__Host-` only from the host itself and over https, so no neighbour can plant such a cookie. Over
 * http, on this machine, ports share cookies: the name has the port, because several stacks may run.
 */
function cookieName(purpose: Purpose, origin: string): string {
  const { port } = new URL(origin);
  return isSecure(origin) ? `__Host-conveyor-${purpose}` : `conveyor-${purpose}-${port || '80'}`;
}

/** Lax: the answer of an identity provider is a navigation from another site, and has to bring the cookie. */
const cookieAttributes = (origin: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(origin) }) as const;

const isSecure = (origin: string): boolean => origin.startsWith('https:');
