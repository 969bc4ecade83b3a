import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE_MS } from '../../domain/milliseconds';
import { openEmbedded } from '../../archive/duckdb';
import { readStats } from '../../archive/stats';
import { rowsOf } from '../reproduce/gather';
import { play, type Lived } from '../reproduce/life';
import { CATEGORIES } from '../reproduce/paper';
import { populationOf, type Inhabitant } from '../reproduce/population';
import { render, type Run } from '../reproduce/render';
import { sectionsOf, type Section } from '../reproduce/sections';
import { VirtualWorld } from './world';

/** `npm run reproduce` sets it to `seed:pipelines:weeks:file`. In the tests one pipeline of each category lives for a week, with 14 commits. */
const ASKED = process.env['CONVEYOR_REPRODUCE'] ?? '397:4:1';
const [seed = 1, pipelines = 4, weeks = 1] = ASKED.split(':', 3).map(Number);
const FILE = ASKED.split(':').slice(3).join(':');

/** This many share a world, and its fate: the test server may stop its clock, and then they run again in another one. */
const TOGETHER = 4;
const LIVES = FILE === '' ? 1 : 3;
const PEOPLE = populationOf({ seed, pipelines, weeks });
const GROUPS = Array.from({ length: Math.ceil(PEOPLE.length / TOGETHER) }, (_, nth) => nth);
const SLOW_SERVICES = ['build', 'integr-test', 'perf-test'];

const folder = mkdtempSync(join(tmpdir(), 'conveyor-reproduce-'));
const archive = openEmbedded(join(folder, 'archive.duckdb'));
let world: VirtualWorld;
afterEach(() => world.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Over all categories, in order. */
const peopleOf = (group: number): Inhabitant[] => PEOPLE.filter((_, nth) => nth % GROUPS.length === group);

test(
  'pipelines as the paper counts them live for weeks, and the report marks each number as put in or come out',
  async () => {
    const beganMs = Date.now();
    const lived = new Map<number, Lived>();
    for (const group of GROUPS) {
      const life = await live(group);
      if (life !== null) lived.set(group, life);
    }
    expect([...lived.values()].flatMap(({ open }) => open)).toEqual([]);
    const sections = await sectionsFrom(lived);
    const text = render(runOf(lived, beganMs), sections);
    if (FILE !== '') {
      mkdirSync(dirname(FILE), { recursive: true });
      writeFileSync(FILE, text);
    }
    for (const { title, lines } of sections.filter(({ addsUp }) => addsUp))
      expect([title, ...sums(lines)]).toEqual([title, ...sums(lines).map(() => expect.closeTo(100, 6))]);
    const rows = text.split('\n').filter((line) => line.includes(' / ') && !line.startsWith('| paper'));
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((row) => !/\| (input|outcome) \|$/.test(row))).toEqual([]);
  },
  FILE === '' ? undefined : 240 * MINUTE_MS,
);

/** Lives until the rows are in the archive. Null: each of their worlds failed. @throws the failure, in the tests */
async function live(group: number): Promise<Lived | null> {
  for (let nth = 1; nth <= LIVES; nth += 1) {
    world = await VirtualWorld.open(seed + group, undefined, undefined, [], SLOW_SERVICES);
    try {
      const life = await play(world, peopleOf(group), weeks);
      const rows = [];
      for (const inhabitant of peopleOf(group)) rows.push(...(await rowsOf(world, inhabitant)));
      await archive.write(rows, { origin: 'virtual', readUntilMs: life.endMs }, null);
      await world.close();
      process.stderr.write(`group ${group + 1} of ${GROUPS.length} is through\n`);
      return life;
    } catch (error) {
      if (LIVES === 1) throw error;
      process.stderr.write(`group ${group + 1} of ${GROUPS.length}, life ${nth}: ${String(error)}\n`);
      // A world in which time stands still may not end either.
      await Promise.race([world.close().catch(() => undefined), wait(20_000, undefined, { ref: false })]);
    }
  }
  return null;
}

const livedOf = (lived: ReadonlyMap<number, Lived>): Inhabitant[] =>
  PEOPLE.filter((_, nth) => lived.has(nth % GROUPS.length));

async function sectionsFrom(lived: ReadonlyMap<number, Lived>): Promise<readonly Section[]> {
  const lives = [...lived.values()];
  const sinceMs = Math.min(...lives.map(({ startMs }) => startMs));
  const untilMs = Math.max(...lives.map(({ endMs }) => endMs));
  return sectionsOf(await readStats(archive, { sinceMs, untilMs, by: 'category' }), livedOf(lived));
}

function runOf(lived: ReadonlyMap<number, Lived>, beganMs: number): Run {
  const people = livedOf(lived);
  return {
    ...{ seed, pipelines, weeks, date: new Date().toISOString().slice(0, 10) },
    commits: people.reduce((sum, { commits }) => sum + commits.length, 0),
    machine: `${cpus().length} cores, Node ${process.versions.node}`,
    minutes: Math.ceil((Date.now() - beganMs) / MINUTE_MS),
    lost: PEOPLE.length - people.length,
  };
}

/** The shares of each category that has any. */
const sums = (lines: Section['lines']): number[] =>
  CATEGORIES.flatMap((category) => {
    const shares = lines.flatMap(({ ours }) => ours[category] ?? []);
    return shares.length === 0 ? [] : [shares.reduce((sum, share) => sum + share, 0)];
  });
