import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { PAGE_ROWS } from '../../server/pages/list';
import { ROOT } from '../setup/sources';

/* eslint-disable @typescript-eslint/no-require-imports -- the script is plain JavaScript without types */
const { PAGES, OF_DOCUMENTS } = require('../../scripts/page-images') as {
  PAGES: readonly { name: string; path: string }[];
  OF_DOCUMENTS: readonly { name: string; file: string }[];
};
/* eslint-enable @typescript-eslint/no-require-imports */

/** The first pages have rows of their own; those of features, such as bugs, are in the list. */
const FIRST = ['/', '/pipelines', '/pipelines/:name', '/releases/:pipeline/:n', '/releases/:pipeline/:n/:action'];
const PATTERNS = [...FIRST, ...PAGE_ROWS.map(({ paths: [path = ''] }) => path)];

test('the script that takes pictures knows each page of the routes, and no other', async () => {
  const app = new Hono();
  for (const pattern of PATTERNS) app.get(pattern, (c) => c.text(pattern));
  const found = await Promise.all(PAGES.map(async ({ path }) => (await app.request(path)).text()));
  expect([...new Set(found)].sort()).toEqual([...PATTERNS].sort());
  expect(new Set(PAGES.map(({ name }) => name)).size).toBe(PAGES.length);
});

test('each picture of the documents is one of these pages, is small, and stands in a document', () => {
  const texts = ['README.md', 'docs/guides/pages.md', 'docs/tutorial/service.md'].map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  for (const { name, file } of OF_DOCUMENTS) {
    expect(PAGES.map((page) => page.name)).toContain(name);
    const picture = join(ROOT, 'docs/images', `${file}.png`);
    expect([file, existsSync(picture)]).toEqual([file, true]);
    expect(statSync(picture).size).toBeLessThan(150_000);
    expect([file, texts.some((text) => text.includes(`images/${file}.png`))]).toEqual([file, true]);
  }
});
