import { serve } from '@hono/node-server';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BACKTEST_PIPELINE, backtestWorld } from '../builders/backtestWorld';
import { NOW } from '../builders/cliSamples';
import { run, type Ran } from '../builders/cliWorld';
import { letPass, revertedBy, through } from '../builders/historyRows';
import { START } from '../builders/simulatorFleet';

let directory: string;
let close: () => void;
let client: Awaited<ReturnType<typeof backtestWorld>>['client'];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'conveyor-backtest-'));
  const world = await backtestWorld([
    { errorRatio: 0, deploy: through('kv:0') },
    { errorRatio: 0.2, deploy: revertedBy('health', 'kv:2') },
    { errorRatio: 0.08, deploy: through('kv:3', letPass('errors')) },
    { errorRatio: 0, deploy: through('kv:4'), lost: true },
  ]);
  ({ client } = world);
  const server = serve({ fetch: world.fleet.app.fetch, port: 0 });
  await new Promise((ready) => server.once('listening', ready));
  close = () => server.close();
  const url = `http://localhost:${(server.address() as AddressInfo).port}/push-types/twine`;
  write('conveyor.config.yaml', `extensions: [{ name: twine, kind: push-type, url: "${url}" }]`);
  write('pipeline.yaml', BACKTEST_PIPELINE);
});
afterAll(() => {
  close();
  rmSync(directory, { recursive: true });
});

const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

const backtestOf = (...argv: string[]) => [
  ...['health', 'backtest', join(directory, 'pipeline.yaml'), '--since', '9000d'],
  ...argv,
];
const world = () => ({ client, env: { CONVEYOR_CONFIG: join(directory, 'conveyor.config.yaml') } });
const backtest = (...argv: string[]): Promise<Ran> => run(backtestOf(...argv), world());

test('says of each check how often it erred, how fast it was, and which limit would have erred less', async () => {
  const { code, out, err } = await backtest();
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toContain('kvstore, deploy: 3 deploys since');
  expect(out).toContain("1 more deploy, past Temporal's retention");
  expect(out).toMatch(/^errors +1 of 2 \(50\.0%, 9\.5–90\.5%\) +0 of 1 \(0\.0%, 0\.0–79\.3%\) +3m, p90 3m +0$/m);
  expect(out).toMatch(/^cpu +0 of 2 \(.*\) +– +– +1$/m);
  expect(out).toContain('errors with above: 0.1 would have erred 0 times instead of 1; 3 deploys prove little');
  expect(out).toMatch(/^kvstore\/3\/deploy +errors +✖ false positive +3m +succeeded after user:ana let errors pass$/m);
  expect(out).not.toContain('kvstore/1/deploy');
});

test('wide lists every deploy, with what the check said of it', async () => {
  const { out } = await backtest('-o', 'wide', '--check', 'errors');
  expect(out).toMatch(
    /^kvstore\/1\/deploy +errors +✔ passed +– +succeeded +errors is 0\.00\d+, within the limit of 0\.05/m,
  );
  expect(out).not.toContain('cpu');
});

test('a single deploy that counts is shown to prove little', async () => {
  const labels = write('one.yaml', '- { deploy: kvstore/3/deploy, bad: false }');
  const since = ['--since', `${Math.round((NOW - START) / 60_000) - 50}m`, '--check', 'errors'];
  const { out } = await backtest(...since, '--labels', labels);
  expect(out).toMatch(/^errors with above: 0\.08\d+ would have erred 0 times instead of 1; 1 deploy proves little$/m);
});

test('json has every evaluation', async () => {
  const { out } = await backtest('-o', 'json');
  const report = JSON.parse(out) as { actions: { checks: { tried: { evaluations: object[] }[] }[] }[] };
  expect(report.actions[0]?.checks[0]?.tried[0]?.evaluations).toHaveLength(10);
});

test('plots are SVG files, one a check', async () => {
  const plots = join(directory, 'plots');
  const { out } = await backtest('--plot', plots);
  expect(readdirSync(plots)).toEqual(['deploy-cpu.svg', 'deploy-errors.svg']);
  expect(readFileSync(join(plots, 'deploy-errors.svg'), 'utf8')).toContain('kvstore/2/deploy: found, after 3m');
  expect(out).toContain(`plot: ${join(plots, 'deploy-errors.svg')}`);
});

test('checks whose names come to the same file have plots of their own', async () => {
  const twins = BACKTEST_PIPELINE.replace('name: errors,', 'name: c p u,').replace('name: cpu,', 'name: c/p/u,');
  const plots = join(directory, 'twins');
  const { code } = await run(
    ['health', 'backtest', write('twins.yaml', twins), '--since', '9000d', '--plot', plots],
    world(),
  );
  expect(code).toBe(0);
  expect(readdirSync(plots)).toEqual(['deploy-c-p-u-2.svg', 'deploy-c-p-u.svg']);
  expect(readFileSync(join(plots, 'deploy-c-p-u.svg'), 'utf8')).toContain('c p u on 3 past deploys');
});

test('a directory that cannot be written is refused before anything is tried', async () => {
  const asked: string[] = [];
  const watched = { ...client, history: (pipeline: string) => (asked.push(pipeline), client.history(pipeline)) };
  const plots = join(write('a-file', ''), 'plots');
  const { code, err } = await run(backtestOf('--plot', plots), { ...world(), client: watched });
  expect(code).toBe(2);
  expect(err).toContain(`cannot write ${plots}`);
  expect(asked).toEqual([]);
});

test('Ctrl-C ends it as any command, and gives the cursor back', async () => {
  const ran = await run(backtestOf(), { ...world(), isTTY: true, interruptAtMs: 0 });
  expect(ran.code).toBe(130);
  expect(ran.out).toBe('');
  expect(ran.err).toMatch(/\u001b\[\?25h$/);
});

test('labels say what the fate of a deploy does not, and bring recordings', async () => {
  const point = (minute: number): [number, number] => [START + minute * 60_000, 0.3];
  const side = { tasks: 1, series: [{ labels: {}, points: Array.from({ length: 20 }, (_, minute) => point(minute)) }] };
  const times = { updatedAt: START, until: START + 15 * 60_000, baseline: { start: START - 60_000, end: START } };
  write('leak.json', JSON.stringify({ fresh: side, control: side, before: side, ...times }));
  const labels = write(
    'labels.yaml',
    `- { deploy: kvstore/3/deploy, bad: true, why: it lost orders }
- { deploy: kvstore/99/deploy, bad: true }
- { name: leak of last winter, check: errors, bad: true, recording: leak.json }
`,
  );
  const { out, err } = await backtest('--labels', labels, '-o', 'wide');
  expect(out).toMatch(/^kvstore\/3\/deploy +errors +✔ found +3m +it lost orders/m);
  expect(out).toContain('kvstore, deploy: 3 deploys since');
  expect(out).toMatch(/^leak of last winter +errors +✔ found +3m +labelled/m);
  expect(err).toBe('warning: labels of deploys that are not among those tried: kvstore/99/deploy\n');
});

test.each([
  ['a check that is not there', ['--check', 'latency'], 'kvstore has no check latency', 'it has errors, cpu'],
  ['no duration', ['--since', 'yesterday'], '--since yesterday is not a duration', '10m'],
  ['labels that are not there', ['--labels', '/nowhere.yaml'], '/nowhere.yaml', ''],
])('refuses %s, and says what there is', async (_, argv, message, hint) => {
  const { code, err } = await backtest(...argv);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(err).toContain(hint);
});

test('labels that are none are refused, with the place', async () => {
  const { code, err } = await backtest('--labels', write('wrong.yaml', '- { deploy: kvstore/3/deploy }'));
  expect([code, err]).toEqual([2, expect.stringContaining('0')]);
});

test('a push type that is down is an error, not a verdict', async () => {
  const config = write('down.yaml', 'extensions: [{ name: twine, kind: push-type, url: "http://localhost:1/x" }]');
  const { code, err } = await run(['health', 'backtest', join(directory, 'pipeline.yaml'), '--since', '9000d'], {
    client,
    env: { CONVEYOR_CONFIG: config },
  });
  expect(code).toBe(1);
  expect(err).toContain('twine');
});
