import { createHttpClient } from '../../client/http/client';
import type { HistoryRow } from '../../domain/views';
import { startFront, TOKEN, type Front } from './front';
import type { Ended } from './process';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
let front: Front;
let name: string;
let file: string;
beforeAll(async () => {
  stack = await Stack.open();
  front = await startFront(stack);
  const shop = await given(stack);
  name = `${shop.name}-b`;
  const { deploy } = shop.source.actions;
  if (deploy === undefined) throw new Error('the service has no deploy');
  const test = { type: 'custom-script', with: { command: ['echo', 'all is well'] } };
  file = stack.file(`${name}.yaml`, {
    ...{ ...shop.source, pipeline: name, owners: ['service:ci'] },
    actions: { test, deploy: { ...deploy, needs: ['test'] } },
  });
});
afterAll(() => stack.close());

/** A user who reaches the server but not Temporal, with no invented actor. */
const somebody = { TEMPORAL_ADDRESS: '127.0.0.1:1', CONVEYOR_ACTOR: '' };
const types = (line: string): Promise<Ended> => stack.conveyor(line.split(' '), somebody);

async function works(line: string): Promise<string> {
  const { code, stdout, stderr } = await types(line);
  expect([line, code, stderr]).toEqual([line, 0, expect.any(String)]);
  return stdout;
}

const seen = async <T>(line: string): Promise<T> => JSON.parse(await works(`${line} -o json`)) as T;

const artifact = (n: number): string => `--artifact executable=${name.replace(/-b$/, '')}:${n}`;

test('a signed-in user applies, releases, reads and reverts through the server, without Temporal', async () => {
  const piped = `printf %s "$GIVEN" | node bin/conveyor.js login ${front.url} --token-stdin`;
  const login = await stack.processes.start('bash', ['-c', piped], { ...stack.env, ...somebody, GIVEN: TOKEN }).ended;
  expect([login.code, login.stdout]).toEqual([0, expect.stringContaining(`service:ci at ${front.url}`)]);
  expect(await works('whoami')).toContain('service:ci');

  expect(await works(`apply ${file}`)).toContain(`${name} created`);
  expect(await works(`apply ${file}`)).toContain(`${name} unchanged`);
  await works(`release ${name} ${artifact(2)} --wait --timeout 100s`);
  expect(await works(`logs ${name}/1/test`)).toContain('all is well');
  await works(`release ${name} ${artifact(3)} --idempotency-key ci-7`);
  expect(await works(`release ${name} ${artifact(3)} --idempotency-key ci-7`)).toContain('was started before');
  await works(`watch ${name}/2 --timeout 100s`);
  expect(await works(`revert ${name}/2 --reason it-was-meant-for-monday`)).toContain(`${name}/3`);
  await works(`watch ${name}/3 --timeout 100s`);

  const rows = await seen<HistoryRow[]>(`history ${name}`);
  expect(rows.map(({ number, state, trigger }) => [number, state, trigger.kind, trigger.actor])).toEqual([
    [3, 'succeeded', 'rollback', 'service:ci'],
    [2, 'succeeded', 'manual', 'service:ci'],
    [1, 'succeeded', 'manual', 'service:ci'],
  ]);
});

test('the server shows the same as Temporal itself', async () => {
  const http = createHttpClient({ url: front.url, token: TOKEN });
  const query = { pipeline: name, limit: 10 };
  for (const ask of [
    (client: typeof http) => client.spec(name),
    (client: typeof http) => client.status(`${name}/1`),
    (client: typeof http) => client.status(`${name}/1/deploy`),
    (client: typeof http) => client.history(name),
    (client: typeof http) => client.logs(`${name}/1/test`),
    (client: typeof http) => client.listPipelines(query),
    (client: typeof http) => client.listReleases(query),
    (client: typeof http) => client.listDeploys(query),
    async (client: typeof http) => ({ ...(await client.exportPipeline(name)), exportedAt: '' }),
  ])
    expect(await ask(http)).toEqual(await ask(stack.client));
  for (const id of ['nobody', 'nobody/1', `${name}/99`, `${name}/1/nothing`]) {
    const [through, directly] = await Promise.all([http, stack.client].map((one) => errorOf(one.status(id))));
    expect(through).toEqual(directly);
  }
});

test('lists know a pipeline, a release and a deploy by their state, also one that a revert has held', async () => {
  const listed = async (kind: 'pipelines' | 'releases' | 'deploys', state: string): Promise<readonly string[]> =>
    (await seen<{ id: string }[]>(`list ${kind} -p ${name} --state ${state}`)).map(({ id }) => id);
  expect(await listed('releases', 'succeeded')).toEqual([`${name}/3`, `${name}/2`, `${name}/1`]);
  expect(await listed('releases', 'failed')).toEqual([]);
  expect(await listed('deploys', 'ended')).toContain(`${name}/1/deploy`);
  expect(await listed('deploys', 'baking')).toEqual([]);
  for (const [verb, now, before] of [
    ['unhold', 'active', 'held'],
    ['hold', 'held', 'active'],
  ] as const) {
    await works(`${verb} ${name} --reason r`);
    await eventually(`visibility knows it is ${now}`, async () => (await listed('pipelines', now)).includes(name));
    expect(await listed('pipelines', before)).toEqual([]);
  }
});

test('commands go to Temporal itself only with break glass, and say so', async () => {
  const address = ['--address', stack.temporalAddress];
  const refused = await stack.conveyor(['status', name, ...address], somebody);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--break-glass')]);
  const broken = await stack.conveyor(['status', name, ...address, '--break-glass', 'the server is slow'], somebody);
  expect([broken.code, broken.stderr]).toEqual([
    0,
    expect.stringContaining('bypassing the server: the server is slow'),
  ]);
});

test('doctor says through which door commands go, and a token that is wrong or a server that is gone is named', async () => {
  const door = async (more: Record<string, string> = {}) => {
    const { stdout } = await stack.conveyor(['doctor', '-o', 'json'], { ...somebody, ...more });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; found: string }[] };
    return checks.find((check) => check.name === 'door');
  };
  expect(await door()).toMatchObject({ state: 'ok', found: expect.stringContaining('as service:ci') as string });
  expect(await door({ CONVEYOR_TOKEN: 'guessed' })).toMatchObject({ state: 'missing' });
  const guessed = await stack.conveyor(['hold', name, '--reason', 'r'], { ...somebody, CONVEYOR_TOKEN: 'guessed' });
  expect([guessed.code, guessed.stderr]).toEqual([4, expect.stringContaining('unauthorized')]);
  const gone = await stack.conveyor(['status', name], { ...somebody, CONVEYOR_SERVER: 'http://127.0.0.1:1' });
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('server-unreachable')]);
});

test('commands go to Temporal again after logout', async () => {
  await works('logout');
  const { code, stderr } = await types(`status ${name}`);
  expect([code, stderr]).toEqual([1, expect.stringContaining('temporal-unreachable')]);
});

const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'no error',
    ({ code, message, hint, exit }: { code: string; message: string; hint: string; exit: number }) => ({
      ...{ code, message, hint, exit },
    }),
  );
