import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* eslint-disable @typescript-eslint/no-require-imports -- the scripts are plain JavaScript without types */
const { stage } = require('../../scripts/docs') as { stage: (to: string) => string[] };
/* eslint-enable @typescript-eslint/no-require-imports */

/** The pages of `npm run docs`, as they are laid out for the generator, which fails on dead links itself. */
const ROOT = join(__dirname, '../..');
const CONFIG = readFileSync(join(ROOT, 'tools/docs/.vitepress/config.mjs'), 'utf8');
const MENU = [...CONFIG.matchAll(/page\('[^']+', '\/([^']*)'\)/g)].map(([, link = '']) =>
  link === '' || link.endsWith('/') ? `${link}index.md` : `${link}.md`,
);

let folder: string;
let pages: readonly string[];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'conveyor-docs-'));
  pages = stage(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the menu leads to every page of docs/ but the decisions, which have a list of their own, and to no page that is not there', () => {
  const wanted = pages.filter((page) => page.startsWith('docs/') && !/^docs\/adr\/\d/.test(page));
  expect(wanted.length).toBeGreaterThan(20);
  expect(wanted.filter((page) => !MENU.includes(page))).toEqual([]);
  expect(MENU.filter((page) => !pages.includes(page))).toEqual([]);
});

test('a README becomes an index, and the examples that pages link come along', () => {
  expect(pages).toEqual(expect.arrayContaining(['index.md', 'docs/adr/index.md', 'examples/ci/index.md']));
  expect(existsSync(join(folder, 'public/examples/minimal/pipeline.yaml'))).toBe(true);
  const home = readFileSync(join(folder, 'index.md'), 'utf8');
  expect(home).toContain('(/examples/minimal/pipeline.yaml)');
  expect(home).toContain('(docs/tutorial/service.md)');
  expect(home).not.toContain('README.md');
});

test('braces that the generator would take for a value stay as they are written', () => {
  expect(readFileSync(join(folder, 'docs/reference/health.md'), 'utf8')).toContain('<code v-pre>{{ target }}</code>');
});
