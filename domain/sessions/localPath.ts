import { SESSION_LIMITS } from '../limits';

/** Browsers read a backslash as a slash, and drop tabs and line breaks before they read anything. */
const LOCAL_PATH = /^\/(?!\.{0,2}\/)[\x21-\x5b\x5d-\x7e]*$/;

/**
 * The path to which a sign-in leads back, or `/`: only a path of this server, so that a link to the sign-in never leads
 * elsewhere. Paths of the sign-in itself would lead in a circle.
 */
export function toLocalPath(text: string | undefined): string {
  if (text === undefined || text.length > SESSION_LIMITS.to.max || !LOCAL_PATH.test(text)) return '/';
  return /^\/sign-(in|out)(?![^/?#])/.test(text) ? '/' : text;
}
