import type { Hono } from 'hono';
import { PAGE_LIMITS } from '../../domain/limits';
import type { ApiDeps } from '../apiRoute';
import type { Sessions } from '../sessions';
import { PAGE_ROWS } from './list';
import { SharedLooks } from './looks';
import { isTwin, toFrame, withPageHeaders } from './routes';

/** Adds the pages that only show something; who may read them is decided before. */
export function serveReadPages(app: Hono, deps: ApiDeps, sessions: Sessions | undefined): void {
  const source = { ...deps, looks: new SharedLooks(deps.client, PAGE_LIMITS.reads.max, () => deps.now()) };
  for (const { paths, open } of PAGE_ROWS) {
    const { page, twin } = open(source);
    for (const path of paths)
      app.get(path, withPageHeaders, async (c) => {
        c.header('cache-control', 'private, no-cache');
        if (isTwin(c)) return c.json(await twin(c));
        const found = await page(c, () => toFrame(c, deps, sessions));
        return found instanceof Response ? found : c.html(found);
      });
  }
}
