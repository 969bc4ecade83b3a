import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchiveRow } from '../domain/archive/row';
import { DAY_MS } from '../domain/milliseconds';
import type { StatsReport } from '../domain/stats/report';
import { openEmbedded } from '../archive/duckdb';
import type { Archive } from '../archive/port';
import { openPostgres } from '../archive/postgres';
import { readStats } from '../archive/stats';
import { YEAR_MS, yearOfReleases } from './archiveYear';

/**
 * How long a year of outcomes takes: npx jiti bench/archive.ts [releases] [where]. With a file, the year is kept there
 * and ends now, so that `conveyor stats --since 365d` shows it. With the address of a PostgreSQL with an empty
 * database, postgres://…, the year is written to both stores, and the benchmark fails if their statistics differ.
 */

const PIPELINES = 3_000;
const BATCH = 10_000;

async function main(): Promise<void> {
  const releases = Number(process.argv[2] ?? 165_000);
  const where = process.argv[3];
  const url = where?.startsWith('postgres') ? where : undefined;
  const kept = url === undefined ? where : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-bench-'));
  const file = kept ?? join(folder, 'year.duckdb');
  const beganMs = kept === undefined ? 0 : Date.now() - YEAR_MS;
  const embedded = await measured(openEmbedded(file), releases, beganMs);
  process.stdout.write(`${(statSync(file).size / 1e6).toFixed(0)} MB\n`);
  rmSync(folder, { recursive: true, force: true });
  if (url === undefined) return;
  process.stdout.write('PostgreSQL:\n');
  assert.deepEqual(await measured(openPostgres(url, PATIENT), releases, beganMs), embedded);
  process.stdout.write('its statistics are the same\n');
}

const PATIENT = { connectMs: 10_000, statementMs: 600_000, endMs: 2_000 };

/** Writes the year, prints how long that and its statistics took, and resolves to the statistics. */
async function measured(archive: Archive, releases: number, beganMs: number): Promise<readonly StatsReport[]> {
  const untilMs = beganMs + YEAR_MS;
  let began = performance.now();
  const report = (what: string): void => {
    process.stdout.write(`${what}: ${((performance.now() - began) / 1000).toFixed(2)} s\n`);
    began = performance.now();
  };
  report(`${await written(archive, releases, beganMs)} rows written`);
  const found: StatsReport[] = [];
  for (const by of ['category', 'all', 'category'] as const) {
    found.push(await readStats(archive, { sinceMs: beganMs, untilMs, by }));
    report(`every statistic of the year, by ${by}`);
  }
  found.push(await readStats(archive, { sinceMs: untilMs - 21 * DAY_MS, untilMs, by: 'category' }));
  report('every statistic of 21 days');
  return found;
}

/** @returns the number of rows. */
async function written(archive: Archive, releases: number, beganMs: number): Promise<number> {
  let rows = 0;
  let batch: ArchiveRow[] = [];
  const write = async (): Promise<void> => {
    await archive.write(batch, { origin: 'bench', readUntilMs: beganMs + YEAR_MS }, null);
    rows += batch.length;
    batch = [];
  };
  for (const release of yearOfReleases(releases, Math.min(PIPELINES, releases))) {
    batch.push(
      ...release.map(({ startedMs, endedMs, ...row }) => ({
        ...row,
        startedMs: startedMs === null ? null : startedMs + beganMs,
        endedMs: endedMs + beganMs,
      })),
    );
    if (batch.length >= BATCH) await write();
  }
  await write();
  return rows;
}

void main();
