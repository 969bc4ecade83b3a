import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../../domain/milliseconds';
import { statsReport, type StatsReport } from '../../domain/stats/report';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { NO_TALLIES, talliesOf } from '../builders/statsTallies';

const SPAN = { sinceMs: NOW - 365 * DAY_MS, untilMs: NOW, readUntilMs: NOW };
const reportOf = (...categories: readonly string[]): StatsReport => {
  const all = categories.map(talliesOf);
  const { firstMs, ...none } = NO_TALLIES;
  const merged = Object.keys(none).map((key) => [key, all.flatMap((one) => [...one[key as keyof typeof none]])]);
  return statsReport({ ...(Object.fromEntries(merged) as typeof none), firstMs }, SPAN);
};

/** A command of a person whose commands go through a server, which answers this. */
const asked: string[] = [];
const stats = (report: StatsReport, ...args: readonly string[]) =>
  run(['stats', ...args], {
    env: { CONVEYOR_SERVER: 'http://127.0.0.1:8080' },
    fetch: (url) => {
      asked.push(String(url instanceof Request ? url.url : url));
      return Promise.resolve(Response.json(report));
    },
  });

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'conveyor-stats-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('every table has a title, and a row for each category', async () => {
  const { code, out } = await stats(reportOf('large', 'regular'), '--since', '365d');
  expect(code).toBe(0);
  expect(asked.at(-1)).toContain('/v1/stats?since=2025-11-20T14%3A02%3A10.000Z&by=category');
  expect(out).toMatch(
    /^releases and deploys that ended from 2025-11-20 14:02 UTC to 2026-11-20 14:02 UTC\narchived until/,
  );
  expect(out).toContain('\nwithout 8 ends of releases and deploys that could not be read\n');
  const rows = out.split('\n').map((line) => line.replace(/ {2,}/g, '  ').trimEnd());
  expect(rows).toContain('large  5  4 (80.0%, 37.6–96.4%)  0 (0.0%, 0.0–43.4%)  1 (20.0%, 3.6–62.4%)  no');
  expect(rows).toContain('regular  4  0%  0%  0%  0%  100%  0%');
  expect(rows).toContain('all  2  4  4  4  8 (50.0%, 28.0–72.0%)');
  expect(rows.filter((line) => line.startsWith('large  '))).toHaveLength(14);
});

test('without anything archived it says so, and that there is nothing of each', async () => {
  const { out } = await stats(statsReport(NO_TALLIES, { ...SPAN, readUntilMs: null }));
  expect(out).toContain('nothing is archived yet');
  expect(out).not.toContain('could not be read');
  expect(out.match(/^none$/gm)).toHaveLength(15);
});

test('the page has a plot and a table of each, and needs nothing from elsewhere', async () => {
  const file = join(folder, 'stats.html');
  expect(await stats(reportOf('large', 'regular'), '--html', file)).toMatchObject({ code: 0, out: `${file}\n` });
  const page = readFileSync(file, 'utf8');
  expect(page.match(/<svg /g)).toHaveLength(15);
  expect(page.match(/<table>/g)).toHaveLength(15);
  expect(page).toContain('; without 8 ends of releases and deploys that could not be read</p>');
  expect(page).toContain('prefers-color-scheme:dark');
  expect(page).not.toMatch(/<script|<link|<img|src=|url\(|@import|https?:/);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
});

test('-o html prints the page that --html writes', async () => {
  const file = join(folder, 'stats.html');
  const report = reportOf('large');
  await stats(report, '--html', file);
  expect(await stats(report, '-o', 'html')).toMatchObject({ code: 0, out: readFileSync(file, 'utf8'), err: '' });
  expect((await run(['list', 'pipelines', '-o', 'html'])).err).toContain('there is no output format html');
});

test('the page says of what there is nothing, and nothing is drawn', async () => {
  const file = join(folder, 'stats.html');
  await stats(statsReport(NO_TALLIES, SPAN), '--html', file);
  const page = readFileSync(file, 'utf8');
  expect(page.match(/<p class="none">none<\/p>/g)).toHaveLength(15);
  expect(page).not.toMatch(/<svg|NaN|Infinity/);
});

test('names that hold markup are text in the page', async () => {
  const file = join(folder, 'stats.html');
  await stats(reportOf('<script>alert("1")</script>&\u202e'), '--html', file);
  const page = readFileSync(file, 'utf8');
  expect(page).not.toContain('<script');
  expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;');
  expect(page).not.toContain('\u202e');
});

test('a page that cannot be written is refused with the place', async () => {
  const { code, err } = await stats(reportOf('large'), '--html', join(folder, 'gone', 'stats.html'));
  expect(code).toBe(2);
  expect(err).toMatch(/cannot write .*gone\/stats\.html: ENOENT[^]*give --html a place that you may write to/);
});

test('the page says where a plot leaves types of actions out, which the table has', async () => {
  const types = Array.from({ length: 13 }, (_, nth) => ({ category: 'large', type: `type-${nth}`, count: nth + 1 }));
  const tallies = { ...NO_TALLIES, cadences: talliesOf('large').cadences, actionTypes: types };
  const { out } = await stats(statsReport(tallies, SPAN), '-o', 'html');
  expect(out).toContain('for the 12 most frequent types; the table has all 13</p>');
  expect((await stats(reportOf('large'), '-o', 'html')).out).toContain('share of pipelines that have one</p>');
});
