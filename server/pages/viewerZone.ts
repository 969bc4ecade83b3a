import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';

/** The script of pages keeps the zone of its browser in this cookie. */
const ZONE_COOKIE = 'conveyor-zone';
const ZONE = /^[A-Za-z][\w+/-]{1,63}$/;

/** The zone in which pages show times to this reader; UTC without the cookie, and for a text that names no zone. */
export function readViewerZone(c: Context): string {
  const given = getCookie(c, ZONE_COOKIE) ?? '';
  if (!ZONE.test(given)) return 'UTC';
  try {
    // One spelling of each zone, because formatters are kept by it.
    return new Intl.DateTimeFormat('en-GB', { timeZone: given }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}
