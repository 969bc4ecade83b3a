import { renderWherePage } from '../../pages/where';
import { parseQuery } from '../body';
import { findWhere } from '../routes/where';
import { whereQuery } from '../whereSchemas';
import { createPageRow, type PageSource } from './page';

/** The form sends an empty revision. */
const wherePageQuery = whereQuery.extend({ revision: whereQuery.shape.revision.default('') });

export const WHERE_PAGE = createPageRow({ link: 'Where', paths: ['/where', '/where.json'] }, (source) => ({
  read: async (c) => {
    const { revision, limit } = parseQuery(c, wherePageQuery);
    const asked = revision.trim();
    return { asked, found: asked === '' ? null : await searchShared(source, asked, limit) };
  },
  render: renderWherePage,
  twin: (c) => {
    const { revision, limit } = parseQuery(c, whereQuery);
    return searchShared(source, revision.trim(), limit);
  },
}));

const searchShared = (source: PageSource, revision: string, limit: number) =>
  source.looks.read(`where ${limit} ${revision}`, () => findWhere(source.client, source, { revision, limit }));
