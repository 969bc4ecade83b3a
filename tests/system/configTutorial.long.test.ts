import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithEtcd, etcdProgram } from '../configerator/etcd';
import { cleanEnv, Processes, ROOT, type Env, type Running } from './process';
import { eventually } from './waiting';
import { wordsOf } from './words';

const PAGE = readFileSync(join(ROOT, 'docs/tutorial/configuration.md'), 'utf8');

/** A line to type, or a file to save, in the order of the page. */
type Step = { readonly line: string } | { readonly file: string; readonly text: string };

const STEPS: readonly Step[] = [
  ...PAGE.matchAll(/^```sh\n([^]*?)^```|Save this as `([^`]+)`:\n\n```ts\n([^]*?)^```/gm),
].flatMap(([, lines, file = '', text = '']): Step[] =>
  lines === undefined
    ? [{ file, text }]
    : lines
        .trim()
        .split('\n')
        .map((line) => ({ line })),
);

const titleOf = (step: Step): string =>
  'line' in step ? step.line : `${step.file}: ${step.text.trim().split('\n').at(-1)}`;

describeWithEtcd('every command of docs/tutorial/configuration.md works, in this order', () => {
  const processes = new Processes();
  const home = mkdtempSync(join(tmpdir(), 'conveyor-config-tutorial-'));
  let near: Env = {};
  let app: Running;

  beforeAll(async () => {
    const readyFile = join(home, 'ready.json');
    const env: Env = {
      ...cleanEnv(home),
      CONVEYOR_ACTOR: 'user:alice',
      TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '',
      CONVEYOR_CACHE: join(home, 'cache'),
      CONVEYOR_ETCD: etcdProgram(),
    };
    const flags = ['--config', '--ports', 'auto', '--no-demo-data', '--ready-file', readyFile];
    const dev = processes.node('bin/conveyor.js', ['dev', ...flags], env);
    const [, exported = ''] = await dev.said(/^ {2}export (.*)$/m);
    await eventually('the stack is ready', async () => existsSync(readyFile));
    near = { ...env, ...Object.fromEntries(exported.split(' ').map((pair) => pair.split(/=(.*)/s).slice(0, 2))) };
    expect(PAGE).toContain('$ cp -r examples/config/flags my-flags\n');
    cpSync(join(ROOT, 'examples/config/flags'), join(home, 'my-flags'), { recursive: true });
    app = processes.node('dist/examples/config/app.js', [], near);
    await app.said(/^following/m);
  });
  afterAll(async () => {
    await processes.reap();
    rmSync(home, { recursive: true, force: true });
  });

  test.each(STEPS.map((step) => [titleOf(step), step] as const))('%s', async (_title, step) => {
    if ('file' in step) return writeFileSync(join(home, step.file), step.text);
    const [command = '', comment = ''] = step.line.split(' # ');
    const words = wordsOf(command).map((word) => (word.startsWith('my-flags') ? join(home, word) : word));
    const args = words.slice(3);
    const { code, stderr } = await conveyor(...args);
    expect({ code, stderr: code === 0 ? '' : stderr }).toMatchObject({
      code: Number(/^exit code (\d+)$/.exec(comment)?.[1] ?? 0),
    });
  });

  test('at the end the server had the bad limit once, and has the good one, which alone was committed', async () => {
    await eventually('the good limit is back', async () => limitsOf().at(-1) === 'limits 50 and 100');
    expect(limitsOf()).toEqual(expect.arrayContaining(['limits 500 and 800']));
    const { stdout } = await conveyor('config', 'status');
    expect(stdout).toMatch(/^2 +given up by feed-limits\/2 \(failed\) .*\n1 +landed /m);
    const status = await conveyor('status', 'feed-limits/2/deploy');
    expect(status.stdout).toMatch(/reverted automatically: errors is 0\.5, above the limit of 0\.05/);
  });

  const conveyor = (...args: readonly string[]) => processes.node('bin/conveyor.js', [...args], near).ended;
  const limitsOf = (): string[] =>
    [...app.stdout().matchAll(/^(limits \d+ and \d+), of /gm)].map(([, text = '']) => text);
});
