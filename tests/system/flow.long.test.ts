import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../cli/stack/ports';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { kvArtifact, Submissions } from './flowSubmissions';
import { ask, releasesOf, startFront, type Front } from './front';
import { Processes, type Running } from './process';
import { startTemporal } from './server';
import { given, type Given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

const SEED = Number(process.env['CONVEYOR_SEED'] ?? randomBytes(3).readUIntBE(0, 3));
const RELEASES = 6;

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-flow-'));
let [port, temporal, stack, front]: [number, Running?, Stack?, Front?] = [0];

const startServer = () => startTemporal(processes, { home, port, data: join(home, 'temporal.db') });

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  temporal = await startServer();
  stack = await Stack.open({ temporal: `127.0.0.1:${port}`, settings: { reconcileInterval: '5s' } });
  front = await startFront(stack);
});
afterAll(async () => {
  await stack?.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** kill −9, and a new process in its place. */
const VICTIMS = {
  worker: () => stack!.crashWorker(),
  'front end': async () => {
    front!.process.kill('SIGKILL');
    await front!.process.ended;
    front = await startFront(stack!, Number(new URL(front!.url).port));
  },
  'Temporal server': async () => {
    temporal!.kill('SIGKILL');
    await temporal!.ended;
    temporal = await startServer();
  },
};
type Actions = PipelineSource['actions'];
type Victim = keyof typeof VICTIMS;

const shopWith = (supersede: 'waiting' | 'never' | 'running'): Promise<Service> => {
  const name = `flow-${supersede}-${randomBytes(3).toString('hex')}`;
  const deploy: Actions[string] = {
    ...{ type: 'deploy', inputs: ['executable'], needs: ['test'] },
    with: {
      pushType: 'twine',
      config: { jobs: [`${name}-x`, `${name}-y`] },
      phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '1s' }],
      completion: { bake: '0s' },
    },
  };
  const actions: Actions = { test: { type: 'integr-test', inputs: ['executable'] }, deploy };
  const pipeline: Given['pipeline'] = {
    ...{ owners: [OWNER, 'service:ci'], releases: { supersede, maxActive: 3 }, actions },
  };
  return given(stack!, { name, pipeline });
};

/** One submission, half of them through the front end; after a lost answer it is repeated with the same key. */
const submit = async (shop: Service, n: number): Promise<number> => {
  const [artifact, key] = [kvArtifact(shop.version(n)), `${shop.name}-${n}`];
  const trigger = { kind: 'api', actor: OWNER, key } as const;
  if (n % 2 === 0) return (await stack!.client.release(shop.name, [artifact], trigger)).number;
  const body = { artifacts: [artifact], idempotencyKey: key };
  const answer = await ask<{ number: number }>(front!, 'POST', `/v1/pipelines/${shop.name}/releases`, body);
  if (answer.status >= 300) throw new Error(`the front end answered ${answer.status}`);
  return answer.body.number;
};

test(`no release is lost and none is doubled, whatever is killed while releases flow (seed ${SEED})`, async () => {
  process.stdout.write(`seed ${SEED}\n`);
  const shops = await Promise.all((['waiting', 'never', 'running'] as const).map(shopWith));
  const submissions = new Submissions(SEED, submit);
  const flowing = Promise.all(shops.map((shop) => submissions.flow(shop, RELEASES)));
  for (const victim of submissions.shuffled<Victim>(['worker', 'worker', 'front end', 'Temporal server', 'worker'])) {
    await delay(submissions.between(800, 3_000));
    process.stdout.write(`kills the ${victim}\n`);
    await VICTIMS[victim]();
  }
  const numbers = await flowing;
  for (const [index, shop] of shops.entries()) {
    await eventually(
      `nothing of ${shop.name} is under way`,
      async () => {
        const status = await stack!.client.status(shop.name);
        return status.kind === 'pipeline' && status.active.length === 0;
      },
      90_000,
    );
    await checkBooks(shop, numbers[index] ?? []);
    await checkEffects(shop);
  }
  const query = `ExecutionStatus = 'Running' AND WorkflowType != 'pipeline' AND WorkflowType != 'artifactSweep'`;
  await eventually(
    'nothing runs but pipelines, and what asks finders',
    async () => (await stack!.temporal.workflow.count(query)).count === 0,
  );
});

/** Each submission is one release, under the number in its answer, and each release ended in an expected state. */
async function checkBooks(shop: Service, numbers: readonly number[]): Promise<void> {
  const rows = await releasesOf(stack!, shop.name);
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: RELEASES }, (_, n) => n + 1));
  expect([...numbers].sort((a, b) => a - b)).toEqual(rows.map(({ number }) => number));
  const keys = rows.map(({ trigger }) => trigger.key);
  expect(new Set(keys).size).toBe(RELEASES);
  for (const [at, number] of numbers.entries())
    expect(rows[number - 1]?.artifacts[0]?.version).toBe(shop.version(at + 2));
  const ends = rows.map(({ state, cause }) => (cause === null ? state : cause));
  expect(ends.at(-1)).toBe('succeeded');
  expect(new Set(ends)).toEqual(
    shop.name.includes('never')
      ? new Set(['succeeded'])
      : new Set(ends.includes('superseded') ? ['succeeded', 'superseded'] : ['succeeded']),
  );
}

/** Every effect happened once: one test per release, one update per phase, and the fleet runs the last version. */
async function checkEffects(shop: Service): Promise<void> {
  const effects = await shop.effects();
  expect(new Set(effects).size).toBe(effects.length);
  const tests = effects.filter((effect) => effect.startsWith('integr-test startRun'));
  expect(tests).toHaveLength(RELEASES);
  const rows = await stack!.client.history(shop.name);
  const whole = rows.filter(({ state }) => state === 'succeeded').length;
  const begun = rows.filter(({ deploys }) => deploys.length > 0).length;
  const updates = effects.filter((effect) => effect.startsWith('twine executeUpdates')).length;
  expect(updates).toBeGreaterThanOrEqual(2 * whole);
  expect(updates).toBeLessThanOrEqual(2 * begun);
  expect(await shop.runs()).toEqual({ [RELEASES + 1]: 12 });
}
