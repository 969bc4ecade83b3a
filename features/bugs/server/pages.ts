import { z } from 'zod';
import { conveyorError } from '../../../domain/errors';
import { PAGE_LIMITS } from '../../../domain/limits';
import { parseQuery } from '../../../server/body';
import { createPageRow, getPathPart, type ReadPage, type PageSource } from '../../../server/pages/page';
import type { Bug } from '../domain/bug';
import { BUG_STATES, renderBugPage, renderBugsPage } from '../pages/bugs';
import { describeBugState } from '../render/bugs';

const bugsPageQuery = z.object({
  state: z.enum(['', ...BUG_STATES]).default(''),
  from: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
});

const listShared = ({ looks, client }: PageSource): Promise<readonly Bug[]> =>
  looks.read('bugs', () => client.listBugs());

/** The list of bugs, and each bug. */
export const BUG_PAGES: readonly ReadPage[] = [
  createPageRow({ link: 'Bugs', paths: ['/bugs', '/bugs.json'] }, (source) => ({
    read: async (c) => {
      const { state, from } = parseQuery(c, bugsPageQuery);
      const all = await listShared(source);
      const fitting = state === '' ? all : all.filter((bug) => describeBugState(bug) === state);
      return { bugs: fitting.slice(from, from + PAGE_LIMITS.rows.max), total: fitting.length, state, from };
    },
    render: renderBugsPage,
    twin: () => listShared(source),
  })),
  createPageRow({ paths: ['/bugs/:n'] }, (source) => ({
    read: async (c) => {
      const id = `bug/${getPathPart(c, 'n')}`;
      const bug = (await listShared(source)).find((one) => one.id === id);
      if (bug === undefined) throw conveyorError('unknown-bug', { id });
      return bug;
    },
    render: renderBugPage,
  })),
];
