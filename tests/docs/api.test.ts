import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ROUTES } from '../../server/routes';

const DOCS = readFileSync(join(__dirname, '../../docs/reference/api.md'), 'utf8');

test('docs/reference/api.md lists every route, in words of /openapi.json', () => {
  const rows = [...DOCS.matchAll(/^\| `([A-Z]+ \/\S+)` \| (.*) \|$/gm)].map(
    ([, route, summary]) => `${route}: ${summary}`,
  );
  expect(rows).toEqual(API_ROUTES.map(({ route, summary }) => `${route}: ${summary}`));
});
