import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KVSTORE_JOBS } from '../../cli/demo/world';
import { createJobs } from '../../cli/simulator';
import type { DeployStatus, PipelineStatus } from '../../domain/views';
import { cleanEnv, ROOT } from './process';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** The commands of the README's shell blocks, in order, in one stack; as a person would type them one after the other. */
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const LINES = [...README.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
/** The set-up of a fresh clone and this very run; the demo has a test of its own below. */
const [, , ...STORY] = LINES;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open();
  await createJobs(stack.simulatorUrl, KVSTORE_JOBS);
});
afterEach(() => stack.checkInvariants());
afterAll(() => stack.close());

test('the README begins with the demo and the tests', () => {
  expect(LINES.slice(0, 2)).toEqual(['npm run demo', 'npm test']);
  expect(STORY.length).toBeGreaterThan(10);
});

describe('what the README tells people to type works, in this order', () => {
  test.each(STORY)('%s', async (line) => {
    const [program, ...words] = wordsOf(line);
    const args = program === 'npx' ? words.slice(1) : words;
    if (program === 'export') return expect(args).toEqual([`CONVEYOR_ACTOR=${OWNER}`]);
    if (program === 'temporal') return expect(await stack.temporalCli(args)).not.toBe('');
    await moment(args);
    const { code, stderr } = await stack.conveyor(args.slice(1));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('error:') });
  });
});

test('at the end the version of the emergency runs, and the pipeline is neither held nor frozen', async () => {
  await eventually('the last signal arrived', async () => (await pipeline()).commands.at(-1)?.verb === 'unhold');
  const { held, frozen, knownBad, releases } = await pipeline();
  expect({ held, frozen, knownBad: knownBad.map(({ artifact }) => artifact) }).toEqual({
    held: null,
    frozen: null,
    knownBad: ['executable@kv:13'],
  });
  expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed', 'succeeded']);
  for (const { name } of KVSTORE_JOBS)
    expect(await stack.control('GET', `/control/jobs/${name}`)).toMatchObject({ versions: { 'kv:14': 6 } });
});

test('the demo ships a good version, and a bad one that is reverted on the tasks that it reached', async () => {
  const env = {
    ...cleanEnv(stack.home),
    CONVEYOR_ACTOR: OWNER,
    TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '',
  };
  const { code, stdout } = await stack.processes.node('bin/conveyor.js', ['demo', '-o', 'json'], env).ended;
  expect(code).toBe(0);
  const { releases, deploys, jobs } = JSON.parse(stdout) as {
    releases: { state: string }[];
    deploys: DeployStatus[];
    jobs: { versions: Record<string, number> }[];
  };
  expect(releases.map(({ state }) => state)).toEqual(['succeeded', 'failed']);
  expect(deploys.map(({ outcome }) => outcome)).toEqual(['succeeded', 'reverted']);
  expect(deploys[1]?.health).toContainEqual(expect.objectContaining({ unit: 'kvstore-x', verdict: 'unhealthy' }));
  expect(jobs.map(({ versions }) => versions['kv:13'] ?? 0)).toEqual([0, 0]);
}, 180_000);

/** People type when they see something: pause while it bakes, unhold once the revert is booked. */
async function moment([, verb, id]: readonly string[]): Promise<void> {
  if (verb === 'pause') await eventually(`${id} bakes`, async () => (await deploy(`${id}/deploy`)).state === 'baking');
  if (verb === 'unhold') await eventually('the revert is booked', async () => (await pipeline()).held !== null);
}

const deploy = async (id: string): Promise<DeployStatus> => (await stack.client.status(id)) as DeployStatus;
const pipeline = async (): Promise<PipelineStatus> => (await stack.client.status('kvstore')) as PipelineStatus;

/** The words of a line as a shell would split it; quotes are all that the README uses. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
