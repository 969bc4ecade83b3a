import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readManifest } from '../../cli/backup/manifest';
import { freePorts } from '../../cli/stack/ports';
import type { PipelineStatus, ReleaseSummary } from '../../domain/views';
import { openEmbedded } from '../../archive/duckdb';
import { readAudit } from '../../settings/audit/files';
import { ask, releasesOf, startFront, type Front } from './front';
import { Processes, type Ended, type Running } from './process';
import { startTemporal } from './server';
import { given, PATIENT, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-backup-'));
const database = join(home, 'temporal.db');
const audit = join(home, 'audit.jsonl');
const archive = join(home, 'archive.duckdb');
const at = (name: string): string => join(home, name);

let port: number;
let temporal: Running;
let stack: Stack;
let front: Front;
/** Its versions follow each other without pause while the backup is made. */
let busy: Service;
/** Its deploy runs while the backup is made. */
let slow: Service;

const start = () => startTemporal(processes, { home, port, data: database });
const types = (...words: string[]): Promise<Ended> =>
  stack.conveyor(words, { CONVEYOR_SERVER_URL: front.url, CONVEYOR_CACHE: at('cache') });
const places = ['--db', database, '--state', at('service.json')];
const backup = (name: string) => types('backup', at(name), ...places);
const restore = (name: string) => types('restore', at(name), ...places);

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  temporal = await start();
  const config = { archive: { file: archive, interval: '1s' }, audit: { file: audit } };
  stack = await Stack.open({ temporal: `127.0.0.1:${port}`, config });
  front = await startFront(stack);
  const owners = { owners: ['user:alice', 'service:ci'] };
  busy = await given(stack, { name: 'busy', pipeline: owners });
  slow = await given(stack, { name: 'slow', ...PATIENT, pipeline: owners });
});
afterAll(async () => {
  await stack?.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

async function releases(version: number): Promise<void> {
  const artifacts = [{ name: 'executable', version: busy.version(version) }];
  await ask(front, 'POST', '/v1/pipelines/busy/releases', { artifacts });
}

/** Starts a release every half second, with a recorded request each, until it is stopped. */
function underLoad(): { readonly stop: () => Promise<void> } {
  const over = new AbortController();
  const loading = (async () => {
    for (let version = 3; !over.signal.aborted; version += 1) {
      await releases(version);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  return {
    stop: () => {
      over.abort();
      return loading;
    },
  };
}

const endedOf = (rows: readonly ReleaseSummary[]) =>
  rows.filter(({ state }) => !['queued', 'running'].includes(state)).map(({ number, state }) => `${number} ${state}`);

async function stopAll(): Promise<void> {
  front.process.kill('SIGTERM');
  await front.process.ended;
  await stack.killWorker();
  temporal.kill('SIGTERM');
  await temporal.ended;
}

/** All files of the lost machine. */
function moveAway(folder: string): void {
  execFileSync('mkdir', [folder]);
  for (const name of readdirSync(home).filter((one) => /^(temporal|audit|archive)\./.test(one)))
    renameSync(at(name), join(folder, name));
}

async function startAll(): Promise<void> {
  temporal = await start();
  await stack.startWorker();
  front = await startFront(stack);
}

/** Numbers that the fleet may know are not used again (docs/guides/cluster.md#after-a-restore). */
async function renumbered(pipeline: string): Promise<void> {
  const document = await stack.json<{ nextNumber: number }>(['pipeline', 'export', pipeline]);
  const file = stack.file(`${pipeline}.json`, JSON.stringify({ ...document, nextNumber: document.nextNumber + 1000 }));
  expect(await stack.conveyor(['pipeline', 'import', file])).toMatchObject({ code: 0 });
}

const releasesOnRecord = async (): Promise<number> => {
  const query = { pipeline: 'busy', operation: 'release', outcome: 'accepted', limit: 1_000 } as const;
  return (await readAudit(audit, query)).records.length;
};

test('a backup that the disk does not take leaves nothing behind, and Temporal continues', async () => {
  const limited = ['-c', 'ulimit -f 100; exec "$0" "$@"', process.execPath, 'bin/conveyor.js', 'backup', at('small')];
  const ended = await processes.start('sh', [...limited, ...places], { ...stack.env, CONVEYOR_CACHE: at('cache') })
    .ended;
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no backup was made: the archive') });
  expect(readdirSync(at('small'))).toEqual([]);
  expect(await types('status', 'slow')).toMatchObject({ code: 0 });
});

/** Dozens of releases end one after another, on a busy machine. */
const BUSY_MS = 300_000;

test('a backup under load brings back all that had happened, on an empty machine, and releases continue from there', async () => {
  await slow.ships(2);
  await slow.isIn(1, 'baking');
  await releases(2);
  await busy.ended(1);
  const load = underLoad();
  await eventually('two are over', async () => endedOf(await releasesOf(stack, 'busy')).length >= 2);
  const before = endedOf(await releasesOf(stack, 'busy'));
  expect(before).toContain('1 succeeded');
  expect(await backup('monday')).toMatchObject({ code: 0, stdout: expect.stringContaining('monday is complete') });
  expect(readManifest(at('monday')).pausedMs).toBeGreaterThan(0);

  // The backup lacks a cancelled deploy, another version in its place, and further releases.
  expect(await types('cancel', 'slow/1', '--reason', 'not this one')).toMatchObject({ code: 0 });
  await slow.ended(1);
  await slow.ships(3);
  await slow.isIn(2, 'baking');
  await load.stop();
  await eventually(
    'all have ended',
    async () => {
      const rows = await releasesOf(stack, 'busy');
      return endedOf(rows).length === rows.length;
    },
    BUSY_MS,
  );

  expect(await restore('monday')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nothing was restored: .*worker \d+.* still runs?/),
  });
  await stopAll();
  expect(await restore('monday')).toMatchObject({ code: 1, stderr: expect.stringContaining(`mv ${database} `) });
  moveAway(at('lost'));
  expect(await restore('monday')).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored as of') });
  await startAll();

  expect(await slow.deploy(1)).toMatchObject({ state: 'baking' });
  expect((await releasesOf(stack, 'slow')).map(({ number }) => number)).toEqual([1]);
  const rows = await releasesOf(stack, 'busy');
  expect(endedOf(rows)).toEqual(expect.arrayContaining([...before]));
  // One record may still have been on its way.
  expect(await releasesOnRecord()).toBeGreaterThanOrEqual(rows.length - 1);
  expect(await types('audit', '--verify', '--file', audit)).toMatchObject({ code: 0 });

  await renumbered('busy');
  await releases(1_000);
  const ended = await eventually(
    'all have ended, and deploys that were overtaken are cancelled',
    async () => {
      const all = await releasesOf(stack, 'busy');
      const { releases: shown } = (await stack.client.status('busy')) as PipelineStatus;
      for (const { id, pausedDeploy } of shown) {
        if (pausedDeploy === undefined) continue;
        expect(pausedDeploy.reason).toMatch(/stale-fence|was not evaluated for any updated task/);
        await types('cancel', id, '--reason', 'others followed it');
      }
      return endedOf(all).length === all.length && all;
    },
    BUSY_MS,
  );
  expect(ended.at(-1)).toMatchObject({ state: 'succeeded', number: expect.any(Number) });
  expect(ended.at(-1)?.number).toBeGreaterThan(1_000);
  expect(await busy.runs()).toEqual({ 1_000: 12 });
  const archived = openEmbedded(archive);
  await eventually('all that has ended is archived', async () => (await archived.size()) >= 2 * ended.length);
});

test('an older deploy that a restore brought back updates nothing where a later one has been, and is cancelled', async () => {
  const fleet = await slow.runs();
  expect(await types('skip-bake', 'slow/1', '--reason', 'it was good')).toMatchObject({ code: 0 });
  const { paused } = await slow.reaches(1, 'is paused', (deploy) => deploy.paused !== null);
  expect(paused).toMatchObject({ by: 'dependency', reason: expect.stringContaining('stale-fence') });
  expect(await slow.runs()).toEqual(fleet);
  expect(await types('cancel', 'slow/1', '--reason', 'slow/2 followed it')).toMatchObject({ code: 0 });
  await slow.ended(1);
  await renumbered('slow');
  await slow.ships(4);
  await slow.reaches(1_002, 'has updated its task', ({ state }) => state === 'baking');
  expect(await slow.runs()).toMatchObject({ 4: 2 });
});
