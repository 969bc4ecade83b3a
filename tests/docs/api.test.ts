import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_OPERATIONS } from '../../server/operations';

const DOCS = readFileSync(join(__dirname, '../../docs/reference/api.md'), 'utf8');

test('docs/reference/api.md lists every route, in words of /openapi.json', () => {
  const rows = [...DOCS.matchAll(/^\| `([A-Z]+ \/\S+)` \| (.*) \|$/gm)].map(
    ([, route, summary]) => `${route}: ${summary}`,
  );
  expect(rows).toEqual(
    HTTP_OPERATIONS.map(({ method, path, summary }) => `${method.toUpperCase()} ${path}: ${summary}`),
  );
});
