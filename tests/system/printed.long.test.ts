import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnv, Processes, type Ended, type Env } from './process';

/* Printed suggestions, typed. */

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-printed-'));
const THROUGH = /^ {2}npx --no-install conveyor (.+)$/;

const env: Env = {
  ...cleanEnv(home),
  CONVEYOR_ACTOR: 'user:alice',
  TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '',
};
/** The variables that other terminals need, as printed by the stack. */
let stack: Env = {};

afterAll(async () => {
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** Starts it as npx does, without npx itself. */
const npx = (args: readonly string[]): Promise<Ended> =>
  processes.node('bin/conveyor.js', args, { ...env, ...stack, npm_command: 'exec' }).ended;

/** The lines under `Next`. */
const nextIn = (printed: string): readonly string[] =>
  printed
    .slice(printed.indexOf('Next'))
    .split('\n')
    .filter((line) => line.startsWith('  '));

/** Types the printed lines; each begins in the form that users in a checkout must type. */
async function type(lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    expect(line).toMatch(THROUGH);
    const { code, stderr } = await npx(THROUGH.exec(line)?.[1]?.split(' ') ?? []);
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: expect.not.stringContaining('error:') });
  }
}

test('commands that conveyor dev prints can be typed in another terminal, in this order', async () => {
  const args = ['dev', '--ports', 'auto'];
  const dev = processes.node('scripts/run.js', args, { ...env, npm_command: 'run-script' });
  await dev.said(/list releases\n/);
  const [first = '', ...lines] = nextIn(dev.stdout()).filter((line) => !line.includes('in another terminal'));
  expect(first).toMatch(/^ {2}export TEMPORAL_ADDRESS=/);
  stack = Object.fromEntries(
    first
      .trim()
      .split(' ')
      .slice(1)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  expect(lines.length).toBeGreaterThan(2);
  await type(lines);
});

test('commands that conveyor init prints lead from the file that it wrote to a release that succeeded', async () => {
  const file = join(home, 'pipeline.yaml');
  const { stdout } = await npx(['init', 'my-service', '--file', file]);
  // The file waits for minutes, so that people see something.
  const text = readFileSync(file, 'utf8');
  const quick = text.replaceAll(/bake: 1m/g, 'bake: 4s').replaceAll(/average: 1m/g, 'average: 3s');
  expect(quick).not.toBe(text);
  writeFileSync(file, quick.replace('healthInterval: 15s', 'healthInterval: 1s'));
  const lines = nextIn(stdout);
  expect(lines.at(-1)).toContain('release my-service');
  await type(lines);
  const status = await npx(['status', 'my-service/1', '-o', 'json']);
  expect(JSON.parse(status.stdout)).toMatchObject({ state: 'succeeded' });
});
