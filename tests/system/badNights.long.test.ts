import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DoctorCheck } from '../../cli/doctor/check';
import { freePorts } from '../../cli/stack/ports';
import { startFront, TOKEN, type Front } from './front';
import { Processes, type Env, type Running } from './process';
import { startTemporal } from './server';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/**
 * Each part is broken for real, and doctor has to name that one and no other, from where Temporal is reached and through a server; what the
 * server itself says has to be true. Temporal is of this file alone, since it is frozen.
 */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-nights-'));
let [port, temporal, stack, front] = [0] as unknown as [number, Running, Stack, Front];
let pipeline = '';

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  temporal = await startTemporal(processes, { home, port, data: join(home, 'temporal.db') });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}` });
  const shop = await given(stack, { deploy: { phases: [], healthChecks: [], completion: { bake: '0s' } } });
  await shop.ships(2);
  await shop.ended(1);
  pipeline = shop.name;
  front = await startFront(stack);
});
afterAll(async () => {
  temporal.kill('SIGCONT');
  stack.simulator.kill('SIGCONT');
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

interface Night {
  readonly code: number | null;
  /** The broken part, by its name. */
  readonly broken: Readonly<Record<string, DoctorCheck>>;
  readonly all: Readonly<Record<string, DoctorCheck>>;
}

/** A machine has what a development stack needs: only what runs can be broken. */
async function doctor(more: Env = {}): Promise<Night> {
  const cli = { TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '' };
  const { code, stdout } = await stack.conveyor(['doctor', '-o', 'json'], { ...cli, ...more });
  const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
  const byName = (some: readonly DoctorCheck[]) => Object.fromEntries(some.map((check) => [check.name, check]));
  return { code, broken: byName(checks.filter(({ state }) => state === 'missing')), all: byName(checks) };
}

/** The view of a person who has only a server. */
const throughServer = () => doctor({ CONVEYOR_SERVER: front.url, CONVEYOR_TOKEN: TOKEN });

/** The answer of `/readyz`: its status, what is not there, and what the metric says of that. */
async function readyz() {
  const answer = await fetch(`${front.url}/readyz`);
  const { checks } = (await answer.json()) as { checks: { name: string; status: string; detail: string }[] };
  const metrics = await (await fetch(`${front.url}/metrics`)).text();
  return {
    status: answer.status,
    lacks: Object.fromEntries(checks.filter(({ status }) => status !== 'ok').map(({ name, detail }) => [name, detail])),
    metric: [...metrics.matchAll(/^conveyor_ready\{check="(\w+)"\} 0$/gm)].map(([, check]) => check),
  };
}

/** A command that needs Temporal, and what it says that is wrong. */
async function holdFails() {
  const { code, stderr } = await stack.conveyor(['hold', pipeline, '--reason', 'a bad night']);
  const [error = '', hint = ''] = stderr.split('\n');
  return { code, error, hint };
}

/** Temporal lists the polls of a worker that is gone, and two minutes after the last it counts as gone. */
const LISTED_FOR_MS = 180_000;

async function isUnready() {
  const answer = await fetch(`${front.url}/readyz`);
  const { checks } = (await answer.json()) as { checks: { name: string; status: string; detail: string }[] };
  return answer.status === 503 ? checks.filter(({ status }) => status !== 'ok') : undefined;
}

const READY = { status: 200, lacks: {}, metric: [] };

const isWell = () =>
  eventually('all is well', async () => {
    const { code, broken } = await doctor();
    if (code !== 0) throw new Error(JSON.stringify(broken));
    return true;
  });

test('on a good night doctor ends with 0, and says who answered', async () => {
  const { code, broken, all } = await doctor();
  expect([code, broken]).toEqual([0, {}]);
  expect(all['workers']).toMatchObject({
    ...{ state: 'ok', how: null },
    found: expect.stringMatching(/^\d+@\S+ \(last poll: .*\) polls the task queue .*; one answered within /) as string,
  });
  expect(all['extensions']?.found).toMatch(
    /^\d+ extensions of \d+ answer the workers; not .* and .*, which no deploy has used$/,
  );
  const behind = await throughServer();
  expect([behind.code, behind.broken]).toEqual([0, {}]);
  expect(behind.all['workers']?.found).toMatch(/; one answered within /);
  expect(await readyz()).toEqual(READY);
});

test('a worker that is frozen is named with what to do, and nothing else is blamed', async () => {
  const pid = stack.signalWorker('SIGSTOP');
  try {
    // Temporal has its polls for two minutes yet.
    expect(await readyz()).toEqual(READY);
    const [{ code, broken }, behind] = await Promise.all([doctor(), throughServer()]);
    expect([code, Object.keys(broken)]).toEqual([1, ['workers']]);
    expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['workers']]);
    // It may have no poll open when the work comes; then it is not known to be the one.
    const words = `^${pid}@.* polls the task queue .*, and none answered within 15s(; ${pid}@\\S+ was given work and did nothing)?$`;
    expect(broken['workers']?.found).toMatch(new RegExp(words));
    expect(broken['workers']?.how).toContain(`kill -9 ${pid} ends it`);
  } finally {
    stack.signalWorker('SIGCONT');
  }
  await isWell();
});

test('a Temporal server that is frozen is named once, and what stands behind it is not seen', async () => {
  temporal.kill('SIGSTOP');
  try {
    const nights = [doctor(), throughServer(), readyz(), holdFails()] as const;
    const [{ code, broken, all }, behind, ready, hold] = await Promise.all(nights);
    expect([code, Object.keys(broken)]).toEqual([1, ['Temporal']]);
    expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['temporal of the server']]);
    expect(hold).toEqual({
      code: 1,
      error: expect.stringContaining('accepts connections, and does not answer as Temporal does') as string,
      hint: expect.stringContaining('conveyor doctor says what to do') as string,
    });
    expect([ready.status, Object.keys(ready.lacks), ready.metric]).toEqual([
      ...[503, ['temporal', 'worker'], ['temporal', 'worker']],
    ]);
    expect(broken['Temporal']?.found).toBe(
      `the server at 127.0.0.1:${port} accepts connections and did not answer within 10s: it is frozen, or too busy`,
    );
    expect(all['workers']).toMatchObject({ state: 'warning', found: expect.stringContaining('not seen') as string });
    expect(all[`port ${port}`]?.found).toBe('Temporal, or what has its port, said nothing within 10s');
  } finally {
    temporal.kill('SIGCONT');
  }
  await isWell();
});

test('a Temporal server whose database takes no writes is named, though it answers', async () => {
  // As on a disk that is full: no file may become larger than a byte.
  const mayWrite = async (bytes: string): Promise<void> => {
    const { code, stderr } = await processes.start('prlimit', ['--pid', String(temporal.pid), `--fsize=${bytes}:`], {
      PATH: process.env['PATH'] ?? '',
    }).ended;
    if (code !== 0) throw new Error(stderr);
  };
  await mayWrite('1');
  try {
    const unready = eventually('the server is unready', async () => {
      const ready = await readyz();
      return ready.status === 503 ? ready : undefined;
    });
    const [{ code, broken }, behind, hold] = await Promise.all([doctor(), throughServer(), holdFails()]);
    expect([code, Object.keys(broken)]).toEqual([1, ['Temporal writes']]);
    expect(hold).toEqual({
      code: 1,
      error: expect.stringContaining(`the Temporal server at 127.0.0.1:${port} answers, and did not do this`) as string,
      hint: expect.stringContaining('conveyor doctor says whether it stores anything') as string,
    });
    expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['Temporal writes']]);
    expect(await unready).toMatchObject({
      lacks: { writes: expect.stringContaining('Temporal answers, and stores nothing: ') as string },
      metric: expect.arrayContaining(['writes']) as string[],
    });
    expect(broken['Temporal writes']?.how).toContain('its database may be full');
  } finally {
    await mayWrite('unlimited');
  }
  await isWell();
});

const hasSqlite = spawnSync('sqlite3', ['-version']).status === 0;

(hasSqlite ? test : test.skip)('lists that lag are a warning from both sides, and nothing is broken', async () => {
  // Its visibility alone takes no rows.
  const sql = async (statement: string): Promise<void> => {
    const args = ['-cmd', '.timeout 10000', join(home, 'temporal.db'), statement];
    const { code, stderr } = await processes.start('sqlite3', args, { PATH: process.env['PATH'] ?? '' }).ended;
    if (code !== 0) throw new Error(stderr);
  };
  await sql("CREATE TRIGGER late BEFORE INSERT ON executions_visibility BEGIN SELECT RAISE(ABORT, 'late'); END");
  try {
    for (const { code, broken, all } of await Promise.all([doctor(), throughServer()])) {
      expect([code, broken]).toEqual([0, {}]);
      expect(all['lists']?.found).toBe("Temporal's lists lag: a workflow was in none of them 5s after its start");
    }
    expect(await readyz()).toEqual(READY);
  } finally {
    await sql('DROP TRIGGER late');
  }
  await isWell();
});

test('a push type that does not answer the workers is broken if deploys use it', async () => {
  stack.simulator.kill('SIGSTOP');
  try {
    const { code, broken } = await doctor();
    expect(code).toBe(1);
    expect((await throughServer()).broken['push-type twine']).toEqual(broken['push-type twine']);
    expect(await readyz()).toEqual(READY);
    expect(broken['push-type twine']?.found).toBe(
      `does not answer the workers at ${stack.simulatorUrl}/…: no answer within 3000 ms`,
    );
    expect(Object.keys(broken)).not.toContain('workers');
    expect(Object.keys(broken)).not.toContain('push-type processes');
  } finally {
    stack.simulator.kill('SIGCONT');
  }
  await isWell();
});

test('a server that is frozen is the door that is broken, and doctor does not wait a minute for it', async () => {
  front.process.kill('SIGSTOP');
  try {
    const { code, broken, all } = await throughServer();
    expect([code, Object.keys(broken)]).toEqual([1, ['door']]);
    expect(broken['door']?.found).toBe(`the server at ${front.url} (CONVEYOR_SERVER): no answer within 10 s`);
    expect(all['workers']).toMatchObject({ state: 'warning', found: expect.stringContaining('no server') as string });
  } finally {
    front.process.kill('SIGCONT');
  }
});

test('a worker that was killed is missing at once, though Temporal lists it for minutes', async () => {
  await stack.killWorker();
  const { code, broken } = await doctor();
  expect([code, Object.keys(broken)]).toEqual([1, ['workers']]);
  const unready = await eventually('the server is unready', isUnready, LISTED_FOR_MS);
  expect(unready).toMatchObject([{ name: 'worker', detail: expect.stringMatching(/^no worker polls /) as string }]);
  await stack.startWorker();
  await isWell();
});
