import type { Context, Hono, Next } from 'hono';

/** Lets only callers with the token read these paths; without a token only this machine reaches the push type. Name them before their routes. */
export function guardReads(app: Hono, token: string | undefined, paths: readonly string[]): void {
  if (token === undefined) return;
  const guard = async (c: Context, next: Next): Promise<Response | void> => {
    if (c.req.header('authorization') === `Bearer ${token}`) return next();
    return c.json({ error: 'the bearer token is missing or wrong' }, 401);
  };
  for (const path of paths) app.use(path, guard);
}
