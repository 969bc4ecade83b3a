import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { createSimulator } from '../../simulator/app';
import { run, type Ran } from '../builders/cliWorld';

const { app } = createSimulator({ seed: 1, speed: 60, now: () => Date.now() });
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false });
let url = '';
beforeAll(async () => {
  if (!server.listening) await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const simulate = (...words: string[]): Promise<Ran> =>
  run(['simulate', ...words], { env: { CONVEYOR_SIMULATOR_URL: url } });

test('a job of a newcomer is added once, and shown with what its tasks run', async () => {
  const { code, out } = await simulate('job', 'web', '--tasks', '20', '--runs', 'web:1');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/web +x +20 +web:1 on 20/) });
  const again = await simulate('job', 'web', '--tasks', '5');
  expect(again).toMatchObject({ code: 0, err: 'job web already exists\n', out: expect.stringContaining('20') });
  expect((await simulate('jobs', '-o', 'name')).out).toBe('web\n');
});

test('a version is bad by one command, and good by another', async () => {
  const errors = async (): Promise<number> => {
    await new Promise((passed) => setTimeout(passed, 2_100));
    const now = Date.now();
    const asked = `/control/metrics?job=web&metric=rpc.error_ratio&from=${now - 1_000}&to=${now}`;
    const { series } = (await (await fetch(url + asked)).json()) as { series: { points: [number, number][] }[] };
    return Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)));
  };
  const bad = await simulate('bad', 'web:1', '--error-ratio', '0.5', '--only-region', 'x', '-o', 'json');
  expect(JSON.parse(bad.out)).toEqual({ version: 'web:1', behaviour: { errorRatio: 0.5, onlyRegion: 'x' } });
  expect(await errors()).toBeGreaterThan(0.4);
  expect((await simulate('good', 'web:1')).out).toBe('web:1 is good from now on\n');
  expect(await errors()).toBeLessThan(0.1);
});

test.each([
  [['--error-ratio', '0.2', '--only-region', 'x'], '20% more of its requests fail, only in x'],
  [['--latency-factor', '3', '--after', '90s'], 'its requests take 3 times as long, only 1m 30s after a task started'],
  [['--cpu-factor', '1', '--crash'], 'its tasks do not come up'],
  [['--cpu-factor', '2', '--memory-leak', '5'], 'it needs 2 times the CPU, it leaks 5 MB a minute'],
  [['--fail-build', '--fail-tests'], 'it does not build, it fails its tests'],
])('a bad version with %j says in words what is wrong with it', async (options, words) => {
  expect((await simulate('bad', 'web:9', ...options)).out).toBe(`web:9 is bad from now on: ${words}\n`);
  await simulate('good', 'web:9');
});

test.each([
  ['nothing that is wrong', ['bad', 'web:2', '--only-region', 'x'], /no fault given for web:2[^]*--error-ratio/],
  ['no more errors than before', ['bad', 'web:2', '--error-ratio', '0'], /no fault given for web:2/],
  ['as much CPU as before', ['bad', 'web:2', '--cpu-factor', '1'], /no fault given for web:2/],
  ['what is not a number', ['bad', 'web:2', '--cpu-factor', 'much'], /much is not a number/],
  [
    'what is out of bounds',
    ['bad', 'web:2', '--error-ratio', '7'],
    /^error: usage: the simulator refuses it: behaviour.errorRatio: Too big[^{]*\nhint: see docs\/reference\/fleet.md\n$/,
  ],
  ['a job without a version', ['job', 'api', '--runs', ''], /^error: usage: the simulator refuses it: version: /],
])('%s is refused, and the command says why', async (_what, words, says) => {
  const { code, err } = await simulate(...words);
  expect(code).not.toBe(0);
  expect(err).toMatch(says);
});

test('a plan for a job that the fleet does not have says how to add it, and then goes through', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-simulate-'));
  const file = join(folder, 'pipeline.yaml');
  const env = { CONVEYOR_SIMULATOR_URL: url };
  await run(['init', 'fresh', '--file', file]);
  const { code, err } = await run(['plan', file], { env });
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('no job fresh') });
  expect(err).toContain('conveyor simulate job NAME');
  await simulate('job', 'fresh');
  expect((await run(['plan', file], { env })).code).toBe(0);
  rmSync(folder, { recursive: true });
});
