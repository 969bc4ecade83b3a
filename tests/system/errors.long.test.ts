import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ended, Env } from './process';
import { given, SELDOM, type Service } from './service';
import { Stack } from './stack';

let stack: Stack;
let shop: Service;
/** A pipeline without any version of its artifact yet. */
let fresh: Service;
let taken: Server;
beforeAll(async () => {
  stack = await Stack.open();
  shop = await given(stack, {
    deploy: { phases: [{ name: 'first', scope: '*', amount: 1, bake: '1h' }], healthInterval: SELDOM },
  });
  fresh = await given(stack, { jobsOf: shop });
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  // The deploy continues, whatever error a person sees.
  expect(await shop.deploy(1)).toMatchObject({ state: 'baking', paused: null, commands: [] });
});
afterAll(async () => {
  taken.close();
  await stack.close();
});

const takenPort = (): string => String((taken.address() as AddressInfo).port);

/** The form of every error: one line, one hint, the exit code of its code, and never a stack trace. */
function expectError({ code, stdout, stderr }: Ended, exit: number, name: string): void {
  expect({ code, stderr }).toEqual({
    code: exit,
    stderr: expect.stringMatching(new RegExp(`^error: ${name}: .+\nhint: .`, 'm')),
  });
  expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at .+:\d+:\d+/);
}

interface Row {
  readonly typed: () => readonly string[];
  readonly exit: number;
  readonly error: string;
  readonly env?: () => Env;
}

const why = ['--reason', 'to see what happens'];
const ROWS: Readonly<Record<string, Row>> = {
  'an unknown pipeline': { typed: () => ['status', 'nobody'], exit: 4, error: 'unknown-pipeline' },
  'an unknown release': { typed: () => ['status', `${shop.name}/99`], exit: 4, error: 'unknown-release' },
  'an unknown deploy': { typed: () => ['status', `${shop.name}/1/other`], exit: 4, error: 'unknown-deploy' },
  'a command for an unknown release': {
    typed: () => ['pause', `${shop.name}/99`, ...why],
    exit: 4,
    error: 'unknown-release',
  },
  'a command for an unknown deploy': {
    typed: () => ['pause', `${shop.name}/1/other`, ...why],
    exit: 4,
    error: 'unknown-deploy',
  },
  'a hold of an unknown pipeline': { typed: () => ['hold', 'nobody', ...why], exit: 4, error: 'unknown-pipeline' },
  'a release of an unknown pipeline': {
    typed: () => ['release', 'nobody', '-a', 'executable=1'],
    exit: 4,
    error: 'unknown-pipeline',
  },
  'something that is not an id': { typed: () => ['status', 'Not An Id'], exit: 2, error: 'invalid-id' },
  'a verb in the wrong state': { typed: () => ['resume', `${shop.name}/1`, ...why], exit: 1, error: 'invalid-state' },
  'a check that does not exist': {
    typed: () => ['skip-health-check', `${shop.name}/1/deploy`, '--check', 'nothing', ...why],
    exit: 1,
    error: 'invalid-state',
  },
  'who is not an owner': {
    typed: () => ['pause', `${shop.name}/1`, ...why],
    exit: 4,
    error: 'not-permitted',
    env: () => ({ CONVEYOR_ACTOR: 'user:mallory' }),
  },
  'a release by who is not an owner': {
    typed: () => ['release', shop.name, '-a', 'executable=9'],
    exit: 4,
    error: 'not-permitted',
    env: () => ({ CONVEYOR_ACTOR: 'user:mallory' }),
  },
  'an actor that is not a principal': {
    typed: () => ['pause', `${shop.name}/1`, ...why],
    exit: 2,
    error: 'usage',
    env: () => ({ CONVEYOR_ACTOR: 'mallory' }),
  },
  'a missing reason': { typed: () => ['pause', `${shop.name}/1`], exit: 2, error: 'missing-reason' },
  'a missing artifact': { typed: () => ['release', fresh.name], exit: 2, error: 'missing-artifact' },
  'an artifact that the pipeline does not take': {
    typed: () => ['release', shop.name, '-a', 'other=1'],
    exit: 2,
    error: 'unknown-artifact',
  },
  'an unknown command': { typed: () => ['relase', shop.name], exit: 2, error: 'usage' },
  'a file that is not there': { typed: () => ['apply', 'nowhere.yaml'], exit: 2, error: 'file-unreadable' },
  'a configuration that is wrong': {
    typed: () => ['list', 'pipelines'],
    exit: 2,
    error: 'config-invalid',
    env: () => ({ CONVEYOR_CONFIG: stack.file('wrong.yaml', 'extensions: [{ name: twine }]') }),
  },
  'a server that is not there': {
    typed: () => ['list', 'pipelines'],
    exit: 1,
    error: 'temporal-unreachable',
    env: () => ({ TEMPORAL_ADDRESS: '127.0.0.1:1' }),
  },
  'a worker whose server is not there': {
    typed: () => ['worker'],
    exit: 1,
    error: 'temporal-unreachable',
    env: () => ({ TEMPORAL_ADDRESS: '127.0.0.1:1' }),
  },
  'a taken port of the simulator': { typed: () => ['simulator', '--port', takenPort()], exit: 1, error: 'port-in-use' },
  'a taken port of the server': { typed: () => ['server', '--port', takenPort()], exit: 1, error: 'port-in-use' },
  'a taken port of the stack': {
    typed: () => ['dev'],
    exit: 1,
    error: 'port-in-use',
    env: () => ({ CONVEYOR_SIMULATOR_URL: `http://127.0.0.1:${takenPort()}` }),
  },
};

test.each(Object.entries(ROWS))('%s is a clear error with a hint', async (_, { typed, exit, error, env }) => {
  expectError(await stack.conveyor(typed(), env?.()), exit, error);
});

test('with -o json an error is on stdout too, for programs', async () => {
  const { code, stdout } = await stack.conveyor(['status', `${shop.name}/99`, '-o', 'json']);
  expect({ code, ...(JSON.parse(stdout) as object) }).toEqual({
    code: 4,
    error: { code: 'unknown-release', message: expect.stringContaining('/99'), hint: expect.any(String) },
  });
});

test('a wrong pipeline file is reported by line and column, and nothing of it is applied', async () => {
  const file = stack.file('wrong-pipeline.yaml', `pipeline: wrong\nowners: [user:alice]\nactoins: {}\n`);
  const { code, stdout, stderr } = await stack.conveyor(['apply', shop.file, file]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`${file}:3:1`);
  expectError(await stack.conveyor(['status', 'wrong']), 4, 'unknown-pipeline');
});

test('a pipeline does not begin where no worker polls, and begins once the right task queue is named', async () => {
  const file = stack.file('idle.yaml', { ...unserved(shop.jobs), pipeline: `${shop.name}-idle` });
  expectError(await stack.conveyor(['apply', file, '--task-queue', `nobody-${shop.name}`]), 1, 'no-worker');
  expect(await stack.conveyor(['apply', file])).toMatchObject({ code: 0 });
});

const unserved = (jobs: readonly string[]) => ({
  owners: ['user:alice'],
  artifacts: { executable: { finder: 'manual' } },
  actions: { deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine', config: { jobs } } } },
});

test('a config that its push type refuses is not applied, and the refusal names the field', async () => {
  const name = `${shop.name}-refused`;
  const refused = await stack.conveyor([
    'apply',
    stack.file('refused.yaml', { ...unserved(['nope']), pipeline: name }),
  ]);
  expectError(refused, 2, 'config-rejected');
  expect(refused.stderr).toContain('twine refuses the config of deploy: config.jobs[0]: no job nope');
  expectError(await stack.conveyor(['status', name]), 4, 'unknown-pipeline');
});

test('--timeout ends the watching with exit code 5; the release continues', async () => {
  const { code, stderr } = await stack.conveyor(['watch', `${shop.name}/1`, '--timeout', '500ms']);
  expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining(`${shop.name}/1 continues`) });
});

test('Ctrl-C ends the watching with exit code 130; the release continues', async () => {
  const watching = stack.start(['watch', `${shop.name}/1`]);
  await watching.said(/phase first/);
  watching.kill('SIGINT');
  const { code, stderr } = await watching.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringContaining(`${shop.name}/1 continues`) });
});
