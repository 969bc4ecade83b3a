import { existsSync } from 'node:fs';
import type { DeployStatus } from '../../domain/views';
import { Processes, type Running } from './process';
import { EXAMPLE, findPrometheus, ProcessesExample, typedLines, type SeenCopy } from './processes';
import { Stack } from './stack';
import { eventually } from './waiting';

/**
 * Real processes, scraped by a real Prometheus, updated by the push type of examples/push-types/processes: first the
 * README of the example, line by line, and then its promises.
 */
const prometheus = findPrometheus(process.env);
if (prometheus === undefined)
  process.stderr.write(
    '\nSKIPPED: tests/system/prometheus.long.test.ts needs a Prometheus server, and this machine has none: there is no prometheus ' +
      'on PATH, none at /usr/bin/prometheus, and PROMETHEUS_BIN names none. Nothing proves here that health is read from a real one.\n\n',
  );
const withPrometheus = prometheus === undefined ? describe.skip : describe;

withPrometheus('with a real Prometheus and real processes', () => {
  const processes = new Processes();
  let example: ProcessesExample;
  let stack: Stack;
  let server: Running;

  beforeAll(async () => {
    example = await ProcessesExample.open(processes);
    const opened = Stack.open({ urls: { processes: example.url } });
    server = await example.startPrometheus(prometheus ?? '');
    stack = await opened;
    await eventually('Prometheus scrapes all copies', async () => (await example.scraped()) === 6);
  });
  afterAll(async () => {
    await stack?.close();
    await example?.close();
    await processes.reap();
  });

  const deploy = (number: number): Promise<DeployStatus> =>
    stack.client.status(`processes/${number}/deploy`) as Promise<DeployStatus>;
  const versions = async (): Promise<string[]> => (await example.copies()).map(({ version }) => version).sort();
  const six = (version: string): string[] => Array.from({ length: 6 }, () => version);
  const [dev, main, scrape, ...typed] = typedLines();
  const type = async (line: string | undefined) => {
    const [npx, noInstall, conveyor, ...args] = (line ?? '').split(' ');
    expect([npx, noInstall, conveyor]).toEqual(['npx', '--no-install', 'conveyor']);
    return stack.conveyor(args);
  };

  test('the README of the example starts what the tests start', () => {
    expect([dev, main]).toEqual(['npm run dev', `node dist/${EXAMPLE}/main.js`]);
    expect(scrape).toContain(`prometheus --config.file=${EXAMPLE}/prometheus.yaml `);
    expect(typed).toHaveLength(4);
  });

  let released: ReturnType<typeof type>;

  test('a good version passes its first phase by what Prometheus has of the one process that was updated', async () => {
    expect(await type(typed[0])).toMatchObject({ code: 0 });
    released = type(typed[1]);
    const passed = await eventually('the first phase has passed', async () => {
      const status = await deploy(1);
      return status.phases[0]?.state === 'succeeded' && status;
    });
    const seen = passed.health.map(({ unit, check, verdict }) => `${unit} ${check} ${verdict}`);
    expect(seen).toEqual(expect.arrayContaining(['web-a errors healthy', 'web-a memory healthy']));
  });

  test('while Prometheus is gone nothing passes and nothing is reverted: the deploy pauses', async () => {
    await eventually('all processes are updated', async () => {
      const { state, phases } = await deploy(1);
      return state === 'baking' && phases[1]?.state === 'running';
    });
    server.kill('SIGKILL');
    await server.ended;
    const paused = await eventually('it is paused', async () => {
      const status = await deploy(1);
      return status.paused !== null && status;
    });
    expect(paused).toMatchObject({ state: 'baking', outcome: null, revert: null, paused: { by: 'dependency' } });
    expect(paused.paused?.reason).toMatch(/errors could not be evaluated: Prometheus at \S+ cannot be reached/);
    expect(await versions()).toEqual(six('good-2'));
  });

  test('once Prometheus is back the deploy continues by itself and succeeds, on every process under an identifier of its own', async () => {
    server = await example.startPrometheus(prometheus ?? '');
    expect(await released).toMatchObject({ code: 0 });
    expect((await deploy(1)).outcome).toBe('succeeded');
    expect(await versions()).toEqual(six('good-2'));
    const tasks = (await example.copies()).map(({ task }) => task).sort();
    expect(tasks).toEqual(['web-a/0@2', 'web-a/1@2', 'web-a/2@2', 'web-b/0@2', 'web-b/1@2', 'web-b/2@2']);
    expect(example.targets()).toEqual(tasks);
  });

  test('a bad version is reverted automatically on the one process that it reached; the reason has the check and its numbers', async () => {
    const untouched = (await example.copies()).filter(({ task }) => task !== 'web-a/0@2');
    expect(await type(typed[2])).toMatchObject({ code: 3 });
    const { outcome, revert } = await deploy(2);
    expect([outcome, revert?.by, revert?.units.map(({ live }) => live)]).toEqual(['reverted', 'health', [1]]);
    expect(revert?.reason).toMatch(
      /^errors is 0\.[23]\d*, above the limit of 0\.05 \(mean of 1 task over the last 5s\)/,
    );
    expect((await type(typed[3])).stdout).toContain('errors is 0.');
    expect(await versions()).toEqual(six('good-2'));
    expect(await example.copies()).toEqual(expect.arrayContaining(untouched));
  });
});

describe('the push type of real processes, when it is killed', () => {
  const processes = new Processes();
  let example: ProcessesExample;
  beforeAll(async () => {
    example = await ProcessesExample.open(processes);
    await eventually('six copies run', async () => (await example.copies()).length === 6);
  });
  afterAll(async () => {
    await example?.close();
    await processes.reap();
  });

  // All processes, including forgotten ones, are found in /proc.
  const withProc = existsSync('/proc/self/environ') ? test : test.skip;
  withProc('finds its processes again, finishes what it had begun, and runs nothing twice', async () => {
    const before = await example.copies();
    await example.update('deploy/web/1/deploy/1/0/1', 'web-a', 'good-2');
    // In the middle: the first process has gone, or the second.
    await eventually(
      'an update has begun',
      async () => !(await example.copies()).some(({ task }) => task === 'web-a/0@1'),
    );
    await example.kill();
    await example.start();
    await eventually('the update is done', () => example.isDone('deploy/web/1/deploy/1/0/1'));
    const after = await example.copies();
    expect(after).toHaveLength(6);
    const of = (unit: string, copies: readonly SeenCopy[]) => copies.filter(({ task }) => task.startsWith(unit));
    expect(of('web-b', after)).toEqual(of('web-b', before));
    expect(of('web-a', after).map(({ version }) => version)).toEqual(['good-2', 'good-2', 'good-2']);
    expect(example.everyProcess()).toHaveLength(6);
  });
});
