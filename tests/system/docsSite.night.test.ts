import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, Processes, ROOT } from './process';

const SITE = join(ROOT, 'dist/site');
const processes = new Processes();
afterAll(() => processes.reap());

test('npm run docs makes a site in which no link is dead, and which loads nothing from elsewhere', async () => {
  const { code, stdout, stderr } = await processes.start('node', ['scripts/run.js', 'docs'], cleanEnv(ROOT)).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('dead link') });
  expect(stdout).toMatch(/^\d+ pages in dist\/site\/index\.html$/m);
  const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /localSearchIndex/i.test(file))).not.toEqual([]);
  const pages = files.filter((file) => file.endsWith('.html'));
  expect(pages.length).toBeGreaterThan(60);
  const loaded = pages.flatMap((page) => [
    ...readFileSync(join(SITE, page), 'utf8').matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="(https?:[^"]+)"/g),
  ]);
  expect(loaded.map(([, from]) => from)).toEqual([]);
});
