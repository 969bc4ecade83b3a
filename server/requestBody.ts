import type { Context } from 'hono';
import type { Bodies } from './bodies';
import { readBytes } from './body';

/** Runs `work` after the whole body has arrived, so that a slow sender does not hold a place that a revert needs. */
export async function runAfterBody<T>(c: Context, bodies: Bodies, work: () => Promise<T>): Promise<T> {
  const { raw } = c.req;
  if (raw.body === null) return work();
  const { url, method, headers, signal } = raw;
  return bodies.run(
    (reading) => readBytes(c, reading),
    (body) => {
      c.req.raw = new Request(url, { method, headers, signal, body });
      return work();
    },
  );
}
