import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { KVSTORE_JOBS } from '../../cli/demo/world';
import { createJobs, type NewJob } from '../../cli/simulator';
import { freePorts } from '../../cli/stack/ports';
import type { DeployStatus, PipelineStatus } from '../../domain/views';
import { exampleFleet, exampleSource, TOGETHER } from '../setup/examples';
import { cleanEnv, Processes, ROOT } from './process';
import { startTemporal } from './server';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';
import { wordsOf } from './words';

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The commands of a page's shell blocks, in order: as a person would type them one after the other. */
const linesOf = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.trim().split('\n'));

test('the README begins with the demo and the tests, and has what to type next', () => {
  const lines = linesOf('README.md');
  expect(lines.slice(0, 2)).toEqual(['npm run demo', 'npm test']);
  expect(lines.length).toBeGreaterThan(5);
});

describe('every command of the README works, in this order', () => {
  const { pipeline, jobs } = follow('README.md', linesOf('README.md').slice(2));

  test('at the end the good version runs, and the bad one is known', async () => {
    const { knownBad, releases } = await pipeline('kvstore');
    expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed']);
    expect(knownBad.map(({ artifact }) => artifact)).toEqual(['executable@kv:13']);
    for (const { name } of KVSTORE_JOBS) expect(await jobs(name)).toMatchObject({ versions: { 'kv:12': 6 } });
  });
});

describe('every command of docs/tutorial/service.md works, in this order', () => {
  const { pipeline, jobs } = follow('docs/tutorial/service.md', linesOf('docs/tutorial/service.md'));

  test('at the end the fleet is back on the first version, and two versions are known to be bad', async () => {
    const { held, knownBad, releases } = await pipeline('web');
    expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed', 'cancelled', 'succeeded', 'succeeded']);
    expect(knownBad.map(({ artifact }) => artifact)).toEqual(['executable@web:2', 'executable@web:3']);
    expect(held).toBeNull();
    for (const name of ['web-x', 'web-y']) expect(await jobs(name)).toMatchObject({ versions: { 'web:1': 20 } });
  });
});

describe('every command of examples/teastore/README.md works, in this order', () => {
  const page = 'examples/teastore/README.md';
  const { pipeline, jobs } = follow(page, linesOf(page), exampleFleet('teastore/registry.yaml'));

  test('at the end all teams have deployed, and each offer has its users', async () => {
    const teams = await Promise.all(TOGETHER.map((file) => pipeline(exampleSource(file).pipeline)));
    expect(teams.map(({ releases }) => releases.map(({ state }) => state))).toEqual(teams.map(() => ['succeeded']));
    const { offers = [] } = await pipeline('registry');
    expect(offers.map(({ name, users }) => [name, users.length])).toEqual([
      ['vpc', 3],
      ['cluster', 5],
      ['service', 5],
    ]);
    expect(await jobs('tea-webui')).toMatchObject({ versions: { 'webui:1': 4 } });
  });
});

describe('every command of docs/guides/operate.md works, in this order', () => {
  const { pipeline, jobs } = follow('docs/guides/operate.md', linesOf('docs/guides/operate.md'));

  test('at the end the version of the emergency runs, and the pipeline is neither held nor frozen', async () => {
    await eventually(
      'the last signal arrived',
      async () => (await pipeline('kvstore')).commands.at(-1)?.verb === 'unhold',
    );
    const { held, frozen, knownBad, releases } = await pipeline('kvstore');
    expect({ held, frozen, knownBad: knownBad.map(({ artifact }) => artifact) }).toEqual({
      held: null,
      frozen: null,
      knownBad: ['executable@kv:13'],
    });
    expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed', 'succeeded']);
    for (const { name } of KVSTORE_JOBS) expect(await jobs(name)).toMatchObject({ versions: { 'kv:14': 6 } });
  });
});

describe('the demo', () => {
  let stack: Stack;
  beforeAll(async () => void (stack = await Stack.open()));
  afterAll(() => stack.close());

  async function played(...args: string[]): Promise<string> {
    const env = {
      ...cleanEnv(stack.home),
      CONVEYOR_ACTOR: OWNER,
      // Points to a stack that is gone: the demo uses its own.
      CONVEYOR_SIMULATOR_URL: 'http://127.0.0.1:9',
      TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '',
    };
    const { code, stdout } = await stack.processes.node('bin/conveyor.js', [...args, '-o', 'json'], env).ended;
    expect(code).toBe(0);
    return stdout;
  }

  test('ships a good version, and a bad one that is reverted on the tasks that it reached', async () => {
    const stdout = await played('demo');
    const { releases, deploys, jobs } = JSON.parse(stdout) as {
      releases: { state: string }[];
      deploys: DeployStatus[];
      jobs: { versions: Record<string, number> }[];
    };
    expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed']);
    expect(deploys.map(({ outcome }) => outcome)).toEqual(['succeeded', 'reverted']);
    expect(deploys[1]?.health).toContainEqual(expect.objectContaining({ unit: 'kvstore-x', verdict: 'unhealthy' }));
    expect(jobs.map(({ versions }) => versions['kv:13'] ?? 0)).toEqual([0, 0]);
  });

  test('the demo of configuration lands a good limit, and takes a bad one back from the hosts that refuse it', async () => {
    const { releases, deploys, hosts } = JSON.parse(await played('demo', 'config')) as {
      releases: { state: string }[];
      deploys: DeployStatus[];
      hosts: { total: number; committed: number };
    };
    expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed']);
    expect(deploys.map(({ outcome }) => outcome)).toEqual(['succeeded', 'reverted']);
    expect(hosts).toMatchObject({ total: 10, committed: 10 });
  });
});

const DATABASE = 'temporal.db';
/** A disk that pages name and that this machine lacks. */
const BACKUP_DISK = '/mnt/backup/';

/**
 * Types the lines of a page one after the other in its own stack, with its own Temporal server, since several pages use
 * the same pipeline name. A line may end with its expected exit code: `# exit code 3`.
 */
function follow(page: string, lines: readonly string[], fleet: readonly NewJob[] = KVSTORE_JOBS) {
  const processes = new Processes();
  const home = mkdtempSync(join(tmpdir(), 'conveyor-page-'));
  let stack: Stack;
  let files: readonly string[] = [];
  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    await startTemporal(processes, { home, port, data: join(home, DATABASE) });
    stack = await Stack.open({
      temporal: `127.0.0.1:${port}`,
      settings: { waitInterval: '1s' },
      env: { CONVEYOR_TEMPORAL_DB: join(home, DATABASE) },
    });
    await createJobs(stack.simulatorUrl, fleet);
    files = savedFiles(page, stack.home);
  });
  afterAll(async () => {
    await stack.close();
    await processes.reap();
    rmSync(home, { recursive: true, force: true });
  });
  const pipeline = async (name: string): Promise<PipelineStatus> => (await stack.client.status(name)) as PipelineStatus;

  test.each(lines)('%s', async (line) => {
    const [command = '', comment = ''] = line.split(' # ');
    const [program, ...words] = wordsOf(command);
    const args = (program === 'npx' ? words.slice(2) : words).map((word) =>
      files.includes(word) || word.startsWith(BACKUP_DISK) ? join(stack.home, basename(word)) : word,
    );
    if (program === 'temporal') return expect(await stack.temporalCli(args)).not.toBe('');
    await moment(args);
    const { code, stderr } = await stack.conveyor(args);
    const expected = Number(/^exit code (\d+)$/.exec(comment)?.[1] ?? 0);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.not.stringContaining('error:') });
  });

  /** People type when they see something: pause while it bakes, unhold once the revert is recorded. */
  async function moment([verb, id = '']: readonly string[]): Promise<void> {
    const deploy = async (): Promise<DeployStatus> => (await stack.client.status(`${id}/deploy`)) as DeployStatus;
    if (verb === 'pause') await eventually(`${id} bakes`, async () => (await deploy()).state === 'baking');
    if (verb === 'unhold') await eventually('the revert is booked', async () => (await pipeline(id)).held !== null);
  }
  const jobs = (name: string): Promise<unknown> => stack.control('GET', `/control/jobs/${name}`);
  return { pipeline, jobs };
}

/** The files that a page tells users to save, `Save this as \`web.yaml\``, at the place where its commands find them. */
function savedFiles(page: string, home: string): string[] {
  const blocks = [...read(page).matchAll(/^Save this as `([^`]+)`[^]*?^```yaml\n([^]*?)^```/gm)];
  return blocks.map(([, name = '', text = '']) => {
    writeFileSync(join(home, name), text);
    return name;
  });
}
