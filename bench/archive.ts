import { rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CADENCES, blankRow, type ArchiveRow } from '../domain/archive/row';
import { DAY_MS, MINUTE_MS } from '../domain/milliseconds';
import { openEmbedded } from '../platform/archive/duckdb';
import { readStats } from '../platform/archive/stats';

/** How long a year of outcomes takes: npx jiti bench/archive.ts [releases]. Of ten releases, four deploy; rows are the same each time. */

const PIPELINES = 3_000;
const CATEGORIES = ['regular', 'large', 'ml', 'other'];
const YEAR_MS = 365 * DAY_MS;
const BATCH = 2_000;

function rowsOf(nth: number, releases: number): ArchiveRow[] {
  const [pipeline, release] = [`p${nth % PIPELINES}`, Math.floor(nth / PIPELINES) + 1];
  const endedMs = Math.floor((nth / releases) * YEAR_MS);
  const of = { pipeline, release, endedMs };
  const deploys = nth % 10 < 4;
  const succeeded = nth % 10 < 3;
  const state = succeeded ? 'succeeded' : nth % 10 === 9 ? 'failed' : deploys ? 'failed' : 'cancelled';
  const key = `release/${pipeline}/${release}@run`;
  const action = (name: string): ArchiveRow => ({
    ...blankRow({ key: `${key}#action/${name}`, kind: 'action', state, ...of }),
    ...{ name, type: name },
  });
  const whole: ArchiveRow = {
    ...blankRow({ key, kind: 'release', state, ...of }),
    ...{
      type: state === 'failed' ? 'build' : null,
      cause: state === 'cancelled' ? 'superseded' : null,
      trigger: 'finder',
    },
    ...{ category: CATEGORIES[(nth % PIPELINES) % 4] ?? '', cadence: CADENCES[nth % 5] ?? 'daily', parts: 3 },
    startedMs: endedMs - 60 * MINUTE_MS,
    detail: deploys ? historyText(pipeline, release, endedMs, succeeded) : null,
  };
  return [whole, ...['build', 'canary', 'deploy'].map(action), ...(deploys ? deployRows(nth, of, succeeded) : [])];
}

function deployRows(
  nth: number,
  of: Pick<ArchiveRow, 'pipeline' | 'release' | 'endedMs'>,
  succeeded: boolean,
): ArchiveRow[] {
  const key = `deploy/${of.pipeline}/${of.release}/deploy/1@run`;
  const state = succeeded ? 'succeeded' : 'reverted';
  const phase = (at: number): ArchiveRow => blankRow({ key: `${key}#phase/${at}`, kind: 'phase', state, ...of });
  const deploy: ArchiveRow = {
    ...blankRow({ key, kind: 'deploy', state, ...of }),
    ...{ name: 'deploy', type: 'twine', classification: succeeded ? 'success' : 'good-failure', parts: 4 },
    ...{ progress: succeeded ? null : (nth % 97) / 97, startedMs: of.endedMs - MINUTE_MS * ((nth % 600) + 1) },
    ...{ updateMs: 900_000, bakeMs: 700_000, preMs: 60_000, postMs: 30_000, revertMs: succeeded ? null : 90_000 },
  };
  const check = {
    ...blankRow({ key: `${key}#check/cpu`, kind: 'check', state: 'unhealthy', ...of }),
    name: 'cpu',
    type: 'cpu',
  };
  return [deploy, ...[0, 1, 2, 3].map(phase), ...(succeeded ? [] : [check])];
}

function historyText(pipeline: string, number: number, endedMs: number, succeeded: boolean): string {
  const at = new Date(endedMs).toISOString();
  const ended = succeeded
    ? { outcome: 'succeeded', classification: 'success' }
    : { outcome: 'reverted', classification: 'good-failure', reverted: { by: 'health', bad: true } };
  return JSON.stringify({
    ...{ id: `${pipeline}/${number}`, kind: 'release', pipeline, number, state: succeeded ? 'succeeded' : 'failed' },
    ...{ cause: null, trigger: { kind: 'finder', actor: 'service:builds', key: null }, startedAt: at, endedAt: at },
    ...{ durationMs: 1, artifacts: [], deploys: [{ action: 'deploy', version: `v${number}`, ...ended }] },
  });
}

async function main(): Promise<void> {
  const releases = Number(process.argv[2] ?? 165_000);
  const file = join(tmpdir(), `conveyor-bench-${process.pid}.duckdb`);
  const archive = openEmbedded(file);
  let [rows, began] = [0, performance.now()];
  for (let from = 0; from < releases; from += BATCH) {
    const count = Math.min(BATCH, releases - from);
    const batch = Array.from({ length: count }, (_, at) => rowsOf(from + at, releases)).flat();
    await archive.write(batch, { origin: 'bench', readUntilMs: from }, null);
    rows += batch.length;
  }
  const report = (what: string): void => {
    process.stdout.write(`${what}: ${((performance.now() - began) / 1000).toFixed(2)} s\n`);
    began = performance.now();
  };
  report(`${rows} rows written`);
  for (const by of ['category', 'all', 'category'] as const) {
    await readStats(archive, { sinceMs: 0, untilMs: YEAR_MS, by });
    report(`every statistic of the year, by ${by}`);
  }
  await readStats(archive, { sinceMs: YEAR_MS - 21 * DAY_MS, untilMs: YEAR_MS, by: 'category' });
  report('every statistic of 21 days');
  process.stdout.write(`${(statSync(file).size / 1e6).toFixed(0)} MB\n`);
  rmSync(file, { force: true });
}

void main();
