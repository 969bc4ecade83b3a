import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DoctorCheck } from '../../cli/doctor/check';
import { freePorts } from '../../cli/stack/ports';
import { Processes, type Running } from './process';
import { startTemporal } from './server';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/** Each part is broken for real, and doctor has to name that one and no other. Temporal is of this file alone, since it is frozen. */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-nights-'));
let [port, temporal, stack] = [0] as unknown as [number, Running, Stack];

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  temporal = await startTemporal(processes, { home, port, data: join(home, 'temporal.db') });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}` });
  const shop = await given(stack, { deploy: { phases: [], healthChecks: [], completion: { bake: '0s' } } });
  await shop.ships(2);
  await shop.ended(1);
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
  /** What is broken now, by its name. */
  readonly broken: Readonly<Record<string, DoctorCheck>>;
  readonly all: Readonly<Record<string, DoctorCheck>>;
}

/** A machine has what a development stack needs: only what runs can be broken. */
async function doctor(): Promise<Night> {
  const more = { TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '' };
  const { code, stdout } = await stack.conveyor(['doctor', '-o', 'json'], more);
  const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
  const byName = (some: readonly DoctorCheck[]) => Object.fromEntries(some.map((check) => [check.name, check]));
  return { code, broken: byName(checks.filter(({ state }) => state === 'missing')), all: byName(checks) };
}

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
});

test('a worker that is frozen is named with what to do, and nothing else is blamed', async () => {
  const pid = stack.signalWorker('SIGSTOP');
  try {
    const { code, broken } = await doctor();
    expect([code, Object.keys(broken)]).toEqual([1, ['workers']]);
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
    const { code, broken, all } = await doctor();
    expect([code, Object.keys(broken)]).toEqual([1, ['Temporal']]);
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
    const { code, broken } = await doctor();
    expect([code, Object.keys(broken)]).toEqual([1, ['Temporal writes']]);
    expect(broken['Temporal writes']?.how).toContain('its database may be full');
  } finally {
    await mayWrite('unlimited');
  }
  await isWell();
});

test('a push type that does not answer the workers is broken if deploys use it', async () => {
  stack.simulator.kill('SIGSTOP');
  try {
    const { code, broken } = await doctor();
    expect(code).toBe(1);
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

test('a worker that was killed is missing at once, though Temporal lists it for minutes', async () => {
  await stack.killWorker();
  const { code, broken } = await doctor();
  expect([code, Object.keys(broken)]).toEqual([1, ['workers']]);
  await stack.startWorker();
  await isWell();
});
