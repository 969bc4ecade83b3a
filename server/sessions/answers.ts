import type { Context } from 'hono';
import { PAGE_WIDTH, type Frame } from '../../pages/frame';
import { PAGE_HEADERS } from '../pageHeaders';

type PageStatus = 200 | 400 | 401 | 403 | 408 | 413 | 500 | 503;

/** A page of the sign-in, which no cache keeps. Its reader is not known, and it leads nowhere but to the sign-in. */
export function answerSignInPage(
  c: Context,
  render: (frame: Frame) => string,
  status: PageStatus = 200,
): Response | Promise<Response> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value);
  c.header('cache-control', 'no-store');
  const view = { width: PAGE_WIDTH, color: false, now: Date.now(), timeZone: 'UTC' };
  return c.html(render({ view, viewer: null, csrf: null, signsIn: false, path: c.req.path }), status);
}
