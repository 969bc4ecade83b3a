import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { startFront, type Front } from './front';
import { containing, lastKnown, Night, READY } from './night';
import { Processes, type Running } from './process';
import { startTemporal } from './server';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/**
 * Each part is broken for real, and doctor must name that part and no other, both from a machine that reaches Temporal
 * and through a server; the server's own reports must be true. This file has its own Temporal, since it freezes it.
 */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-nights-'));
let [port, metricsPort] = [0, 0];
let [temporal, stack, front] = [] as unknown as [Running, Stack, Front];
let pipeline = '';
let night: Night;

const QUICK = { deploy: { phases: [], healthChecks: [], completion: { bake: '0s' } } };

beforeAll(async () => {
  [port = 0, metricsPort = 0] = await freePorts(2);
  temporal = await startTemporal(processes, { home, port, data: join(home, 'temporal.db') });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}`, env: { CONVEYOR_METRICS: `127.0.0.1:${metricsPort}` } });
  const shop = await given(stack, QUICK);
  await shop.ships(2);
  await shop.ended(1);
  pipeline = shop.name;
  front = await startFront(stack);
  night = new Night(stack, () => front);
});
afterAll(async () => {
  temporal.kill('SIGCONT');
  stack.simulator.kill('SIGCONT');
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** Like the probes of Kubernetes, but patient. */
const PROBE_MS = 5_000;

/** Temporal lists the polls of a dead worker, which counts as gone two minutes after the last one. */
const LISTED_FOR_MS = 180_000;

test('on a good night doctor ends with 0, and says who answered', async () => {
  const { code, broken, all } = await night.doctor();
  expect([code, broken]).toEqual([0, {}]);
  expect(all['workers']).toMatchObject({
    ...{ state: 'ok', how: null },
    found: expect.stringMatching(/^\d+@\S+ \(last poll: .*\) polls the task queue .*; one answered within /) as string,
  });
  expect(all['extensions']?.found).toMatch(
    /^\d+ extensions of \d+ answer the workers; not .* and .*, which no deploy has used$/,
  );
  const behind = await night.throughServer();
  expect([behind.code, behind.broken]).toEqual([0, {}]);
  expect(behind.all['workers']?.found).toMatch(/; one answered within /);
  expect(await night.readyz()).toEqual(READY);
  expect(await night.status(pipeline)).toMatchObject({ code: 0, error: '', shown: containing(pipeline) });
});

test('a worker that is frozen is named with what to do, and nothing else is blamed', async () => {
  const pid = stack.signalWorker('SIGSTOP');
  try {
    // Temporal keeps its polls for two more minutes.
    expect(await night.readyz()).toEqual(READY);
    const looks = [night.doctor(), night.throughServer(), night.status(pipeline)] as const;
    const [{ code, broken }, behind, status] = await Promise.all(looks);
    expect([code, Object.keys(broken)]).toEqual([1, ['workers']]);
    expect(status).toEqual(lastKnown(pipeline, `no-worker: ${pipeline} exists, but no worker answers for it`));
    expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['workers']]);
    // The worker may have no open poll when the work arrives; then it is not known to be the one.
    const words = `^${pid}@.* polls the task queue .*, and none answered within 15s(; ${pid}@\\S+ was given work and did nothing)?$`;
    expect(broken['workers']?.found).toMatch(new RegExp(words));
    expect(broken['workers']?.how).toContain(`kill -9 ${pid} ends it`);
  } finally {
    stack.signalWorker('SIGCONT');
  }
  await night.isWell();
});

test('a Temporal server that is frozen is named once, and what stands behind it is not seen', async () => {
  temporal.kill('SIGSTOP');
  try {
    const asked = [night.hold(pipeline), night.status(pipeline)] as const;
    const looks = [night.doctor(), night.throughServer(), night.readyz(), ...asked] as const;
    const [{ code, broken, all }, behind, ready, ...answers] = await Promise.all(looks);
    expect([code, Object.keys(broken)]).toEqual([1, ['Temporal']]);
    expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['temporal of the server']]);
    for (const answer of answers)
      expect(answer).toEqual({
        ...{ code: 1, shown: '', hint: containing('conveyor doctor says what to do') },
        error: containing('accepts connections, but does not answer like Temporal'),
      });
    expect([ready.status, Object.keys(ready.lacks), ready.metric]).toEqual([
      ...[503, ['temporal', 'worker'], ['temporal', 'worker']],
    ]);
    expect(broken['Temporal']?.found).toBe(
      `the server at 127.0.0.1:${port} accepts connections, but did not answer within 10s: it is frozen or too busy`,
    );
    expect(all['workers']).toMatchObject({ state: 'warning', found: expect.stringContaining('not checked') as string });
    expect(all[`port ${port}`]?.found).toBe('Temporal, or another program on its port, did not answer within 10s');
  } finally {
    temporal.kill('SIGCONT');
  }
  await night.isWell();
});

/** The answer of commands: after a failed write, Temporal does not answer questions about a workflow either. */
const storesNothing = () => ({
  ...{ code: 1, shown: '' },
  error: containing(`the Temporal server at 127.0.0.1:${port} answers, but did not do this`),
  hint: containing(
    'conveyor doctor checks whether it can store anything: its disk may be full, or its database read-only',
  ),
});

test('a Temporal server whose database takes no writes is named, though it answers', async () => {
  // As on a full disk: no file may grow beyond a byte.
  const mayWrite = async (bytes: string): Promise<void> => {
    const { code, stderr } = await processes.start('prlimit', ['--pid', String(temporal.pid), `--fsize=${bytes}:`], {
      PATH: process.env['PATH'] ?? '',
    }).ended;
    if (code !== 0) throw new Error(stderr);
  };
  await mayWrite('1');
  try {
    const unready = night.isUnready();
    const looks = [night.doctor(), night.throughServer(), night.hold(pipeline)] as const;
    const [{ code, broken }, behind, hold] = await Promise.all(looks);
    expect([code, Object.keys(broken)]).toEqual([1, ['Temporal writes']]);
    expect(hold).toEqual(storesNothing());
    expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['Temporal writes']]);
    expect(await unready).toMatchObject({
      lacks: { writes: expect.stringContaining('Temporal answers, and stores nothing: ') as string },
      metric: expect.arrayContaining(['writes']) as string[],
    });
    expect(broken['Temporal writes']?.how).toContain('its database may be full');
    expect(await night.status(pipeline)).toEqual(storesNothing());
  } finally {
    await mayWrite('unlimited');
  }
  await night.isWell();
});

const story = spawnSync('sqlite3', ['-version']).status === 0 ? test : test.skip;

/** Runs statements on the server's database, and returns their output. */
async function sql(statements: string): Promise<string> {
  const args = ['-cmd', '.timeout 10000', join(home, 'temporal.db'), statements];
  const { code, stdout, stderr } = await processes.start('sqlite3', args, { PATH: process.env['PATH'] ?? '' }).ended;
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

story(
  'a Temporal server whose database became read-only is named by doctor, the probe, the metric and commands',
  async () => {
    // As after a failover to a replica. Every table refuses every change.
    const tables = (await sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%fts%'"))
      .trim()
      .split('\n');
    const triggers = tables.flatMap((table) => ['INSERT', 'UPDATE', 'DELETE'].map((verb) => ({ table, verb })));
    const each = (words: (one: (typeof triggers)[number]) => string) => sql(triggers.map(words).join(';'));
    await each(
      ({ table, verb }) =>
        `CREATE TRIGGER kept_${table}_${verb} BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(ABORT, 'attempt to write a readonly database'); END`,
    );
    try {
      const unready = night.isUnready();
      const looks = [night.doctor(), night.throughServer(), night.hold(pipeline)] as const;
      const [{ code, broken }, behind, hold] = await Promise.all(looks);
      expect([code, Object.keys(broken)]).toEqual([1, ['Temporal writes']]);
      expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['Temporal writes']]);
      expect(broken['Temporal writes']?.how).toMatch(/^its database may be full, read-only or gone/);
      expect(await unready).toMatchObject({
        lacks: { writes: expect.stringContaining('Temporal answers, and stores nothing: ') as string },
        metric: ['writes'],
      });
      expect(hold).toEqual(storesNothing());
      expect(await night.status(pipeline)).toEqual(storesNothing());
    } finally {
      await each(({ table, verb }) => `DROP TRIGGER kept_${table}_${verb}`);
    }
    await night.isWell();
  },
);

story('lists that are far behind are what is broken, from both sides, and all else works', async () => {
  const counted = () => night.metric('conveyor_pipelines');
  await eventually('the pipeline is counted', async () => (await counted()) === 1);
  // Only its visibility accepts no rows.
  await sql("CREATE TRIGGER late BEFORE INSERT ON executions_visibility BEGIN SELECT RAISE(ABORT, 'late'); END");
  try {
    const unlisted = await given(stack);
    for (const { broken } of await night.bothName(['lists'])) {
      expect(broken['lists']).toMatchObject({
        found: "Temporal's lists lag: a workflow was still missing from them 15s after its start",
        how: containing('temporal operator cluster describe names the visibility store'),
      });
    }
    expect(await night.readyz()).toEqual(READY);
    expect(await night.status(unlisted.name)).toMatchObject({ code: 0, error: '', shown: containing(unlisted.name) });
    expect(await counted()).toBe(1);
  } finally {
    await sql('DROP TRIGGER late');
  }
  await night.isWell();
  await eventually('both pipelines are counted', async () => (await counted()) === 2);
});

test('a push type that does not answer the workers is broken if deploys use it', async () => {
  const failed = async (): Promise<number> => {
    const rows = (await night.workerMetrics()).matchAll(/^conveyor_extension_request_seconds_count\{(.*)\} (\d+)$/gm);
    const ofTwine = [...rows].filter(
      ([, labels = '']) => /extension="twine"/.test(labels) && /code="none"/.test(labels),
    );
    return ofTwine.reduce((sum, [, , count]) => sum + Number(count), 0);
  };
  const before = await failed();
  const shop = await given(stack, QUICK);
  stack.simulator.kill('SIGSTOP');
  try {
    await shop.ships(2);
    const { code, broken } = await night.doctor();
    expect(code).toBe(1);
    await eventually('the deploy shows who does not answer', async () => {
      const { code: ended, shown } = await night.status(`${shop.name}/1/deploy`);
      return ended === 0 && shown.includes('twine did not answer');
    });
    await eventually('the worker counts what had no answer', async () => (await failed()) > before);
    expect(await night.hold(shop.name)).toMatchObject({ code: 0, error: '' });
    expect((await night.throughServer()).broken['push-type twine']).toEqual(broken['push-type twine']);
    expect(await night.readyz()).toEqual(READY);
    expect(broken['push-type twine']?.found).toBe(
      `no usable answer for the workers at ${stack.simulatorUrl}/…: no answer within 3000 ms`,
    );
    expect(Object.keys(broken)).not.toContain('workers');
    expect(Object.keys(broken)).not.toContain('push-type processes');
  } finally {
    stack.simulator.kill('SIGCONT');
  }
  await night.isWell();
  expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
});

test('a server that is frozen is the door that is broken, and doctor does not wait a minute for it', async () => {
  front.process.kill('SIGSTOP');
  try {
    const status = night.status(pipeline, night.behindServer);
    const probe = fetch(`${front.url}/readyz`, { signal: AbortSignal.timeout(PROBE_MS) });
    await expect(probe).rejects.toMatchObject({ name: 'TimeoutError' });
    const { code, broken, all } = await night.throughServer();
    expect([code, Object.keys(broken)]).toEqual([1, ['door']]);
    expect(await status).toEqual({
      ...{ code: 1, shown: '', hint: containing('conveyor doctor') },
      error: containing(`server-unreachable: no Conveyor server answers at ${front.url} (no answer within 60 s)`),
    });
    expect(await night.status(pipeline)).toMatchObject({ code: 0, error: '' });
    expect(broken['door']?.found).toBe(`the server at ${front.url} (CONVEYOR_SERVER): no answer within 10 s`);
    expect(all['workers']).toMatchObject({ state: 'warning', found: expect.stringContaining('no server') as string });
  } finally {
    front.process.kill('SIGCONT');
  }
});

test('a worker that was killed is missing at once, though Temporal lists it for minutes', async () => {
  await stack.killWorker();
  const { code, broken } = await night.doctor();
  expect([code, Object.keys(broken)]).toEqual([1, ['workers']]);
  expect(await night.isUnready(LISTED_FOR_MS)).toEqual({
    ...{ status: 503, metric: ['worker'] },
    lacks: { worker: expect.stringMatching(/^no worker polls /) as string },
  });
  const unpolled = `no-worker: ${pipeline} exists, but no worker polls its task queue ${stack.taskQueue}`;
  expect(await night.status(pipeline)).toEqual(lastKnown(pipeline, unpolled));
  await stack.startWorker();
  await night.isWell();
});
