import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { releasesOf, SECRET, SECRETS, startFront, subscribed, type Front } from './front';
import { cleanEnv, ROOT, type Ended, type Env } from './process';
import { given, type Service } from './service';
import { OWNER, Stack } from './stack';

/** examples/ci as users copy it, against the real server. */

const SCRIPT = join(ROOT, 'examples/ci/conveyor-release.sh');

let stack: Stack;
let front: Front;
beforeAll(async () => {
  stack = await Stack.open();
  front = await startFront(stack);
});
afterAll(() => stack.close());

const environment = (over: Env = {}): Env => ({
  ...cleanEnv(stack.home),
  ...SECRETS,
  CONVEYOR_SERVER_URL: `${front.url}/`,
  ...over,
});

const script = (args: readonly string[], env: Env = {}): Promise<Ended> =>
  stack.processes.start('sh', [SCRIPT, ...args], environment(env)).ended;

async function shopOf(pipeline: Partial<PipelineSource> = {}): Promise<Service> {
  return given(stack, {
    deploy: { healthChecks: [] },
    pipeline: { owners: [OWNER, 'service:ci'], ...pipeline },
  });
}

describe('conveyor-release.sh release', () => {
  test('starts a release with metadata, waits for it, and prints its id; the same key again is the same release', async () => {
    const shop = await shopOf();
    const args = [
      'release',
      shop.name,
      '-a',
      `executable=${shop.version(2)},branch=main,note=a "quoted" \\ one`,
      '-k',
      'ci:1',
    ];
    const first = await script([...args, '--wait', '--timeout', '60']);
    expect(first).toMatchObject({ code: 0, stdout: `${shop.name}/1\n`, stderr: `${shop.name}/1 succeeded\n` });
    const second = await script(args);
    expect(second).toMatchObject({ code: 0, stdout: `${shop.name}/1\n`, stderr: '' });
    const [release, ...others] = await releasesOf(stack, shop.name);
    expect(others).toEqual([]);
    expect(release?.trigger).toEqual({ kind: 'api', actor: 'service:ci', key: 'ci:1' });
    expect(release?.artifacts[0]).toMatchObject({ metadata: { branch: 'main', note: 'a "quoted" \\ one' } });
  });

  test('ends with 3 when the release does not succeed, and with 5 when it takes too long', async () => {
    const shop = await shopOf();
    await stack.client.command(shop.name, 'hold', { actor: OWNER, reason: 'not now' });
    const late = await script([
      'release',
      shop.name,
      '-a',
      `executable=${shop.version(2)}`,
      '--wait',
      '--timeout',
      '1',
    ]);
    expect(late).toMatchObject({ code: 5, stdout: `${shop.name}/1\n`, stderr: expect.stringContaining('continues (') });
    await stack.client.command(`${shop.name}/1`, 'cancel', { actor: OWNER, reason: 'not today' });
    await shop.ended(1);
    const waiting = script(['release', shop.name, '-a', `executable=${shop.version(3)}`, '--wait']);
    const running = `${shop.name}/2`;
    while (!(await releasesOf(stack, shop.name)).some(({ id }) => id === running))
      await new Promise((go) => setTimeout(go, 100));
    await stack.client.command(running, 'cancel', { actor: OWNER, reason: 'not today either' });
    expect(await waiting).toMatchObject({ code: 3, stderr: expect.stringContaining(`${running} cancelled`) });
  });

  test('says why a release has failed, and which action', async () => {
    const shop = await given(stack, { pipeline: { owners: [OWNER, 'service:ci'] } });
    await shop.behaves(2, { errorRatio: 0.5 });
    const args = ['release', shop.name, '-a', `executable=${shop.version(2)}`, '--wait', '--timeout', '60'];
    const { code, stderr } = await script(args);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/\/1 failed: deploy: reverted automatically: /),
    });
  });

  test('is over with its --timeout, whatever the server does', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const from = Date.now();
    const env = { CONVEYOR_SERVER_URL: `http://127.0.0.1:${port}` };
    expect(await script(['release', 'shop', '-a', 'executable=1', '--timeout', '2'], env)).toMatchObject({ code: 5 });
    expect(Date.now() - from).toBeLessThan(10_000);
    silent.closeAllConnections();
    silent.close();
  });

  test.each<[what: string, args: (name: string) => string[], env: Env, code: number, says: RegExp]>([
    [
      'no token',
      (name) => ['release', name, '-a', 'executable=1'],
      { CONVEYOR_CI_TOKEN: '' },
      2,
      /CONVEYOR_CI_TOKEN is not set/,
    ],
    [
      'a wrong token',
      (name) => ['release', name, '-a', 'executable=1'],
      { CONVEYOR_CI_TOKEN: 'guess' },
      4,
      /401 unauthorized/,
    ],
    ['a pipeline that is not there', () => ['release', 'nobody', '-a', 'executable=1'], {}, 4, /404 unknown-pipeline/],
    ['an artifact that it does not take', (name) => ['release', name, '-a', 'model=1'], {}, 2, /422 unknown-artifact/],
    ['an artifact that is none', (name) => ['release', name, '-a', 'model'], {}, 2, /model is not NAME=VERSION/],
    ['an unknown option', (name) => ['release', name, '--force'], {}, 2, /--force is not an option[^]*usage: /],
    ['nothing', () => [], {}, 2, /usage: conveyor-release.sh release/],
    [
      'a server that is not there',
      (name) => ['release', name, '-a', 'executable=1', '--timeout', '0'],
      { CONVEYOR_SERVER_URL: 'http://127.0.0.1:9' },
      5,
      /in time/,
    ],
  ])('with %s it ends with a code of its own and says why', async (_what, args, env, code, says) => {
    const shop = await shopOf();
    const ended = await script(args(shop.name), env);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(says);
  });
});

describe('conveyor-release.sh publish', () => {
  test.each([
    ['as it stands', SECRET],
    ['as whsec_', `whsec_${Buffer.from(SECRET).toString('base64')}`],
  ])('reaches the pipelines that subscribe, once for a key, with the secret %s', async (how, secret) => {
    const target = `//shop:${how.replaceAll(' ', '-')}`;
    const shop = await shopOf({ artifacts: { executable: { finder: 'latest-build', with: { target } } } });
    await subscribed(stack, 'latest-build', shop.name);
    const args = [
      'publish',
      'latest-build',
      '-w',
      `target=${target}`,
      '-a',
      `executable=${shop.version(2)}`,
      '-k',
      `${shop.name}-1`,
    ];
    const first = await script([...args, '--wait'], { CONVEYOR_WEBHOOK_SECRET: secret });
    expect(first).toMatchObject({ code: 0, stdout: `${shop.name}/1\n` });
    expect(await script(args, { CONVEYOR_WEBHOOK_SECRET: secret })).toMatchObject({
      code: 0,
      stdout: `${shop.name}/1\n`,
    });
    expect(await releasesOf(stack, shop.name)).toHaveLength(1);
    expect(await shop.runs()).toEqual({ 2: 12 });
  });

  test('succeeds if no pipeline subscribes, and is refused with another secret', async () => {
    const args = ['publish', 'latest-build', '-w', 'target=//nobody', '-a', 'executable=1'];
    expect(await script(args)).toMatchObject({ code: 0, stdout: '', stderr: 'no pipeline is concerned\n' });
    expect(await script(args, { CONVEYOR_WEBHOOK_SECRET: 'guess' })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('401 bad-signature'),
    });
  });
});

test('the workflow for GitHub Actions releases the commit that it runs for, and waits', async () => {
  interface Workflow {
    readonly jobs: {
      readonly release: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] };
    };
  }
  const workflow = parse(readFileSync(join(ROOT, 'examples/ci/github-actions.yaml'), 'utf8')) as Workflow;
  const run = workflow.jobs.release.steps.find(({ name }) => name === 'Release')?.run ?? '';
  const shop = await shopOf({
    artifacts: { source: { finder: 'manual' } },
    actions: {
      build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: { target: '//shop' } },
    },
  });
  const github = { GITHUB_SHA: '4711', GITHUB_REF_NAME: 'main', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '17' };
  const adapted = run.replace('./conveyor-release.sh', SCRIPT).replace(' kvstore ', ` ${shop.name} `);
  const ended = await stack.processes.start('sh', ['-c', adapted], environment(github)).ended;
  expect(ended).toMatchObject({ code: 0, stdout: `${shop.name}/1\n` });
  const [release] = await releasesOf(stack, shop.name);
  expect(release).toMatchObject({ state: 'succeeded', trigger: { key: 'github:acme/shop/17' } });
});
