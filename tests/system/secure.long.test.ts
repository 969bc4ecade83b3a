import { Connection, type Client } from '@temporalio/client';
import type { PipelineStatus, ReleaseStatus } from '../../domain/views';
import { ask, startFront, type Front } from './front';
import { CLIENT, Guard } from './guard';
import { secured } from './secured';
import { given, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

const TEMPORAL = process.env['CONVEYOR_TEST_TEMPORAL'] ?? '';

let guard: Guard;
let stack: Stack;
let front: Front;
let shop: Service;
/** A client without a key that nevertheless reached Temporal. */
let stranger: Client;
beforeAll(async () => {
  guard = await Guard.before(TEMPORAL);
  stack = await Stack.open(secured({}, { ...CLIENT, TEMPORAL_ADDRESS: guard.address }));
  stranger = stack.temporal;
  front = await startFront(stack);
  shop = await given(stack, { pipeline: { owners: ['user:alice', 'service:ci'] } });
});
afterAll(async () => {
  await stack.close();
  guard.close();
});

const release = (version: number) =>
  ask<{ id: string }>(front, 'POST', `/v1/pipelines/${shop.name}/releases`, {
    artifacts: [{ name: 'executable', version: shop.version(version) }],
  });
const statusOf = async (n: number) => (await ask<ReleaseStatus>(front, 'GET', `/v1/releases/${shop.name}/${n}`)).body;

test('as docs/guides/secure.md sets it up, a release goes through server and worker to the fleet', async () => {
  expect(await release(2)).toMatchObject({ status: 202 });
  await eventually('it has succeeded', async () => (await statusOf(1)).state === 'succeeded');
  expect(await shop.runs()).toEqual({ 2: 12 });
});

test('without a certificate no client reaches Temporal', async () => {
  const open = (tls: object) => Connection.connect({ address: guard.address, tls, connectTimeout: 2_000 });
  await expect(open({})).rejects.toThrow();
  const env = Object.fromEntries(Object.entries(stack.env).filter(([name]) => !Object.hasOwn(CLIENT, name)));
  const { code, stderr } = await stack.processes.node('bin/conveyor.js', ['status', shop.name], env).ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('temporal-unreachable') });
});

test.each([
  ['without TLS', 'that has it', 'speaks only TLS, and this client does not use it', 'set TEMPORAL_TLS=true'],
  ['with TLS', 'that has none', 'speaks no TLS, and this client uses it', 'set TEMPORAL_TLS=false'],
])(
  'a command, a worker and doctor %s name the cause and the setting at a Temporal server %s',
  async (how, _what, found, remedy) => {
    const plain = Object.fromEntries(Object.entries(stack.env).filter(([name]) => !Object.hasOwn(CLIENT, name)));
    const env = how === 'with TLS' ? { ...stack.env, TEMPORAL_ADDRESS: TEMPORAL } : plain;
    const asks = (...args: string[]) => stack.processes.node('bin/conveyor.js', args, env).ended;
    const [status, worker, doctor] = await Promise.all([asks('status', shop.name), asks('worker'), asks('doctor')]);
    for (const { code, stderr } of [status, worker])
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(`temporal-unreachable: .*${found}[^]*hint: .*${remedy}`),
      ]);
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(`✖ Temporal .*${found}[^]*→ .*${remedy}`)]);
    expect(doctor.stdout).not.toMatch(/frozen|lsof/);
  },
);

test('who gets there without the keys deploys nothing, stops nothing, and takes nothing away, whatever name is given', async () => {
  const pipeline = stranger.workflow.getHandle(`pipeline/${shop.name}`);
  const trigger = { kind: 'manual', actor: 'user:alice', key: null };
  const refused = { name: 'WorkflowUpdateFailedError' };
  const executable = { name: 'executable', kind: 'executable', version: shop.version(3), metadata: {} };
  await expect(
    pipeline.executeUpdate('start-release', { args: [{ artifacts: [executable], trigger }] }),
  ).rejects.toMatchObject(refused);
  await expect(
    pipeline.executeUpdate('freeze', { args: [{ actor: 'user:alice', reason: 'x' }] }),
  ).rejects.toMatchObject(refused);
  await pipeline.signal('freeze', { actor: 'user:alice', reason: 'x' });
  const { body } = await ask<PipelineStatus>(front, 'GET', `/v1/pipelines/${shop.name}`);
  expect(body).toMatchObject({ frozen: null });
  expect(body.releases.map(({ number }) => number)).toEqual([1]);
});

test('a worker or a server without the keys does not start, and says which variable is missing', async () => {
  for (const program of ['dist/workers/main.js', 'dist/server/main.js']) {
    const without = stack.processes.node(program, ['--port', '0'], { ...stack.env, CONVEYOR_SEAL_KEYS: '' });
    const { code, stderr } = await without.ended;
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('CONVEYOR_SEAL_KEYS, which is not set'),
    });
  }
});

test('another worker takes over what a worker that was killed had sealed', async () => {
  expect(await release(4)).toMatchObject({ status: 202 });
  await eventually('it deploys', async () => (await statusOf(2)).actions.some(({ deploy }) => deploy !== null));
  await stack.crashWorker();
  await eventually('it has succeeded', async () => (await statusOf(2)).state === 'succeeded');
  expect(await shop.runs()).toEqual({ 4: 12 });
});
