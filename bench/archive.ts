import { rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchiveRow } from '../domain/archive/row';
import { DAY_MS } from '../domain/milliseconds';
import { openEmbedded } from '../platform/archive/duckdb';
import { readStats } from '../platform/archive/stats';
import { YEAR_MS, yearOfReleases } from './archiveYear';

/**
 * How long a year of outcomes takes: npx jiti bench/archive.ts [releases] [file]. With a file it is kept there, and ends now, so that
 * `conveyor stats --since 365d` shows it.
 */

const PIPELINES = 3_000;
const BATCH = 10_000;

async function main(): Promise<void> {
  const releases = Number(process.argv[2] ?? 165_000);
  const kept = process.argv[3];
  const file = kept ?? join(tmpdir(), `conveyor-bench-${process.pid}.duckdb`);
  const beganMs = kept === undefined ? 0 : Date.now() - YEAR_MS;
  const untilMs = beganMs + YEAR_MS;
  const archive = openEmbedded(file);
  let [rows, began] = [0, performance.now()];
  let batch: ArchiveRow[] = [];
  const write = async (): Promise<void> => {
    await archive.write(batch, { origin: 'bench', readUntilMs: untilMs }, null);
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
  const report = (what: string): void => {
    process.stdout.write(`${what}: ${((performance.now() - began) / 1000).toFixed(2)} s\n`);
    began = performance.now();
  };
  report(`${rows} rows written`);
  for (const by of ['category', 'all', 'category'] as const) {
    await readStats(archive, { sinceMs: beganMs, untilMs, by });
    report(`every statistic of the year, by ${by}`);
  }
  await readStats(archive, { sinceMs: untilMs - 21 * DAY_MS, untilMs, by: 'category' });
  report('every statistic of 21 days');
  process.stdout.write(`${(statSync(file).size / 1e6).toFixed(0)} MB\n`);
  if (kept === undefined) rmSync(file, { force: true });
}

void main();
